"""Measurements on few rows, in the process of the test."""

import json

import numpy as np
import pytest

from benchmarks.scale import planted, process, wide_process
from benchmarks.scale.child import run_child
from benchmarks.scale.covertype import read_covertype
from benchmarks.scale.methods import METHODS
from benchmarks.scale.methods.lann import recall


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(planted, "BLOCK", 400)


def task_of(name, **more):
    method = METHODS[name]
    return {"kind": "rows", "method": name, "module": method.module, "seed": 0, "n_jobs": 1, **more}


@pytest.mark.parametrize("name", ["knn-brute", "knn-tree", "faiss-flat", "faiss-hnsw"])
def test_all_ways_to_search_find_the_same_neighbors(name):
    found = process.run_rows(task_of(name, n_rows=400, n_features=12, n_queries=100))
    assert (found["n_rows"], found["n_features"], found["n_queries"]) == (400, 12, 100)
    assert found["fit_seconds"] > 0
    assert found["rows_per_second"] == pytest.approx(100 / found["predict_seconds"])
    assert found["peak_gb"] >= found["above_gb"]
    exact = process.run_rows(task_of("knn-brute", n_rows=400, n_features=12, n_queries=100))
    assert found["accuracy"] == pytest.approx(exact["accuracy"], abs=0.03)
    if name == "faiss-hnsw":
        assert found["list_seconds"] > 0
        assert found["recall"] > 0.98


def test_lann_explains_and_has_a_recall():
    found = process.run_rows(task_of("lann", n_rows=400, n_features=12, n_queries=50))
    assert found["recall"] == 1.0
    assert found["n_neighbors"] > 0
    assert found["explain_seconds"] > 0
    json.dumps(found)


def test_recall_is_the_share_that_was_found():
    assert recall(np.array([[1, 2, 3, 4], [5, 6, 7, 8]]), np.array([[4, 3, 2, 9], [8, 7, 6, 5]])) == 7 / 8


def test_covertype_is_split_and_scored(covertype_folder):
    X, y, X_test, y_test = read_covertype(0)
    assert (len(X), len(X_test)) == (400, 100)
    assert np.mean(y) == pytest.approx(np.mean(y_test), abs=0.01)
    assert len(read_covertype(0, 200)[0]) == 160
    scaled = process.run_covertype(task_of("knn-5-scaled", most_rows=None))
    assert scaled["accuracy"] > 0.8
    found = process.run_covertype(task_of("knn-5", most_rows=None))
    assert found["accuracy"] > 0.8
    assert 0 < found["log_loss_floored"] < found["log_loss"] + 1
    assert found["n_queries"] == 100


def test_wide_rows_are_fitted_and_predicted():
    found = wide_process.run_wide(task_of("knn-5", n_rows=40, n_features=30))
    assert found["accuracy"] > 0.6
    assert "explain_seconds" not in found


def test_slow_methods_predict_fewer_rows():
    tree = METHODS["knn-tree"]
    assert tree.n_queries(10_000, 10_000) == 10_000
    assert tree.n_queries(1_000_000, 10_000) == 200
    assert METHODS["lann"].n_queries(1_000_000, 10_000) == 10_000


@pytest.fixture
def child(tmp_path, monkeypatch):
    """Write a module that a child process can run, and run it."""

    def run(code, minutes=1.0):
        (tmp_path / "scale_child.py").write_text(code)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        return run_child("scale_child", {"n_jobs": 3, "a": [1, 2]}, minutes)

    return run


def test_a_child_gets_its_task_and_its_threads(child):
    code = (
        "import json, os, sys\n"
        "print('noise')\n"
        "print(json.dumps([json.loads(sys.argv[1]), os.environ['OMP_NUM_THREADS']]))\n"
    )
    assert child(code) == [{"n_jobs": 3, "a": [1, 2]}, "3"]


@pytest.mark.parametrize(
    ("code", "minutes", "message"),
    [
        ("raise MemoryError('too large')", 1.0, "the process failed: MemoryError: too large"),
        ("import os\nos.kill(os.getpid(), 9)", 1.0, "the process failed: ended by signal 9"),
        ("import time\ntime.sleep(60)", 0.005, "ended after 0.005 minutes"),
    ],
)
def test_a_child_that_fails_is_an_error(child, code, minutes, message):
    with pytest.raises(RuntimeError, match=message):
        child(code, minutes)
