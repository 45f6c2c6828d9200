"""Neighbors, contributions and feature weights under linear maps equal their formulas."""

import numpy as np
import pytest

from lann.baselines import _mapped_rows
from lann.baselines._mapped_rows import GroupMaps, QueryMaps, diagonals, split_distance


class QueryDependent(QueryMaps):
    """A map that changes with the first feature of the query."""

    def maps_at(self, queries):
        start = np.arange(12.0).reshape(3, 4) / 10.0
        return np.cos(start + queries[:, :1, None])


def reference(queries, points, map_of_pair, k, exclude=None):
    """Measure every pair."""
    indices, distances = [], []
    for i, query in enumerate(queries):
        measured = [
            (float(np.sum((map_of_pair(i, j) @ (query - point)) ** 2)), j)
            for j, point in enumerate(points)
            if exclude is None or exclude[i] != j
        ]
        nearest = sorted(measured)[:k]
        indices.append([j for _, j in nearest])
        distances.append([d for d, _ in nearest])
    return np.array(indices), np.array(distances)


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    return rng.normal(size=(40, 4)), rng.normal(size=(9, 4)), rng


@pytest.mark.parametrize("k", [1, 5, 12])
def test_groups_measure_by_their_own_map(data, k):
    points, queries, rng = data
    groups = rng.integers(0, 3, 40)
    groups[:2] = 3  # a group smaller than k
    maps = rng.normal(size=(4, 2, 4))
    model = GroupMaps(points, groups, maps)

    def own_map(i, j):
        return maps[groups[j]]

    indices, distances = model.kneighbors(queries, k)
    right, lengths = reference(queries, points, own_map, k)
    assert np.array_equal(indices, right)
    np.testing.assert_allclose(distances, lengths)
    np.testing.assert_allclose(model.contributions(queries, indices).sum(axis=2), distances)
    np.testing.assert_allclose(model.distances(queries, indices), distances)
    rows = np.array([1, 5, 8, 30])
    among = reference(queries, points[rows], lambda i, j: own_map(i, rows[j]), 3)
    np.testing.assert_array_equal(model.search_among(rows).kneighbors(queries, 3)[0], among[0])
    matrices = model.local_matrices(rows)
    assert matrices.shape == (4, 4, 4)
    np.testing.assert_allclose(np.einsum("rff->rf", matrices), model.feature_weights()[rows])
    shares = np.full(indices.shape, 1.0 / k)
    mean = np.mean([[np.diag(maps[groups[j]].T @ maps[groups[j]]) for j in row] for row in right], axis=1)
    np.testing.assert_allclose(model.neighbor_feature_weights(queries, indices, shares), mean)


@pytest.mark.parametrize("shared", [True, False])
def test_rows_are_not_their_own_neighbors(data, shared):
    points, _, rng = data
    points[1] = points[0]
    groups = np.zeros(40, int) if shared else rng.integers(0, 3, 40)
    maps = rng.normal(size=(3, 4, 4))
    model = GroupMaps.shared(points, maps[0]) if shared else GroupMaps(points, groups, maps)
    everyone = np.arange(40)
    indices, _ = model.kneighbors(points, 39, exclude=everyone)
    right, _ = reference(points, points, lambda i, j: maps[groups[j]], 39, everyone)
    assert np.array_equal(indices, right)
    assert indices[0, 0] == 1


@pytest.mark.parametrize("tile", [7, 4096])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_queries_measure_by_their_own_map(data, tile, n_jobs, monkeypatch):
    monkeypatch.setattr(_mapped_rows, "ROW_TILE", tile)
    points, queries, _ = data
    model = QueryDependent(points)
    maps = model.maps_at(queries)

    def own_map(i, j):
        return maps[i]

    indices, distances = model.kneighbors(queries, 6, n_jobs=n_jobs)
    right, lengths = reference(queries, points, own_map, 6)
    assert np.array_equal(indices, right)
    np.testing.assert_allclose(distances, lengths)
    np.testing.assert_allclose(model.contributions(queries, indices).sum(axis=2), distances)
    np.testing.assert_allclose(model.distances(queries, indices), distances)
    rows = np.array([1, 5, 8, 30])
    among = reference(queries, points[rows], lambda i, j: own_map(i, rows[j]), 3)
    np.testing.assert_array_equal(model.search_among(rows).kneighbors(queries, 3)[0], among[0])
    matrices = model.local_matrices(rows)
    assert matrices.shape == (4, 4, 4)
    np.testing.assert_allclose(np.einsum("rff->rf", matrices), model.feature_weights()[rows])
    np.testing.assert_allclose(model.neighbor_feature_weights(queries, indices, distances), diagonals(maps))
    assert model.feature_weights().shape == points.shape


def test_queries_that_are_training_rows_are_excluded(data):
    points, _, _ = data
    model = QueryDependent(points)
    maps = model.maps_at(points)
    indices, _ = model.kneighbors(points, 5, exclude=np.arange(40))
    right, _ = reference(points, points, lambda i, j: maps[i], 5, np.arange(40))
    assert np.array_equal(indices, right)


def test_a_diagonal_map_splits_a_distance_by_features():
    steps, weights = np.array([[1.0, 2.0, -3.0]]), np.array([4.0, 0.0, 0.25])
    parts = split_distance(steps, np.diag(np.sqrt(weights)))
    np.testing.assert_allclose(parts, [[4.0, 0.0, 2.25]])
    np.testing.assert_allclose(diagonals(np.diag(np.sqrt(weights))), weights)


def test_the_search_is_not_pickled(data):
    points, queries, _ = data
    model = GroupMaps.shared(points, np.eye(4))
    model.kneighbors(queries, 3)
    assert "_searches" in vars(model)
    assert "_searches" not in model.__getstate__()
