import importlib
import json
import sys

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline

from benchmarks.engine import data_digest, fingerprint
from benchmarks.engine import fingerprint as module_function
from benchmarks.engine.fingerprint import code_digest
from lann import LANNClassifier

module = sys.modules[module_function.__module__]
MEASURED_BY = "benchmarks.common.measure"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package `toy` on disk: `toy.top` imports `toy.base`, and `toy.other` stands by itself."""

    def write(**texts):
        for name, text in texts.items():
            (tmp_path / "toy" / f"{name}.py").write_text(text)
        code_digest.cache_clear()
        importlib.invalidate_caches()
        return code_digest("toy.top")

    (tmp_path / "toy").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(module, "ROOTS", ("toy",))
    first = write(
        __init__="",
        top="def f():\n    from toy.base import g\n    return g()\n",
        base="def g():\n    return 1\n",
        other="x = 1\n",
    )
    yield first, write
    code_digest.cache_clear()
    for name in [name for name in sys.modules if name.split(".")[0] == "toy"]:
        del sys.modules[name]


def test_imported_code_counts(package):
    first, write = package
    assert first
    assert write(base="def g():\n    return 2\n") != first


def test_docstrings_comments_and_other_modules_do_not_count(package):
    first, write = package
    assert write(base='def g():\n    """Return one."""\n    # why\n    return (1)\n') == first
    assert write(other="x = 2\n") == first


def test_code_of_this_repository_counts_and_that_of_other_packages_does_not():
    assert code_digest(MEASURED_BY) != code_digest("benchmarks.common.scores") != ""
    assert code_digest("sklearn.svm._classes") == ""


def test_everything_that_a_measurement_depends_on_is_in_its_fingerprint(monkeypatch):
    def pipeline(n_neighbors=5, max_iter=50):
        return make_pipeline(
            NeighborhoodComponentsAnalysis(max_iter=max_iter, callback=print),
            KNeighborsClassifier(n_neighbors),
        )

    usual = fingerprint(MEASURED_BY, pipeline(), data="x", n_jobs=1)
    assert usual == fingerprint(MEASURED_BY, pipeline(), data="x", n_jobs=1)
    assert json.loads(json.dumps(usual)) == usual
    for other in (
        fingerprint(MEASURED_BY, pipeline(n_neighbors=7), data="x", n_jobs=1),
        fingerprint(MEASURED_BY, pipeline(max_iter=51), data="x", n_jobs=1),
        fingerprint(MEASURED_BY, pipeline(), data="y", n_jobs=1),
        fingerprint(MEASURED_BY, pipeline(), data="x", n_jobs=2),
        fingerprint("benchmarks.common.scores", pipeline(), data="x", n_jobs=1),
    ):
        assert other != usual
    monkeypatch.setattr(module, "version", lambda name: "0.0")
    assert fingerprint(MEASURED_BY, pipeline(), data="x", n_jobs=1) != usual


def test_the_code_of_an_estimator_counts(monkeypatch):
    before = fingerprint(MEASURED_BY, LANNClassifier())
    monkeypatch.setattr(module, "code_digest", lambda name: "new" if name == "lann.classifier" else "")
    assert fingerprint(MEASURED_BY, LANNClassifier())["estimators"] != before["estimators"]


def test_the_digest_of_data_depends_on_values_labels_and_shape():
    X, y = np.arange(12.0).reshape(4, 3), np.array([0, 1, 0, 1])
    assert data_digest(X, y) == data_digest(X.copy(), y.copy())
    others = [data_digest(X, 1 - y), data_digest(X.reshape(3, 4), y), data_digest(X + 1, y)]
    assert len({data_digest(X, y), *others}) == 4
