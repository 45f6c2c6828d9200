import json

import numpy as np
import pytest

from benchmarks.common.datasets import load_set
from benchmarks.common.protocols import PROTOCOLS, scale
from benchmarks.originals import benchmark as module
from benchmarks.originals.benchmark import write_splits
from benchmarks.originals.processes import Side


@pytest.fixture
def bench(command, monkeypatch, tmp_path):
    """Run the comparison with processes that answer at once; `calls` has what was measured."""
    calls = []

    def measure(side, method, split):
        calls.append((method, split))
        if method in bench.failing:
            raise RuntimeError("over 600 s")
        return {"accuracy": 0.9, "fit_seconds": 0.5}

    monkeypatch.setattr(Side, "measure", measure)
    monkeypatch.setattr(module, "make_environment", lambda folder: calls.append("environment"))

    def bench(*arguments):
        calls.clear()
        return command(
            "originals", "--method", "lmnn", "--data", "iris", "--environment", tmp_path / "old", *arguments
        )

    bench.calls, bench.failing = calls, ()
    return bench


def test_ours_is_measured_right_after_each_original(bench, tmp_path):
    done = bench("--json", tmp_path / "o.json")
    assert done.code == 0, done.stderr
    assert bench.calls == [
        "environment",
        ("pylmnn", "iris-0-0"), ("lmnn", "iris-0-0"), ("pylmnn", "iris-0-1"), ("lmnn", "iris-0-1"),
        ("metric-learn-lmnn", "iris-0-0"), ("lmnn", "iris-0-0"),
        ("metric-learn-lmnn", "iris-0-1"), ("lmnn", "iris-0-1"),
    ]  # fmt: skip
    records = json.loads((tmp_path / "o.json").read_text())
    assert [r["ratio"] for r in records if r["kind"] == "comparison"] == [1.0, 1.0]
    assert max(len(line) for line in done.stdout.splitlines() if not line.startswith("Wrote")) <= 80


def test_only_originals_are_stored_and_reused_on_request(bench):
    bench("--splits", 1)
    bench("--splits", 1, "--keep")
    assert bench.calls == [("lmnn", "iris-0-0")] * 2
    bench("--splits", 1)
    assert len(bench.calls) == 5


def test_an_original_that_fails_is_not_tried_on_further_splits(bench):
    bench.failing = ("pylmnn",)
    done = bench()
    assert bench.calls.count(("pylmnn", "iris-0-0")) == 1
    assert ("pylmnn", "iris-0-1") not in bench.calls
    assert bench.calls.count(("lmnn", "iris-0-1")) == 2
    assert "pylmnn failed on iris: over 600 s" in done.stdout


def test_splits_are_those_of_the_papers_protocol(tmp_path):
    wine = load_set("wine")
    digests = write_splits(wine, tmp_path, 0, 2)
    assert list(digests) == ["wine-0-0", "wine-0-1"]
    split = PROTOCOLS["paper"].splits(wine.X, wine.y, 0)[1]
    with np.load(tmp_path / "wine-0-1.npz") as written:
        np.testing.assert_array_equal(written["X_test"], scale(wine.X, split)[1])
        np.testing.assert_array_equal(written["y_train"], wine.y[split[0]])


def test_ours_runs_in_a_process(tmp_path):
    """The side of the baselines needs no old environment."""
    write_splits(load_set("iris"), tmp_path, 0, 1)
    options = module.OriginalsOptions(method=("grlvq",), data=("iris",), environment=tmp_path / "old")
    command = module.Originals(options).ours.command
    measured = Side(command, tmp_path, 0, 1, 100.0).measure("grlvq", "iris-0-0")
    assert 0.8 < measured["accuracy"] <= 1
