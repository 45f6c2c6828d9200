"""Tables with more features than a square linear map has."""

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.neighbors import KNeighborsClassifier

from lann import LANNClassifier


def clf_of(**options):
    return LANNClassifier(**({"random_state": 0, "max_iter": 6} | options))


@pytest.fixture(scope="module")
def planted():
    """80 + 200 rows of three classes that differ in 12 of 600 features."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(280, 600)), np.arange(280) % 3
    informative = rng.choice(600, 12, replace=False)
    X[:, informative] += 1.5 * rng.normal(size=(3, 12))[y]
    return X[:80], y[:80], X[80:], y[80:], informative


@pytest.fixture(scope="module")
def fitted(planted):
    X, y, *_ = planted
    return clf_of().fit(X, y)


def test_few_of_many_features_are_found(planted, fitted):
    X, y, X_test, y_test, informative = planted
    assert fitted.score(X_test, y_test) > KNeighborsClassifier(7).fit(X, y).score(X_test, y_test) + 0.1
    relevances = fitted.explain(X_test[:20]).relevances.mean(axis=0)
    found = np.argsort(-relevances)[:12]
    assert len(np.intersect1d(found, informative)) >= 8


def test_the_map_has_few_axes(planted, fitted):
    assert fitted.components_.shape == (32, 600)
    assert fitted.levels_ == ("curves", "map", "class", "point")
    X, y, *_ = planted
    assert clf_of(max_iter=2, n_components=5).fit(X, y).components_.shape == (5, 600)
    assert clf_of(max_iter=2, levels=("curves", "point")).fit(X, y).components_ is None


def test_features_that_tell_nothing_alone_are_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1400, 210))
    y = (X[:, 3] * X[:, 7] > 0).astype(int)
    clf = clf_of(max_iter=None).fit(X[:1000], y[:1000])
    assert clf.score(X[1000:], y[1000:]) > 0.85


def test_rows_are_added_and_a_fit_starts_from_the_previous_one(planted):
    X, y, X_test, y_test, _ = planted
    clf = clf_of(warm_start=True).fit(X[:60], y[:60])
    clf.partial_fit(X[60:], y[60:])
    assert clf.components_.shape == (32, 600)
    before = clf.components_
    assert np.abs(clf.fit(X, y).components_ - before).max() < 1.0
    assert clf.score(X_test, y_test) > 0.6


@pytest.mark.parametrize("form", [csr_matrix, csr_array])
def test_sparse_rows_raise_with_what_to_do(form):
    X = form(np.eye(20))
    with pytest.raises(TypeError, match=r"TruncatedSVD"):
        clf_of().fit(X, np.arange(20) % 2)
    dense = clf_of(max_iter=1).fit(X.toarray(), np.arange(20) % 2)
    with pytest.raises(TypeError, match=r"toarray"):
        dense.predict(X)
