"""The graph of neighbors, beside umap's own functions."""

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from lann.embedding._neighbor_graph import edge_lengths, edge_weights
from lann.embedding._neighbor_lists import NeighborLists


def lists_of(X, k):
    distances, indices = NearestNeighbors(n_neighbors=k).fit(X).kneighbors(X)
    return NeighborLists(indices, distances)


@pytest.fixture(params=["random", "copies", "grid"])
def lists(request):
    rng = np.random.default_rng(0)
    rows = {
        "random": rng.normal(size=(60, 3)),
        "copies": np.repeat(rng.normal(size=(15, 3)), 4, axis=0),
        "grid": rng.normal(size=(60, 2)).round(),
    }
    return lists_of(rows[request.param], 6)


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


def test_weights_do_not_depend_on_the_order_in_memory(lists):
    other = NeighborLists(*(np.asfortranarray(array) for array in lists))
    assert (edge_weights(lists) != edge_weights(other)).nnz == 0


def test_neighbors_at_infinite_distance_have_no_edge():
    lists = lists_of(np.arange(10.0)[:, None], 3)
    lists.distances[4, 2] = np.inf
    weights = edge_weights(lists)
    assert np.isfinite(weights.data).all()
    # The other row may list it, too.
    assert edge_lengths(lists).toarray()[4, lists.indices[4, 2]] in (0.0, 1.0)
