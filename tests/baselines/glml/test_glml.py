"""GLML's metric is the one its theory asks for, and it holds where covariances are singular."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.neighbors import KNeighborsClassifier

from lann.baselines import GLML, _mapped_rows
from lann.baselines._glml.glml import best_metric, class_gaussians, error_curvature


@pytest.fixture(params=[2, 3])
def gaussians(request):
    n_classes = request.param
    rng = np.random.default_rng(n_classes)
    labels = np.repeat(np.arange(n_classes), [20, 30, 40][:n_classes])
    points = rng.normal(size=(len(labels), 3)) @ rng.normal(size=(3, 3)) + labels[:, None]
    return class_gaussians(points, labels, n_classes, shrinkage=0.2)[0], rng


def density(gaussians, c, x):
    covariance = np.linalg.inv(gaussians.precisions[c])
    return gaussians.shares[c] * multivariate_normal(gaussians.means[c], covariance).pdf(x)


def hessian(function, x, step=1e-3):
    """Second derivatives by central differences."""
    n = len(x)
    found, shifts = np.empty((n, n)), step * np.eye(n)
    for a in range(n):
        for b in range(n):
            found[a, b] = (
                function(x + shifts[a] + shifts[b])
                - function(x + shifts[a] - shifts[b])
                - function(x - shifts[a] + shifts[b])
                + function(x - shifts[a] - shifts[b])
            ) / (4 * step**2)
    return found


def test_the_curvature_is_that_of_the_densities(gaussians):
    model, rng = gaussians
    for x in rng.normal(size=(5, 3)):
        p = [density(model, c, x) for c in range(len(model.shares))]
        expected = np.zeros((3, 3))
        for c, own in enumerate(p):
            others = [other for place, other in enumerate(p) if place != c]
            factor = sum(other**2 for other in others) - own * sum(others)
            expected += factor * hessian(lambda at, c=c: density(model, c, at), x)
        found = error_curvature(model, x[None])[0]
        scale = np.sum(found * expected) / np.sum(expected**2)
        assert scale > 0
        np.testing.assert_allclose(found, scale * expected, atol=1e-4 * np.abs(found).max())


def test_two_classes_are_the_published_formula(gaussians):
    model, rng = gaussians
    model = model._replace(**{name: getattr(model, name)[:2] for name in model._fields})
    x = rng.normal(size=3)
    p1, p2 = density(model, 0, x), density(model, 1, x)
    h1, h2 = (hessian(lambda at, c=c: density(model, c, at), x) for c in (0, 1))
    expected = p1**2 * h2 + p2**2 * h1 - p1 * p2 * (h1 + h2)
    found = error_curvature(model, x[None])[0]
    scale = np.sum(found * expected) / np.sum(expected**2)
    assert scale > 0
    np.testing.assert_allclose(found, scale * expected, atol=1e-4 * np.abs(found).max())


def test_densities_that_underflow_still_have_a_direction(gaussians):
    model, _ = gaussians
    curvature = error_curvature(model, np.array([[1e3, -1e3, 1e3]]))[0]
    assert np.isfinite(curvature).all()
    assert np.abs(curvature).max() > 0


@pytest.mark.parametrize("signs", [(1, 1, 1, 1), (-1, -1, -1, -1), (1, -1, -1, -1), (1, 1, -1, -1)])
def test_no_metric_of_the_same_determinant_has_a_smaller_bias(signs):
    rng = np.random.default_rng(1)
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    B = (turn * (np.array(signs) * [3.0, 1.0, 0.5, 2.0])) @ turn.T

    def bias(metric):
        metric = metric / np.linalg.det(metric) ** 0.25
        return abs(np.trace(np.linalg.inv(metric) @ B))

    values, axes = best_metric(B)
    best = bias((axes * values) @ axes.T)
    if len(set(signs)) == 2:
        assert best == pytest.approx(0.0, abs=1e-10)
    for _ in range(200):
        half = rng.normal(size=(4, 4))
        assert bias(half @ half.T) >= best - 1e-10


def test_no_direction_counts_more_where_nothing_bends():
    values, _ = best_metric(np.zeros((2, 3, 3)))
    np.testing.assert_array_equal(values, np.ones((2, 3)))


def test_metrics_have_determinant_one(iris):
    X, y = iris
    clf = GLML(alpha=0.3).fit(X, y)
    maps = clf.model_.maps_at(X[::10])
    np.testing.assert_allclose(np.linalg.slogdet(maps)[1], 0.0, atol=1e-8)


def test_a_large_penalty_is_plain_nearest_neighbors(iris):
    X, y = iris
    clf = GLML(alpha=1e9).fit(X[::2], y[::2])
    plain = KNeighborsClassifier(5).fit(X[::2], y[::2])
    np.testing.assert_allclose(clf.kneighbors(X[1::2])[0], plain.kneighbors(X[1::2])[0], atol=1e-6)


def ball_and_cloud(n, rng):
    """A ball in a wider cloud: what counts is the direction of the radius, another one at every place."""
    labels = rng.integers(0, 2, n)
    return rng.normal(size=(n, 10)) * (1.0 + labels)[:, None], labels


def test_ahead_of_plain_neighbors_where_directions_differ_from_place_to_place():
    rng = np.random.default_rng(0)
    (X, y), (queries, right) = ball_and_cloud(300, rng), ball_and_cloud(1000, rng)
    plain = KNeighborsClassifier(5).fit(X, y).score(queries, right)
    assert GLML().fit(X, y).score(queries, right) > plain + 0.1


@pytest.mark.parametrize("shrinkage", ["auto", 1e-3, 1.0])
def test_singular_covariances_constant_columns_and_lonely_classes(shrinkage):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(15, 2)), 2, axis=0) @ rng.normal(size=(2, 6))
    X[:, 5] = 3.0
    y = np.arange(30) % 2
    y[-1] = 2  # a class of one point
    clf = GLML(n_neighbors=1, shrinkage=shrinkage).fit(X, y)
    assert np.isfinite(clf.feature_weights_).all()
    assert np.isfinite(clf.predict_proba(X + 0.1)).all()
    if shrinkage == "auto":
        assert clf.shrinkages_[2] == 1.0
        assert np.all(clf.shrinkages_[:2] < 1.0)


def test_classes_that_do_not_vary():
    X, y = np.repeat([[0.0, 0.0], [1.0, 1.0]], 5, axis=0), np.repeat([0, 1], 5)
    clf = GLML().fit(X, y)
    assert clf.predict([[0.1, 0.0], [0.9, 1.0]]).tolist() == [0, 1]


def test_verbose_says_what_is_known_of_each_class(iris, capsys):
    GLML(verbose=1).fit(*iris)
    assert capsys.readouterr().out.count("[GLML] class") == 3


@pytest.mark.parametrize("bad", [{"shrinkage": 0.0}, {"shrinkage": "best"}, {"alpha": -1.0}])
def test_parameters_are_checked(bad, iris):
    with pytest.raises(ValueError, match=next(iter(bad))):
        GLML(**bad).fit(*iris)


def test_queries_too_far_away_to_be_measured_get_an_answer(iris):
    clf = GLML().fit(*iris)
    np.testing.assert_allclose(clf.predict_proba(np.full((2, 4), 1e200)).sum(axis=1), 1.0)


def test_threads_do_not_change_a_bit(iris, monkeypatch):
    monkeypatch.setattr(_mapped_rows, "MAPPED", 2_000)  # blocks of a few queries
    X, y = iris
    fits = [GLML(n_jobs=n_jobs).fit(X[::2], y[::2]) for n_jobs in (1, 2)]
    assert np.array_equal(fits[0].feature_weights_, fits[1].feature_weights_)
    (lengths, indices), (others, same) = (clf.kneighbors(X[1::2]) for clf in fits)
    assert np.array_equal(lengths, others)
    assert np.array_equal(indices, same)
