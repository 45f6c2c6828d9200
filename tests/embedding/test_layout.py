"""Layouts: what UMAP would do with the same lists, odd graphs, and the start of t-SNE."""

import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from lann.embedding.graph import NeighborLists
from lann.embedding.layout import LAYOUTS, half_distance, lay_out, lists_needed

OPTIONS = {"n_components": 2, "min_dist": 0.1, "max_iter": None, "seed": 3, "verbose": False}


def euclidean_lists(points, k):
    lengths, indices = NearestNeighbors(n_neighbors=k).fit(points).kneighbors()
    return NeighborLists(indices, lengths)


def test_umap_gets_the_lists(iris):
    """On Euclidean lists the places are those of UMAP by itself, given lengths of usual size."""
    import umap

    points = np.unique(iris[0], axis=0)[::2] + np.random.default_rng(0).normal(size=(75, 4)) * 1e-3
    lists = euclidean_lists(points, 9)
    with_itself = np.concatenate([np.arange(75)[:, None], lists.indices], axis=1).astype(np.int32)
    usual = np.median(lists.lengths)
    lengths = np.concatenate([np.zeros((75, 1)), lists.lengths / usual], axis=1).astype(np.float32)
    with pytest.warns(UserWarning, match="precomputed_knn"):
        theirs = umap.UMAP(
            n_neighbors=10, precomputed_knn=(with_itself, lengths), random_state=3, n_jobs=1, n_epochs=60
        ).fit_transform(points)
    ours, n_iter = lay_out(points, lists, method="umap", **OPTIONS | {"max_iter": 60})
    assert n_iter == 60
    assert np.array_equal(ours, theirs.astype(np.float64))


@pytest.mark.parametrize("method", LAYOUTS)
def test_no_warning_and_the_same_twice(method, iris, recwarn):
    points = iris[0][::3]
    lists = euclidean_lists(points, lists_needed(method, 5, len(points)))
    one, two = (lay_out(points, lists, method=method, **OPTIONS)[0] for _ in range(2))
    assert np.array_equal(one, two)
    assert one.dtype == np.float64
    assert not [str(said.message) for said in recwarn if issubclass(said.category, UserWarning)]


@pytest.mark.parametrize("method", LAYOUTS)
@pytest.mark.parametrize("n_points", [3, 4, 9, 30])
def test_few_points(method, n_points):
    points = np.random.default_rng(0).normal(size=(n_points, 3))
    lists = euclidean_lists(points, lists_needed(method, 15, n_points))
    places, _ = lay_out(points, lists, method=method, **OPTIONS)
    assert places.shape == (n_points, 2)
    assert np.isfinite(places).all()


@pytest.mark.parametrize("method", LAYOUTS)
def test_parts_that_do_not_hang_together_and_copies(method):
    rng = np.random.default_rng(0)
    far = np.concatenate([rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 1e6, np.zeros((20, 2)) - 1e6])
    lists = euclidean_lists(far, lists_needed(method, 5, 60))
    places, _ = lay_out(far, lists, method=method, **OPTIONS)
    assert np.isfinite(places).all()
    first, second = places[:20].mean(axis=0), places[20:40].mean(axis=0)
    assert np.linalg.norm(first - second) > np.linalg.norm(places[:20] - first, axis=1).mean()


def test_layouts_in_threads_leave_the_warnings_as_they_were(iris):
    points = iris[0][::3]
    lists = euclidean_lists(points, 5)
    before = list(warnings.filters)

    def one(seed):
        return lay_out(points, lists, method="umap", **OPTIONS | {"seed": seed, "max_iter": 20})[0]

    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(one, range(8)))
    assert warnings.filters == before
    assert all(np.array_equal(places, one(seed)) for seed, places in enumerate(together))


@pytest.mark.parametrize("method", LAYOUTS)
def test_points_that_are_all_alike(method, recwarn):
    points = np.ones((40, 3))
    k = lists_needed(method, 5, 40)
    alike = np.array([[j for j in range(40) if j != i][:k] for i in range(40)])
    places, _ = lay_out(points, NeighborLists(alike, np.zeros((40, k))), method=method, **OPTIONS)
    assert np.isfinite(places).all()
    assert not [said for said in recwarn if issubclass(said.category, RuntimeWarning | UserWarning)]


@pytest.mark.parametrize("n_components", [1, 3])
def test_other_numbers_of_dimensions(n_components, iris):
    points = iris[0][::3]
    for method in LAYOUTS:
        lists = euclidean_lists(points, lists_needed(method, 5, len(points)))
        options = OPTIONS | {"n_components": n_components, "max_iter": 250}
        places, _ = lay_out(points, lists, method=method, **options)
        assert places.shape == (len(points), n_components)


@pytest.mark.parametrize(("method", "min_dist"), [("umap", 0.0), ("umap", 0.5), ("tsne", 0.1)])
def test_half_distance_is_where_the_bond_is_half(method, min_dist):
    from umap.umap_ import find_ab_params

    a, b = find_ab_params(1.0, min_dist) if method == "umap" else (1.0, 1.0)
    assert 1 / (1 + a * half_distance(method, min_dist) ** (2 * b)) == pytest.approx(0.5)


def test_without_umap_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(ImportError, match=r"umap-learn: pip install 'lann\[embed\]'"):
        half_distance("umap", 0.1)
