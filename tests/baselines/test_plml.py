"""PLML: anchor weights, anchor metrics and the estimator."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

from lann.baselines import PLML
from lann.baselines._plml import (
    AnchorMetricLoss,
    AnchorWeightObjective,
    learn_anchor_weights,
    project_to_simplex,
    select_axes,
    similarity_graph,
)
from lann.datasets import make_licorice


def make_problem(smoothness=1.0, locality=0.5):
    rng = np.random.default_rng(0)
    X, anchors = rng.normal(size=(12, 3)), rng.normal(size=(4, 3))
    squares = np.square(X[:, None] - X[None]).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    neighbors = np.argsort(squares, axis=1)[:, :3]
    graph = similarity_graph(neighbors, np.take_along_axis(squares, neighbors, axis=1))
    objective = AnchorWeightObjective(X, anchors, graph, locality=locality, smoothness=smoothness)
    return X, anchors, graph, objective


def random_weights():
    return project_to_simplex(np.random.default_rng(1).normal(size=(12, 4)))


def test_projection_is_the_nearest_point_of_the_simplex():
    rng = np.random.default_rng(0)
    rows = 2 * rng.normal(size=(6, 5))
    for row, projected in zip(rows, project_to_simplex(rows), strict=True):
        assert projected.min() >= 0
        assert projected.sum() == pytest.approx(1.0)
        expected = minimize(
            lambda x, row=row: np.sum((x - row) ** 2),
            np.full(5, 0.2),
            bounds=[(0, 1)] * 5,
            constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
            tol=1e-12,
        ).x
        np.testing.assert_allclose(projected, expected, atol=1e-5)
    np.testing.assert_allclose(project_to_simplex(np.full((1, 3), 9.0)), np.full((1, 3), 1 / 3))


def test_objective_equals_the_formula():
    X, anchors, graph, objective = make_problem(smoothness=2.0, locality=0.3)
    weights = random_weights()
    dense = graph.toarray()
    expected = 0.0
    for i in range(12):
        expected += np.sum((X[i] - weights[i] @ anchors) ** 2)
        expected += 0.3 * sum(weights[i, b] * np.sum((X[i] - anchors[b]) ** 2) for b in range(4))
        for j in range(12):
            expected += 2.0 * 0.5 * dense[i, j] * np.sum((weights[i] - weights[j]) ** 2)
    assert objective(weights)[0] == pytest.approx(expected)


def test_gradient_equals_finite_differences(reference):
    *_, objective = make_problem()
    weights = random_weights()
    _, gradient = objective(weights)
    expected = reference.slopes(lambda changed: objective(changed)[0], weights, step=1e-5)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)


def test_learned_weights_minimize_the_objective():
    *_, objective = make_problem()
    weights, losses = learn_anchor_weights(objective)
    assert weights.min() >= 0
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert np.all(np.diff(losses) <= 0)
    assert losses[-1] < losses[0]
    # The objective is convex: if no gradient step decreases it, it is minimal.
    _, gradient = objective(weights)
    updated = project_to_simplex(weights - gradient / objective.curvature)
    assert objective(updated)[0] > losses[-1] * (1 - 1e-4)


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(14, 3))
    weights = rng.dirichlet([0.3] * 4, size=14)
    weights[weights < 0.1] = 0.0  # rows without some anchors
    same_class, other_class = rng.integers(0, 14, (14, 2)), rng.integers(0, 14, (14, 3))
    same_class[0] = -1  # the only row of its class
    same_class[1, 1] = other_class[2, 2] = -1
    maps = rng.normal(size=(4, 2, 3))
    return X, weights, same_class, other_class, maps


def make_loss(problem, **options):
    return AnchorMetricLoss(*problem[:4], **{"pull_weight": 0.3, "alpha": 0.7} | options)


def smooth_hinge(z):
    return 0.0 if z < 0 else z * z / 2 if z < 1 else z - 0.5


def reference_loss(X, weights, same_class, other_class, maps, pull_weight, alpha):
    metrics = [omega.T @ omega for omega in maps]
    means = [sum(w * M for w, M in zip(row, metrics, strict=True)) for row in weights]

    def distance(i, j):
        return (X[i] - X[j]) @ means[i] @ (X[i] - X[j])

    pairs = [(i, j) for i in range(len(X)) for j in same_class[i] if j >= 0]
    triplets = [(i, j, k) for i, j in pairs for k in other_class[i] if k >= 0]
    return (
        np.mean([smooth_hinge(1 + distance(i, j) - distance(i, k)) for i, j, k in triplets])
        + pull_weight * np.mean([distance(i, j) for i, j in pairs])
        + alpha * np.mean([np.sum(M**2) for M in metrics]) / X.shape[1]
    )


@pytest.mark.parametrize("differences", [1, 40, 2**20])
def test_loss_equals_the_sum_over_triplets(problem, differences, monkeypatch):
    monkeypatch.setattr("lann.baselines._plml.DIFFERENCES", differences)  # blocks of one, a few and all rows
    loss, _ = make_loss(problem)(problem[-1])
    assert loss == pytest.approx(reference_loss(*problem, pull_weight=0.3, alpha=0.7))


@pytest.mark.parametrize(("pull_weight", "alpha"), [(0.0, 0.0), (0.3, 0.0), (0.0, 0.7), (0.3, 0.7)])
def test_gradient_of_the_metric_loss_equals_finite_differences(problem, pull_weight, alpha, reference):
    loss = make_loss(problem, pull_weight=pull_weight, alpha=alpha)
    _, (gradient,) = loss(problem[-1])
    expected = reference.slopes(lambda maps: loss(maps)[0], problem[-1], step=1e-5)
    assert np.abs(expected).max() > 1e-2
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-7)


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
