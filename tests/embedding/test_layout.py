"""Neighbor lists, their graph and layout as in UMAP, and coordinates of new rows."""

import sys

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.neighbors import NearestNeighbors

from lann import LANNClassifier
from lann.embedding import NeighborEmbedding
from lann.embedding._layout import (
    LAYOUTS,
    RULES,
    NeighborLists,
    check_installed,
    compute_layout,
    coordinates_by_neighbors,
    edge_lengths,
    edge_weights,
    half_distance,
    list_neighbors,
    n_listed_neighbors,
)


def lay_out(rows, lists, *, method, n_components=2, max_iter=None, seed=3):
    embedding = NeighborEmbedding(n_components, method=method, max_iter=max_iter)
    return compute_layout(rows, lists, embedding, seed)


def euclidean_lists(points, k, *, include_self=False):
    search = NearestNeighbors(n_neighbors=k).fit(points)
    lengths, indices = search.kneighbors(points if include_self else None)
    return NeighborLists(indices, lengths)


@pytest.mark.slow
def test_umap_gets_the_lists(iris):
    """On Euclidean lists the coordinates are those of UMAP by itself, given lengths of usual size."""
    import umap

    points = np.unique(iris[0], axis=0)[::2] + np.random.default_rng(0).normal(size=(75, 4)) * 1e-3
    lists = euclidean_lists(points, 9)
    with_itself = np.concatenate([np.arange(75)[:, None], lists.indices], axis=1).astype(np.int32)
    typical = np.median(lists.distances)
    lengths = np.concatenate([np.zeros((75, 1)), lists.distances / typical], axis=1).astype(np.float32)
    with pytest.warns(UserWarning, match="precomputed_knn"):
        theirs = umap.UMAP(
            n_neighbors=10, precomputed_knn=(with_itself, lengths), random_state=3, n_jobs=1, n_epochs=60
        ).fit_transform(points)
    ours, n_iter = lay_out(points, lists, method="umap", max_iter=60)
    assert n_iter == 60
    assert np.array_equal(ours, theirs.astype(np.float64))


@pytest.mark.parametrize("method", LAYOUTS)
@pytest.mark.parametrize("n_points", [3, 30])
def test_few_rows(method, n_points, recwarn):
    points = np.random.default_rng(0).normal(size=(n_points, 3))
    lists = euclidean_lists(points, n_listed_neighbors(method, 15, n_points))
    coordinates, _ = lay_out(points, lists, method=method)
    assert coordinates.shape == (n_points, 2)
    assert np.isfinite(coordinates).all()
    assert not [str(warning.message) for warning in recwarn if issubclass(warning.category, UserWarning)]


@pytest.mark.parametrize("method", LAYOUTS)
def test_disconnected_parts_and_copies(method):
    rng = np.random.default_rng(0)
    far = np.concatenate([rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 1e6, np.zeros((20, 2)) - 1e6])
    lists = euclidean_lists(far, n_listed_neighbors(method, 5, 60))
    coordinates, _ = lay_out(far, lists, method=method)
    assert np.isfinite(coordinates).all()
    first, second = coordinates[:20].mean(axis=0), coordinates[20:40].mean(axis=0)
    assert np.linalg.norm(first - second) > np.linalg.norm(coordinates[:20] - first, axis=1).mean()


