"""DANN's metric is the published formula around every query, and it holds in small neighborhoods."""

import numpy as np
import pytest
from scipy.linalg import inv, sqrtm
from sklearn.neighbors import KNeighborsClassifier

from lann.baselines import DANN, _mapped_rows
from lann.baselines._dann import tricube
from lann.datasets import make_licorice


def published_metric(query, X, y, *, n_local, epsilon, shrinkage, rounds):
    """Λ at one query, step by step as in the paper."""
    n_features = X.shape[1]
    metric = np.eye(n_features)
    for _ in range(rounds):
        lengths = np.array([np.sqrt((x - query) @ metric @ (x - query)) for x in X])
        near = np.argsort(lengths)[:n_local]
        weight = (1 - (lengths[near] / lengths[near].max()) ** 3) ** 3
        total = weight.sum()
        middle = sum(w * X[j] for w, j in zip(weight, near, strict=True)) / total
        B, W = np.zeros((n_features, n_features)), np.zeros((n_features, n_features))
        for label in np.unique(y[near]):
            own = [(w, X[j]) for w, j in zip(weight, near, strict=True) if y[j] == label]
            share = sum(w for w, _ in own)
            if share == 0:
                continue
            mean = sum(w * x for w, x in own) / share
            B += share / total * np.outer(mean - middle, mean - middle)
            W += sum(w * np.outer(x - mean, x - mean) for w, x in own) / total
        W = (1 - shrinkage) * W + shrinkage * np.trace(W) / n_features * np.eye(n_features)
        root = inv(sqrtm(W).real)
        metric = root @ (root @ B @ root + epsilon * np.eye(n_features)) @ root
    return metric


@pytest.mark.parametrize("max_iter", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_the_metric_is_the_published_formula(iris, max_iter, epsilon):
    X, y = iris
    clf = DANN(n_local=40, alpha=epsilon, shrinkage=0.2, max_iter=max_iter).fit(X[::2], y[::2])
    queries = X[1::20]
    maps = clf.model_.maps_at(queries)
    for query, own in zip(queries, maps, strict=True):
        expected = published_metric(
            query, X[::2], y[::2], n_local=40, epsilon=epsilon, shrinkage=0.2, rounds=max_iter
        )
        np.testing.assert_allclose(own.T @ own, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


def test_no_round_is_plain_nearest_neighbors(iris):
    X, y = iris
    clf, plain = DANN(max_iter=0).fit(X[::2], y[::2]), KNeighborsClassifier(5).fit(X[::2], y[::2])
    np.testing.assert_allclose(clf.kneighbors(X[1::2])[0], plain.kneighbors(X[1::2])[0])


@pytest.mark.parametrize(("n_points", "n_local"), [(20, 20), (120, 50), (400, 80)])
def test_a_fifth_of_the_points_is_local(n_points, n_local):
    rng = np.random.default_rng(0)
    assert DANN().fit(rng.normal(size=(n_points, 2)), np.arange(n_points) % 2).n_local_ == n_local


def test_weights_fall_from_one_to_zero():
    weights = tricube(np.array([0.0, 0.25, 1.0, 4.0]))
    np.testing.assert_allclose(weights, [1.0, (1 - 1 / 64) ** 3, (1 - 1 / 8) ** 3, 0.0])
    np.testing.assert_array_equal(tricube(np.zeros(3)), np.ones(3))
    np.testing.assert_array_equal(tricube(np.full(3, 2.0)), np.ones(3))


def test_neighborhoods_are_narrow_across_the_boundary():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(400, 2))
    clf = DANN().fit(X, X[:, 0] > 0)
    own = clf.model_.maps_at(np.zeros((1, 2)))[0]
    across, along = np.diag(own.T @ own)
    assert across > 3 * along


def test_ahead_of_plain_neighbors_where_directions_differ_from_place_to_place():
    X, y = make_licorice(1200, noise=0.05, random_state=0)
    plain = KNeighborsClassifier(5).fit(X[:600], y[:600]).score(X[600:], y[600:])
    assert DANN(n_local=60).fit(X[:600], y[:600]).score(X[600:], y[600:]) > plain + 0.02


@pytest.mark.parametrize("n_local", [1, 3, None])
def test_small_neighborhoods_constant_columns_and_lonely_classes(n_local):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(15, 2)), 2, axis=0) @ rng.normal(size=(2, 6))
    X[:, 5] = 3.0
    y = np.arange(30) % 2
    y[-1] = 2  # a class of one point
    clf = DANN(n_neighbors=1, n_local=n_local, max_iter=2).fit(X, y)
    assert np.isfinite(clf.feature_weights_).all()
    assert np.isfinite(clf.predict_proba(X + 0.1)).all()


def test_points_that_are_all_the_same():
    clf = DANN().fit(np.ones((10, 3)), np.arange(10) % 2)
    np.testing.assert_allclose(clf.predict_proba(np.zeros((2, 3))).sum(axis=1), 1.0)


def test_verbose_says_how_many_points_are_local(iris, capsys):
    DANN(verbose=1, n_local=30).fit(*iris)
    assert "[DANN] a discriminant analysis of 30 points" in capsys.readouterr().out


@pytest.mark.parametrize(
    "bad", [{"n_local": 0}, {"alpha": 0.0}, {"shrinkage": 0.0}, {"shrinkage": 2.0}, {"max_iter": -1}]
)
def test_parameters_are_checked(bad, iris):
    with pytest.raises(ValueError, match=next(iter(bad))):
        DANN(**bad).fit(*iris)


def test_queries_too_far_away_to_be_measured_get_an_answer(iris):
    clf = DANN(max_iter=2).fit(*iris)
    np.testing.assert_allclose(clf.predict_proba(np.full((2, 4), 1e200)).sum(axis=1), 1.0)


def test_threads_do_not_change_a_bit(iris, monkeypatch):
    monkeypatch.setattr(_mapped_rows, "MAPPED", 2_000)  # blocks of a few queries
    X, y = iris
    fits = [DANN(n_jobs=n_jobs).fit(X[::2], y[::2]) for n_jobs in (1, 2)]
    assert np.array_equal(fits[0].feature_weights_, fits[1].feature_weights_)
    (lengths, indices), (others, same) = (clf.kneighbors(X[1::2]) for clf in fits)
    assert np.array_equal(lengths, others)
    assert np.array_equal(indices, same)
