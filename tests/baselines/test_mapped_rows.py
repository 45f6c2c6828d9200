"""Neighbors, contributions and feature weights under linear maps equal their formulas."""

import numpy as np
import pytest

from lann.baselines import _mapped_rows
from lann.baselines._mapped_rows import GroupMaps, QueryMaps, diagonals


class CosineMaps(QueryMaps):
    """Maps that depend on the first feature of the query."""

    def maps_at(self, queries):
        angles = np.arange(12.0).reshape(3, 4) / 10.0
        return np.cos(angles + queries[:, :1, None])


def reference_neighbors(queries, X, map_of_pair, k, exclude=None):
    """Return indices and squared distances of the nearest rows, measuring every pair."""
    indices, distances = [], []
    for i, query in enumerate(queries):
        measured = [
            (float(np.sum((map_of_pair(i, j) @ (query - row)) ** 2)), j)
            for j, row in enumerate(X)
            if exclude is None or exclude[i] != j
        ]
        nearest = sorted(measured)[:k]
        indices.append([j for _, j in nearest])
        distances.append([d for d, _ in nearest])
    return np.array(indices), np.array(distances)


def assert_equals_reference(model, queries, map_of_pair, k, *, n_jobs=None):
    """Compare neighbors, distances, contributions, searches among rows and local matrices."""
    indices, distances = model.kneighbors(queries, k, n_jobs=n_jobs)
    expected_indices, expected_distances = reference_neighbors(queries, model.X, map_of_pair, k)
    assert np.array_equal(indices, expected_indices)
    np.testing.assert_allclose(distances, expected_distances)
    np.testing.assert_allclose(model.contributions(queries, indices).sum(axis=2), distances)
    np.testing.assert_allclose(model.distances(queries, indices), distances)
    rows = np.array([1, 5, 8, 30])
    among, _ = reference_neighbors(queries, model.X[rows], lambda i, j: map_of_pair(i, rows[j]), 3)
    np.testing.assert_array_equal(model.search_among(rows)(queries, 3)[0], among)
    matrices = model.local_matrices(rows)
    assert matrices.shape == (4, 4, 4)
    np.testing.assert_allclose(np.einsum("rff->rf", matrices), model.feature_weights()[rows])
    return indices, distances


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    return rng.normal(size=(40, 4)), rng.normal(size=(9, 4)), rng


@pytest.mark.parametrize("k", [1, 5, 12])
def test_group_maps_equal_the_reference(data, k):
    X, queries, rng = data
    groups = rng.integers(0, 3, 40)
    groups[:2] = 3  # a group smaller than k
    maps = rng.normal(size=(4, 2, 4))
    model = GroupMaps(X, groups, maps)
    indices, _ = assert_equals_reference(model, queries, lambda i, j: maps[groups[j]], k)
    shares = np.full(indices.shape, 1.0 / k)
    expected = np.mean(
        [[np.diag(maps[groups[j]].T @ maps[groups[j]]) for j in row] for row in indices], axis=1
    )
    np.testing.assert_allclose(model.neighbor_feature_weights(queries, indices, shares), expected)


@pytest.mark.parametrize("shared", [True, False])
def test_rows_can_be_excluded_from_group_maps(data, shared):
    X, _, rng = data
    X[1] = X[0]
    groups = np.zeros(40, int) if shared else rng.integers(0, 3, 40)
    maps = rng.normal(size=(3, 4, 4))
    model = GroupMaps(X, groups, maps)
    rows = np.arange(40)
    indices, _ = model.kneighbors(X, 39, exclude=rows)
    expected, _ = reference_neighbors(X, X, lambda i, j: maps[groups[j]], 39, rows)
    assert np.array_equal(indices, expected)
    assert indices[0, 0] == 1


@pytest.mark.parametrize("tile", [7, 4096])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_query_maps_equal_the_reference(data, tile, n_jobs, monkeypatch):
    monkeypatch.setattr(_mapped_rows, "ROW_TILE", tile)
    X, queries, _ = data
    model = CosineMaps(X)
    maps = model.maps_at(queries)
    indices, distances = assert_equals_reference(model, queries, lambda i, j: maps[i], 6, n_jobs=n_jobs)
    np.testing.assert_allclose(model.neighbor_feature_weights(queries, indices, distances), diagonals(maps))
    assert model.feature_weights().shape == X.shape


def test_rows_can_be_excluded_from_query_maps(data):
    X, _, _ = data
    model = CosineMaps(X)
    maps = model.maps_at(X)
    indices, _ = model.kneighbors(X, 5, exclude=np.arange(40))
    expected, _ = reference_neighbors(X, X, lambda i, j: maps[i], 5, np.arange(40))
    assert np.array_equal(indices, expected)
