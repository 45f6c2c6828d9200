"""PLML measures with weighted means of the metrics of its anchors."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

from lann.baselines import PLML
from lann.baselines._plml.plml import select_axes
from lann.datasets import make_licorice

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def wine_fit(wine):
    X, y = wine
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return PLML(n_anchors=5, max_iter=10, random_state=0).fit(X[::2], y[::2]), X[::2], X[1::2]


@pytest.mark.parametrize("n_metric_neighbors", [1, 6])
def test_metric_is_the_mean_of_those_of_the_nearest_training_rows(wine_fit, n_metric_neighbors):
    fitted, X, queries = wine_fit
    clf = clone(fitted).set_params(n_metric_neighbors=n_metric_neighbors).fit(X, fitted.predict(X))
    for query, omega in zip(queries, clf.model_.maps_at(queries), strict=True):
        nearest = np.argsort([np.sum((row - query) ** 2) for row in X])[:n_metric_neighbors]
        weights = np.mean([clf.anchor_weights_[j] for j in nearest], axis=0)
        expected = sum(w * M for w, M in zip(weights, clf.model_.metrics, strict=True))
        np.testing.assert_allclose(omega.T @ omega, expected, atol=1e-10 * np.abs(expected).max())


def test_feature_weights_are_means_of_those_of_the_anchors(wine_fit):
    clf, X, _ = wine_fit
    assert clf.anchor_weights_.shape == (len(X), 5)
    assert clf.anchor_weights_.min() >= 0
    np.testing.assert_allclose(clf.anchor_weights_.sum(axis=1), 1.0)
    clf = clone(clf).set_params(n_metric_neighbors=1).fit(X, clf.predict(X))
    np.testing.assert_allclose(clf.feature_weights_, clf.anchor_weights_ @ clf.anchor_feature_weights_)


def test_loss_decreases(wine_fit):
    clf, *_ = wine_fit
    assert clf.n_iter_ == len(clf.loss_curve_) > 3
    assert np.all(np.diff(clf.loss_curve_) < 0)


def test_max_iter_0_is_plain_knn(iris):
    X, y = iris
    clf, knn = PLML(max_iter=0).fit(X[::2], y[::2]), KNeighborsClassifier(5).fit(X[::2], y[::2])
    distances, expected = clf.kneighbors(X[1::2])[0], knn.kneighbors(X[1::2])[0]
    np.testing.assert_allclose(distances * np.sum(expected) / np.sum(distances), expected, atol=1e-10)


def test_better_than_knn_and_one_metric_if_relevant_directions_vary():
    X, y = make_licorice(1200, noise=0.05, random_state=0)
    X_train, X_test, y_train, y_test = X[:600], X[600:], y[:600], y[600:]
    knn = KNeighborsClassifier(5).fit(X_train, y_train).score(X_test, y_test)
    one = PLML(n_anchors=1, random_state=0).fit(X_train, y_train).score(X_test, y_test)
    several = PLML(n_anchors=10, random_state=0).fit(X_train, y_train).score(X_test, y_test)
    assert several > knn + 0.02
    assert several > one + 0.02


def test_selected_axes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)) * [1.0, 10.0, 0.1]
    np.testing.assert_array_equal(select_axes(X, None), np.eye(3))
    np.testing.assert_array_equal(select_axes(X, "auto"), np.eye(3))
    np.testing.assert_array_equal(select_axes(X, 7), np.eye(3))
    assert select_axes(X, 0.9).shape == (1, 3)
    assert select_axes(X, 0.9999).shape == (2, 3)
    axes = select_axes(X, 2)
    np.testing.assert_allclose(axes @ axes.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(np.abs(axes[0]), [0, 1, 0], atol=0.05)
    assert len(select_axes(rng.normal(size=(50, 100)), "auto")) < 50


def test_directions_outside_the_components_do_not_count():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * [5.0, 5.0, 0.01]
    y = (X[:, 0] > 0).astype(int)
    clf = PLML(n_components=2, max_iter=5, random_state=0).fit(X, y)
    assert clf.anchors_.shape == (20, 3)
    assert clf.feature_weights_[:, 2].max() < 1e-2 * clf.feature_weights_[:, 0].mean()


@pytest.mark.parametrize("n_components", [None, 2, 0.5])
def test_constant_feature_class_of_one_row_and_duplicates(n_components):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(6, 2)), 2, axis=0) @ rng.normal(size=(2, 4))
    X[:, 3] = 3.0
    y = np.arange(12) % 2
    y[-1] = 2
    clf = PLML(n_neighbors=1, n_components=n_components, random_state=0).fit(X, y)
    assert np.isfinite(clf.feature_weights_).all()
    assert np.isfinite(clf.predict_proba(X + 0.1)).all()
    assert len(clf.anchors_) <= 6  # at most one per distinct row


@pytest.mark.parametrize("y", [np.arange(10) % 2, np.arange(10)], ids=["two classes", "a class per row"])
def test_equal_rows_and_classes_of_one_row(y):
    equal = PLML(n_neighbors=1, random_state=0).fit(np.ones((10, 2)), y)
    assert np.isfinite(equal.predict_proba(np.zeros((2, 2)))).all()
    X = np.arange(20.0).reshape(10, 2)
    clf = PLML(n_neighbors=1, random_state=0).fit(X, y)
    assert np.array_equal(clf.predict(X + 0.1), y)


def test_verbose_prints_both_steps(iris, capsys):
    PLML(verbose=1, max_iter=2, random_state=0).fit(*iris)
    printed = capsys.readouterr().out
    assert "[PLML] anchor weights: loss" in printed
    assert "[PLML] iteration 2/2" in printed


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("n_anchors", 0),
        ("n_components", 0),
        ("n_components", 1.5),
        ("n_components", "all"),
        ("n_same_class", 0),
        ("n_other_class", 0),
        ("n_metric_neighbors", 0),
        ("locality", -1),
        ("smoothness", -1),
        ("pull_weight", -1),
        ("alpha", -1),
        ("tol", -1),
    ],
)
def test_invalid_parameters_raise(parameter, value, iris):
    with pytest.raises(ValueError, match=f"{parameter} must be .*; got {value!r}"):
        PLML(**{parameter: value}).fit(*iris)
