"""The weights of the anchors lie on the simplex, and minimize their objective."""

import numpy as np
import pytest
from scipy.optimize import minimize

from lann.baselines._plml.anchor_weights import (
    AnchorWeightObjective,
    learn_anchor_weights,
    project_to_simplex,
    similarity_graph,
)


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


def test_graph_is_symmetric():
    *_, graph, _ = make_problem()
    dense = graph.toarray()
    assert np.array_equal(dense, dense.T)
    assert np.all(np.diag(dense) == 0)
    assert np.all((dense > 0).sum(axis=1) >= 3)


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


def test_smoothness_makes_the_weights_of_neighbors_similar():
    roughness = []
    for smoothness in (0.0, 3.0, 100.0):
        *_, graph, objective = make_problem(smoothness=smoothness)
        weights, _ = learn_anchor_weights(objective)
        squares = np.square(weights[:, None] - weights[None]).sum(axis=2)
        roughness.append(np.sum(graph.toarray() * squares))
    assert roughness[0] > 1.2 * roughness[1] > 1.2**2 * roughness[2]


def test_large_locality_selects_the_nearest_anchor():
    *_, objective = make_problem(locality=1e6)
    weights, _ = learn_anchor_weights(objective)
    np.testing.assert_array_equal(weights.argmax(axis=1), objective.distances.argmin(axis=1))
    assert weights.max(axis=1).min() > 0.99
