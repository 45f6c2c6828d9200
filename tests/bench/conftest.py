"""Made-up results, and methods that count or fail, for the tests of `lann bench paper`."""

import pytest
from sklearn.neighbors import KNeighborsClassifier

from lann.bench import paper
from lann.bench.measure import Measurement
from lann.bench.methods import Method
from lann.bench.protocols import PROTOCOLS
from lann.bench.results import Results
from lann.bench.store import Store, digest_of


class CountingKNN(KNeighborsClassifier):
    """Counts its fits on what is not the warm-up, and can be told to fail or to be interrupted."""

    fits = 0
    raises = None

    def fit(self, X, y):
        if len(X) != 150:
            type(self).fits += 1
            if self.raises is not None and type(self).fits > 1:
                raise self.raises
        return super().fit(X, y)


@pytest.fixture
def counting():
    """A fresh class, as its counter is the class's."""
    return type("Counting", (CountingKNN,), {"__module__": __name__})


@pytest.fixture
def method_of():
    def make(estimator, name="counting", **parameters):
        return Method(name, name, lambda n_jobs, seed: estimator(**parameters), "A test.", "tests")

    return make


@pytest.fixture
def measurement():
    def make(accuracy=0.9, **values):
        defaults = {
            "balanced_accuracy": accuracy,
            "log_loss": 0.3,
            "ece": 0.05,
            "fit_seconds": 1.0,
            "predict_seconds": 0.1,
            "n_train": 25,
            "n_test": 75,
        }
        return Measurement(accuracy, **(defaults | values))

    return make


@pytest.fixture
def made_up(measurement):
    """Results from a table {method: {data set: accuracies}}; `values` by method are its other scores."""

    def make(table, protocol="paper", published=None, **values):
        columns = published or {}
        names = list(dict.fromkeys(name for row in table.values() for name in row))
        methods = [
            Method(name, name.upper(), lambda n_jobs, seed: None, "A test.", "tests", columns.get(name))
            for name in table
        ]
        most = max(len(accuracies) for row in table.values() for accuracies in row.values())
        results = Results(protocol, 0, most, methods, names)
        for method, row in table.items():
            for name, accuracies in row.items():
                scores = values.get(method.replace("-", "_"), {})
                results.splits[method, name] = {
                    split: measurement(accuracy, **scores) for split, accuracy in enumerate(accuracies)
                }
        return results

    return make


@pytest.fixture
def run_on(blobs, tmp_path):
    """A run over the blobs, under the names given, that keeps its measurements in a folder of the test's."""

    def make(*methods, names=("toy",), n_splits=3, seed=0, protocol="paper", X=None):
        points, y = blobs
        points = points if X is None else X
        sets = [paper.DataSet(name, points, y, digest_of(points, y)) for name in names]
        store = Store(tmp_path / "kept", protocol, seed)
        return paper.PaperRun(
            list(methods), sets, PROTOCOLS[protocol], store, seed=seed, n_splits=n_splits, n_jobs=1
        )

    return make
