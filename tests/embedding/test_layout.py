"""Layouts: what UMAP would do with the same lists, odd graphs, and the start of t-SNE."""

import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from lann.embedding import NeighborEmbedding
from lann.embedding._layout import (
    LAYOUTS,
    Layout,
    check_installed,
    compute_layout,
    half_distance,
    n_listed_neighbors,
)
from lann.embedding._neighbor_lists import NeighborLists


def lay_out(rows, lists, *, method, n_components=2, max_iter=None, seed=3):
    return compute_layout(rows, lists, Layout(method, n_components, 0.1, max_iter, False), seed)


def euclidean_lists(points, k):
    lengths, indices = NearestNeighbors(n_neighbors=k).fit(points).kneighbors()
    return NeighborLists(indices, lengths)


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
def test_no_warning_and_the_same_twice(method, iris, recwarn):
    points = iris[0][::3]
    lists = euclidean_lists(points, n_listed_neighbors(method, 5, len(points)))
    one, two = (lay_out(points, lists, method=method)[0] for _ in range(2))
    assert np.array_equal(one, two)
    assert one.dtype == np.float64
    assert not [str(said.message) for said in recwarn if issubclass(said.category, UserWarning)]


@pytest.mark.parametrize("method", LAYOUTS)
@pytest.mark.parametrize("n_points", [3, 4, 9, 30])
def test_few_points(method, n_points):
    points = np.random.default_rng(0).normal(size=(n_points, 3))
    lists = euclidean_lists(points, n_listed_neighbors(method, 15, n_points))
    coordinates, _ = lay_out(points, lists, method=method)
    assert coordinates.shape == (n_points, 2)
    assert np.isfinite(coordinates).all()


@pytest.mark.parametrize("method", LAYOUTS)
def test_parts_that_do_not_hang_together_and_copies(method):
    rng = np.random.default_rng(0)
    far = np.concatenate([rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 1e6, np.zeros((20, 2)) - 1e6])
    lists = euclidean_lists(far, n_listed_neighbors(method, 5, 60))
    coordinates, _ = lay_out(far, lists, method=method)
    assert np.isfinite(coordinates).all()
    first, second = coordinates[:20].mean(axis=0), coordinates[20:40].mean(axis=0)
    assert np.linalg.norm(first - second) > np.linalg.norm(coordinates[:20] - first, axis=1).mean()


def test_layouts_in_threads_leave_the_warnings_as_they_were(iris):
    points = iris[0][::3]
    lists = euclidean_lists(points, 5)
    before = list(warnings.filters)

    def one(seed):
        return lay_out(points, lists, method="umap", seed=seed, max_iter=20)[0]

    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(one, range(8)))
    assert warnings.filters == before
    assert all(np.array_equal(coordinates, one(seed)) for seed, coordinates in enumerate(together))


@pytest.mark.parametrize("method", LAYOUTS)
def test_points_that_are_all_alike(method, recwarn):
    points = np.ones((40, 3))
    k = n_listed_neighbors(method, 5, 40)
    alike = np.array([[j for j in range(40) if j != i][:k] for i in range(40)])
    coordinates, _ = lay_out(points, NeighborLists(alike, np.zeros((40, k))), method=method)
    assert np.isfinite(coordinates).all()
    assert not [said for said in recwarn if issubclass(said.category, RuntimeWarning | UserWarning)]


@pytest.mark.parametrize("n_components", [1, 3])
def test_other_numbers_of_dimensions(n_components, iris):
    points = iris[0][::3]
    for method in LAYOUTS:
        lists = euclidean_lists(points, n_listed_neighbors(method, 5, len(points)))
        coordinates, _ = lay_out(points, lists, method=method, n_components=n_components, max_iter=250)
        assert coordinates.shape == (len(points), n_components)


@pytest.mark.parametrize(("method", "min_dist"), [("umap", 0.0), ("umap", 0.5), ("tsne", 0.1)])
def test_similarity_is_half_at_the_half_distance(method, min_dist):
    from umap.umap_ import find_ab_params

    a, b = find_ab_params(1.0, min_dist) if method == "umap" else (1.0, 1.0)
    assert 1 / (1 + a * half_distance(method, min_dist) ** (2 * b)) == pytest.approx(0.5)


def test_a_missing_umap_raises(monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(ImportError, match=r"umap-learn: pip install 'lann\[embed\]'"):
        half_distance("umap", 0.1)
    with pytest.raises(ImportError, match=r"umap-learn: pip install"):
        check_installed("densmap")
    assert check_installed("tsne") is None


def test_verbose_with_few_iterations(blobs, capfd):
    loud, quiet = (
        NeighborEmbedding(n_neighbors=5, max_iter=5, random_state=0, verbose=verbose).fit(blobs[0]).embedding_
        for verbose in (1, 0)
    )
    np.testing.assert_array_equal(loud, quiet)
