"""Types in which a model keeps rows and weights."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

import lann
from lann import LANNClassifier


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(300, 5, n_informative=4, n_redundant=1, n_classes=3, random_state=0)
    return X[:240], y[:240], X[240:], y[240:]


@pytest.fixture(scope="module")
def single(data):
    """A model of rows in float32, as there are of many rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lann._support.types.MANY_ROWS", 100)
        return LANNClassifier(max_iter=6, random_state=0).fit(data[0].astype(np.float32), data[1])


def types_of(clf):
    metric = clf.model_.metric
    arrays = (clf.model_.X, metric.points, clf.model_.levels.point_log_weights)
    return tuple(array.dtype.name for array in arrays)


def assert_same_neighbors(one, other, queries):
    for values, same in zip(one.kneighbors(queries), other.kneighbors(queries), strict=True):
        np.testing.assert_array_equal(values, same)
    np.testing.assert_array_equal(one.predict_proba(queries), other.predict_proba(queries))


def test_neighbors_are_those_of_the_stored_numbers_in_double_precision(reference, data, single):
    model, levels = single.model_, single.model_.levels
    assert types_of(single) == ("float32", "float32", "float32")
    np.testing.assert_array_equal(model.X, data[0].astype(np.float32))
    double = levels.in_double()
    points = double.transform(double.X).astype(np.float32).astype(np.float64)
    weights = np.exp(double.class_log_weights[levels.labels] + double.point_log_weights)
    own = reference.distances(model.transform(data[2]), points, weights.astype(np.float32).astype(np.float64))
    by_class = np.exp(double.class_log_weights)[levels.labels]
    coarse = reference.distances(model.transform(data[2]), points, by_class)
    expected, squared = reference.shortlisted(coarse, own, model.n_candidates, 7)
    found, distances = model.kneighbors(data[2], 7)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(distances, squared, rtol=1e-12)


def test_with_few_rows_everything_is_double_precision(data):
    X, y, X_test, _ = data
    X = X.astype(np.float32)
    clf = LANNClassifier(max_iter=2, random_state=0).fit(X, y)
    assert types_of(clf) == ("float64", "float64", "float64")
    assert_same_neighbors(clf, LANNClassifier(max_iter=2, random_state=0).fit(X.astype(float), y), X_test)


@pytest.mark.parametrize("given", ["float64", "float32"])
def test_with_many_rows_weights_are_single_precision_and_rows_as_given(monkeypatch, data, given):
    X, y, X_test, y_test = data
    double = LANNClassifier(max_iter=4, random_state=0).fit(X.astype(given), y)
    assert types_of(double) == ("float64", "float64", "float64")
    monkeypatch.setattr("lann._support.types.MANY_ROWS", 100)
    clf = LANNClassifier(max_iter=4, random_state=0).fit(X.astype(given), y)
    assert types_of(clf) == (given, given, "float32")
    assert clf.score(X_test, y_test) > 0.7
    np.testing.assert_allclose(clf.predict_proba(X_test), double.predict_proba(X_test), atol=1e-5)


def test_a_model_file_keeps_the_types_and_all_bits(tmp_path, data, single):
    lann.save(single, tmp_path / "model.lann")
    loaded = lann.load(tmp_path / "model.lann")
    assert types_of(loaded) == types_of(single)
    assert_same_neighbors(single, loaded, data[2])