def test_a_missing_umap_raises(monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(ImportError, match=r"umap-learn: pip install 'lann\[embed\]'"):
        half_distance("umap", 0.1)
    with pytest.raises(ImportError, match=r"umap-learn: pip install"):
        check_installed("densmap")
    assert check_installed("tsne") is None


@pytest.fixture(params=["random", "copies", "grid"])
def lists(request):
    rng = np.random.default_rng(0)
    rows = {
        "random": rng.normal(size=(60, 3)),
        "copies": np.repeat(rng.normal(size=(15, 3)), 4, axis=0),
        "grid": rng.normal(size=(60, 2)).round(),
    }
    return euclidean_lists(rows[request.param], 6, include_self=True)


def reference(lists):
    """Return weights and lengths by the functions of umap, which Python runs as they are written."""
    from umap import umap_

    distances = lists.distances.astype(np.float32)
    widths, nearest = umap_.smooth_knn_dist.py_func(distances, float(distances.shape[1]))
    rows, columns, values, _ = umap_.compute_membership_strengths.py_func(
        lists.indices, distances, widths, nearest
    )
    directed, lengths = np.zeros((2, len(distances), len(distances)))
    directed[rows, columns] = values
    lengths[rows, columns] = distances.ravel()
    return directed + directed.T - directed * directed.T, np.maximum(lengths, lengths.T)


def test_the_graph_is_that_of_umap(lists):
    weights, lengths = reference(lists)
    np.testing.assert_allclose(edge_weights(lists).toarray(), weights, rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(edge_lengths(lists).toarray(), lengths.astype(np.float32))
    assert weights.max() > 0


def all_distances(clf):
    """Return √d_j(x_i) for all pairs: (n_rows, n_rows)."""
    levels = clf.model_.levels
    metric = levels.local_metric()
    n_rows = len(levels.X)
    everyone = np.tile(np.arange(n_rows), (n_rows, 1))
    return np.sqrt(metric.distances(levels.points, everyone))


def nearest(lengths, k):
    rows = []
    for i, row in enumerate(lengths):
        order = sorted((row[j], j) for j in range(len(row)) if j != i)
        rows.append(order[:k])
    return np.array([[j for _, j in row] for row in rows]), np.array(
        [[far for far, _ in row] for row in rows]
    )


@pytest.fixture(scope="module", params=["diagonal", "full"])
def clf(request, wine):
    X, y = wine
    return LANNClassifier(metric=request.param, n_candidates=None, max_iter=2, random_state=0).fit(X, y)


def test_distances_are_those_of_the_neighbor(clf):
    lists = list_neighbors(clf.model_, 7, "neighbor")
    indices, lengths = nearest(all_distances(clf), 7)
    assert np.array_equal(lists.indices, indices)
    np.testing.assert_allclose(lists.distances, lengths)


@pytest.mark.parametrize("symmetry", RULES)
def test_symmetric_rules_on_all_pairs(clf, symmetry):
    """With enough pairs measured the lists are exactly those of the symmetric matrix."""
    measured = all_distances(clf)
    one, other = measured, measured.T
    matrix = {"min": np.minimum(one, other), "mean": (one + other) / 2, "max": np.maximum(one, other)}
    k = len(measured) - 1
    lists = list_neighbors(clf.model_, k, symmetry)
    indices, lengths = nearest(matrix[symmetry], k)
    np.testing.assert_allclose(lists.distances, lengths)
    assert np.array_equal(np.sort(lists.indices), np.sort(indices))


def cost(row, neighbor_coordinates, distances, scale):
    return np.sum(np.log1p(((row - neighbor_coordinates) ** 2).sum(axis=1) / scale**2) / distances)


@pytest.fixture
def scattered():
    rng = np.random.default_rng(0)
    coordinates = rng.normal(size=(60, 2)) * 3
    neighbors = np.array([rng.choice(60, 8, replace=False) for _ in range(40)])
    return neighbors, np.sort(rng.uniform(0.2, 4.0, size=(40, 8)), axis=1), coordinates


def test_they_are_a_minimum(scattered):
    """A general solver finds the same minimum, which is no worse than the coordinates of any neighbor."""
    neighbors, distances, coordinates = scattered
    found = coordinates_by_neighbors(neighbors, distances, coordinates, 1.3)
    for row, own, far in zip(found, neighbors, distances, strict=True):
        here = cost(row, coordinates[own], far, 1.3)
        better = minimize(
            cost, row, (coordinates[own], far, 1.3), method="Nelder-Mead", options={"xatol": 1e-9}
        )
        assert here == pytest.approx(better.fun, rel=1e-6)
        assert here <= min(cost(start, coordinates[own], far, 1.3) for start in coordinates[own]) + 1e-12


def test_a_row_lies_among_the_majority_not_between_groups():
    coordinates = np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 0.1], [20.0, 0.0], [20.1, 0.0]])
    row = coordinates_by_neighbors(np.arange(5)[None], np.ones((1, 5)), coordinates, 1.0)[0]
    assert np.linalg.norm(row - coordinates[:3].mean(axis=0)) < 0.3


def test_rows_do_not_depend_on_each_other_or_on_threads(scattered):
    neighbors, distances, coordinates = scattered
    together = coordinates_by_neighbors(neighbors, distances, coordinates, 1.3)
    alone = [coordinates_by_neighbors(neighbors[[i]], distances[[i]], coordinates, 1.3)[0] for i in range(40)]
    assert np.array_equal(together, alone)
    many = np.tile(np.arange(40), 300)
    assert np.array_equal(
        coordinates_by_neighbors(neighbors[many], distances[many], coordinates, 1.3, n_jobs=2), together[many]
    )
