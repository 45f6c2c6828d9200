"""PLML's weights lie on the simplex, and are the best of their objective."""

import numpy as np
import pytest
from scipy.optimize import minimize

from lann.baselines._plml.anchor_weights import WeightObjective, neighbor_graph, onto_simplex, smooth_weights


def a_problem(smoothness=1.0, locality=0.5, n_points=12, n_anchors=4):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(n_points, 3))
    anchors = rng.normal(size=(n_anchors, 3))
    squares = np.square(points[:, None] - points[None]).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    neighbors = np.argsort(squares, axis=1)[:, :3]
    graph = neighbor_graph(neighbors, np.take_along_axis(squares, neighbors, axis=1))
    return (
        points,
        anchors,
        graph,
        WeightObjective(points, anchors, graph, locality=locality, smoothness=smoothness),
    )


def test_the_projection_is_the_nearest_point_of_the_simplex():
    rng = np.random.default_rng(0)
    rows = 2 * rng.normal(size=(6, 5))
    for row, found in zip(rows, onto_simplex(rows), strict=True):
        assert found.min() >= 0
        assert found.sum() == pytest.approx(1.0)
        best = minimize(
            lambda at, row=row: np.sum((at - row) ** 2),
            np.full(5, 0.2),
            bounds=[(0, 1)] * 5,
            constraints={"type": "eq", "fun": lambda at: at.sum() - 1},
            tol=1e-12,
        ).x
        np.testing.assert_allclose(found, best, atol=1e-5)
    np.testing.assert_allclose(onto_simplex(np.full((1, 3), 9.0)), np.full((1, 3), 1 / 3))


def test_the_graph_is_the_same_both_ways():
    *_, graph, _ = a_problem()
    dense = graph.toarray()
    assert np.array_equal(dense, dense.T)
    assert np.all(np.diag(dense) == 0)
    assert np.all((dense > 0).sum(axis=1) >= 3)


def test_the_objective_is_its_formula():
    points, anchors, graph, objective = a_problem(smoothness=2.0, locality=0.3)
    weights = onto_simplex(np.random.default_rng(1).normal(size=(12, 4)))
    dense = graph.toarray()
    expected = 0.0
    for i in range(12):
        expected += np.sum((points[i] - weights[i] @ anchors) ** 2)
        expected += 0.3 * sum(weights[i, b] * np.sum((points[i] - anchors[b]) ** 2) for b in range(4))
        for j in range(12):
            expected += 2.0 * 0.5 * dense[i, j] * np.sum((weights[i] - weights[j]) ** 2)
    assert objective(weights)[0] == pytest.approx(expected)


def test_the_gradient_equals_finite_differences(reference):
    *_, objective = a_problem()
    weights = onto_simplex(np.random.default_rng(1).normal(size=(12, 4)))
    _, gradient = objective(weights)
    expected = reference.slopes(lambda at: objective(at)[0], weights, step=1e-5)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)


def test_weights_are_the_best_there_are():
    *_, objective = a_problem()
    weights, losses = smooth_weights(objective)
    assert weights.min() >= 0
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert np.all(np.diff(losses) <= 0)
    assert losses[-1] < losses[0]
    # Convex: no step downhill is left, so there is nothing better.
    _, gradient = objective(weights)
    moved = onto_simplex(weights - gradient / objective.curvature)
    assert objective(moved)[0] > losses[-1] * (1 - 1e-4)


def test_smoothness_brings_the_weights_of_neighbors_together():
    roughness = []
    for smoothness in (0.0, 3.0, 100.0):
        *_, graph, objective = a_problem(smoothness=smoothness)
        weights, _ = smooth_weights(objective)
        rough = sum(
            graph[[i], [j]][0] * np.sum((weights[i] - weights[j]) ** 2) for i in range(12) for j in range(12)
        )
        roughness.append(rough)
    assert roughness[0] > 1.2 * roughness[1] > 1.2**2 * roughness[2]


def test_locality_gives_each_point_to_its_nearest_anchor():
    *_, objective = a_problem(locality=1e6)
    weights, _ = smooth_weights(objective)
    np.testing.assert_array_equal(weights.argmax(axis=1), objective.far.argmin(axis=1))
    assert weights.max(axis=1).min() > 0.99
