"""GLML predicts with metrics at queries, also if covariances are singular."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from lann.baselines import GLML


def test_metrics_have_determinant_1(iris):
    X, y = iris
    clf = GLML(alpha=0.3).fit(X, y)
    maps = clf.model_.maps_at(X[::10])
    np.testing.assert_allclose(np.linalg.slogdet(maps)[1], 0.0, atol=1e-8)


def test_large_alpha_is_plain_knn(iris):
    X, y = iris
    clf = GLML(alpha=1e9).fit(X[::2], y[::2])
    knn = KNeighborsClassifier(5).fit(X[::2], y[::2])
    np.testing.assert_allclose(clf.kneighbors(X[1::2])[0], knn.kneighbors(X[1::2])[0], atol=1e-6)


def narrow_and_wide_gaussian(n_samples, rng):
    """Draw two classes around the origin: the relevant direction at a query is that of the origin."""
    labels = rng.integers(0, 2, n_samples)
    return rng.normal(size=(n_samples, 10)) * (1.0 + labels)[:, None], labels


def test_better_than_knn_if_relevant_directions_vary():
    rng = np.random.default_rng(0)
    X_train, y_train = narrow_and_wide_gaussian(300, rng)
    X_test, y_test = narrow_and_wide_gaussian(1000, rng)
    knn = KNeighborsClassifier(5).fit(X_train, y_train).score(X_test, y_test)
    assert GLML().fit(X_train, y_train).score(X_test, y_test) > knn + 0.1


@pytest.mark.parametrize("shrinkage", ["auto", 1e-3, 1.0])
def test_singular_covariance_constant_feature_and_class_of_one_row(shrinkage):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(15, 2)), 2, axis=0) @ rng.normal(size=(2, 6))
    X[:, 5] = 3.0
    y = np.arange(30) % 2
    y[-1] = 2
    clf = GLML(n_neighbors=1, shrinkage=shrinkage).fit(X, y)
    assert np.isfinite(clf.feature_weights_).all()
    assert np.isfinite(clf.predict_proba(X + 0.1)).all()
    if shrinkage == "auto":
        assert clf.shrinkages_[2] == 1.0
        assert np.all(clf.shrinkages_[:2] < 1.0)


def test_classes_without_variance():
    X, y = np.repeat([[0.0, 0.0], [1.0, 1.0]], 5, axis=0), np.repeat([0, 1], 5)
    clf = GLML().fit(X, y)
    assert clf.predict([[0.1, 0.0], [0.9, 1.0]]).tolist() == [0, 1]


def test_verbose_prints_a_line_per_class(iris, capsys):
    GLML(verbose=1).fit(*iris)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [f"[GLML] class {label}" for label in range(3)]


@pytest.mark.parametrize(("parameter", "value"), [("shrinkage", 0.0), ("shrinkage", "best"), ("alpha", -1.0)])
def test_invalid_parameters_raise(parameter, value, iris):
    with pytest.raises(ValueError, match=f"{parameter} must be .*; got {value!r}"):
        GLML(**{parameter: value}).fit(*iris)


def test_predictions_for_queries_with_overflowing_distances(iris):
    clf = GLML().fit(*iris)
    np.testing.assert_allclose(clf.predict_proba(np.full((2, 4), 1e130)).sum(axis=1), 1.0)
