"""PLML measures with mixtures of its anchors' metrics, and learns where directions differ."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

from lann.baselines import PLML, _mapped_rows
from lann.baselines._plml.plml import principal_axes
from lann.datasets import make_licorice

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def wine_fit(wine):
    X, y = wine
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return PLML(n_anchors=5, max_iter=10, random_state=0).fit(X[::2], y[::2]), X[::2], X[1::2]


@pytest.mark.parametrize("n_blended", [1, 6])
def test_the_metric_is_the_mean_mixture_of_the_nearest_training_points(wine_fit, n_blended):
    fitted, X, queries = wine_fit
    clf = clone(fitted).set_params(n_blended=n_blended).fit(X, fitted.predict(X))
    basis = clf.model_.metrics
    for query, own in zip(queries, clf.model_.maps_at(queries), strict=True):
        nearest = np.argsort([np.sum((x - query) ** 2) for x in X])[:n_blended]
        weights = np.mean([clf.anchor_weights_[j] for j in nearest], axis=0)
        expected = sum(w * M for w, M in zip(weights, basis, strict=True))
        np.testing.assert_allclose(own.T @ own, expected, atol=1e-10 * np.abs(expected).max())


def test_weights_are_on_the_simplex_and_mix_relevances(wine_fit):
    clf, X, _ = wine_fit
    assert clf.anchor_weights_.shape == (len(X), 5)
    assert clf.anchor_weights_.min() >= 0
    np.testing.assert_allclose(clf.anchor_weights_.sum(axis=1), 1.0)
    own = clone(clf).set_params(n_blended=1).fit(X, clf.predict(X))
    np.testing.assert_allclose(own.feature_weights_, own.anchor_weights_ @ own.anchor_feature_weights_)


def test_the_loss_falls(wine_fit):
    clf, *_ = wine_fit
    assert clf.n_iter_ == len(clf.loss_curve_) > 3
    assert np.all(np.diff(clf.loss_curve_) < 0)


def test_no_iterations_are_plain_nearest_neighbors(iris):
    X, y = iris
    clf, plain = PLML(max_iter=0).fit(X[::2], y[::2]), KNeighborsClassifier(5).fit(X[::2], y[::2])
    lengths, expected = clf.kneighbors(X[1::2])[0], plain.kneighbors(X[1::2])[0]
    np.testing.assert_allclose(lengths * np.sum(expected) / np.sum(lengths), expected, atol=1e-10)


def test_ahead_of_plain_neighbors_and_of_one_metric_where_directions_differ():
    X, y = make_licorice(1200, noise=0.05, random_state=0)
    (X, queries), (y, right) = (X[:600], X[600:]), (y[:600], y[600:])
    plain = KNeighborsClassifier(5).fit(X, y).score(queries, right)
    one = PLML(n_anchors=1, random_state=0).fit(X, y).score(queries, right)
    many = PLML(n_anchors=10, random_state=0).fit(X, y).score(queries, right)
    assert many > plain + 0.02
    assert many > one + 0.02


def test_principal_axes():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(50, 3)) * [1.0, 10.0, 0.1]
    np.testing.assert_array_equal(principal_axes(points, None), np.eye(3))
    np.testing.assert_array_equal(principal_axes(points, "auto"), np.eye(3))
    np.testing.assert_array_equal(principal_axes(points, 7), np.eye(3))
    assert principal_axes(points, 0.9).shape == (1, 3)
    assert principal_axes(points, 0.9999).shape == (2, 3)
    two = principal_axes(points, 2)
    np.testing.assert_allclose(two @ two.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(np.abs(two[0]), [0, 1, 0], atol=0.05)
    assert len(principal_axes(rng.normal(size=(50, 100)), "auto")) < 50


def test_what_lies_outside_the_components_does_not_count():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * [5.0, 5.0, 0.01]
    y = (X[:, 0] > 0).astype(int)
    clf = PLML(n_components=2, max_iter=5, random_state=0).fit(X, y)
    assert clf.anchors_.shape == (20, 3)
    assert clf.feature_weights_[:, 2].max() < 1e-2 * clf.feature_weights_[:, 0].mean()


@pytest.mark.parametrize("n_components", [None, 2, 0.5])
def test_constant_columns_lonely_classes_and_few_points(n_components):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(6, 2)), 2, axis=0) @ rng.normal(size=(2, 4))
    X[:, 3] = 3.0
    y = np.arange(12) % 2
    y[-1] = 2  # a class of one point
    clf = PLML(n_neighbors=1, n_components=n_components, random_state=0).fit(X, y)
    assert np.isfinite(clf.feature_weights_).all()
    assert np.isfinite(clf.predict_proba(X + 0.1)).all()
    assert len(clf.anchors_) <= 6  # no more than different points


@pytest.mark.parametrize("y", [np.arange(10) % 2, np.arange(10)])
def test_points_that_are_all_the_same_or_all_of_different_classes(y):
    same = PLML(n_neighbors=1, random_state=0).fit(np.ones((10, 2)), y)
    assert np.isfinite(same.predict_proba(np.zeros((2, 2)))).all()
    line = np.arange(20.0).reshape(10, 2)
    apart = PLML(n_neighbors=1, random_state=0).fit(line, y)
    assert np.array_equal(apart.predict(line + 0.1), y)


def test_verbose_tells_both_steps(iris, capsys):
    PLML(verbose=1, max_iter=2, random_state=0).fit(*iris)
    said = capsys.readouterr().out
    assert "[PLML] weights of anchors" in said
    assert "[PLML] iteration 2/2" in said


@pytest.mark.parametrize(
    "bad",
    [
        {"n_anchors": 0},
        {"n_components": 0},
        {"n_components": 1.5},
        {"n_components": "all"},
        {"n_same_class": 0},
        {"n_other_class": 0},
        {"n_blended": 0},
        {"locality": -1},
        {"smoothness": -1},
        {"pull": -1},
        {"alpha": -1},
        {"tol": -1},
    ],
)
def test_parameters_are_checked(bad, iris):
    with pytest.raises(ValueError, match=next(iter(bad))):
        PLML(**bad).fit(*iris)


def test_threads_do_not_change_a_bit(iris, monkeypatch):
    monkeypatch.setattr(_mapped_rows, "MAPPED", 2_000)  # blocks of a few queries
    X, y = iris
    fits = [PLML(max_iter=5, random_state=0, n_jobs=n_jobs).fit(X[::2], y[::2]) for n_jobs in (1, 2)]
    assert np.array_equal(fits[0].feature_weights_, fits[1].feature_weights_)
    (lengths, indices), (others, same) = (clf.kneighbors(X[1::2]) for clf in fits)
    assert np.array_equal(lengths, others)
    assert np.array_equal(indices, same)
