"""The neighbors of every training row as lists, and their layout by UMAP, densMAP or t-SNE."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lann._support.threads import map_blocks, single_threaded_blas
from lann._support.types import Floats, Indices

if TYPE_CHECKING:
    from lann.model import NeighborModel

# Pairs that are measured by both rows before the nearest are kept, per listed neighbor.
POOL = 2
PAIRS_AT_ONCE = 65_536
# The distance of two rows, from the distances that each of them measures.
RULES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "min": np.minimum,
    "mean": lambda one, other: (one + other) / 2,
    "max": np.maximum,
}
LAYOUTS = ("umap", "densmap", "tsne")
# scikit-learn's t-SNE exaggerates clusters for this many iterations.
LEAST_TSNE_ITER = 250
# t-SNE uses this many neighbors per unit of perplexity; the others have no weight.
NEIGHBORS_PER_PERPLEXITY = 3
# Below this many rows the spectral initialization has too few eigenvectors.
SPECTRAL_FROM = 30
# The weight of densities, the part of the epochs in which they count, and what is added to their variance.
DENSMAP = {"lambda": 2.0, "frac": 0.3, "var_shift": 0.1}
# Distances beyond this many typical ones are the same to a layout: larger squares are not finite in float32.
FARTHEST = 1e18


class NeighborLists(NamedTuple):
    """Neighbors of every row, nearest first, without the row itself.

    Attributes
    ----------
    indices : (n_rows, k)
    distances : (n_rows, k)
        Lengths, ascending.
    """

    indices: Indices
    distances: Floats


def list_neighbors(
    model: NeighborModel, k: int, symmetry: str, *, n_jobs: int | None = None
) -> NeighborLists:
    """List the k nearest training rows of every training row.

    Parameters
    ----------
    model : NeighborModel
    k : int
    symmetry : str
        "neighbor", or one of RULES.
    """
    n_rows = len(model.X)
    n_searched = k if symmetry == "neighbor" else min(POOL * k, n_rows - 1)
    indices, squared = model.kneighbors(model.X, n_searched, exclude=np.arange(n_rows), n_jobs=n_jobs)
    if symmetry == "neighbor":
        return NeighborLists(indices, np.sqrt(squared))
    # Every pair of rows of which one is in the list of the other, once; -1 is no neighbor.
    owner, listed = np.repeat(np.arange(n_rows), n_searched), indices.ravel()
    owner, listed = owner[listed >= 0], listed[listed >= 0]
    keys = np.unique(np.minimum(owner, listed) * n_rows + np.maximum(owner, listed))
    one, other = keys // n_rows, keys % n_rows
    distances = RULES[symmetry](
        _pair_distances(model, one, other, n_jobs), _pair_distances(model, other, one, n_jobs)
    )
    # The nearest of every row among its pairs, of which it has at least k; ties by index.
    owner, listed = np.concatenate([one, other]), np.concatenate([other, one])
    distances = np.concatenate([distances, distances])
    order = np.lexsort((listed, distances, owner))
    starts = np.searchsorted(owner[order], np.arange(n_rows))
    kept = order[starts[:, None] + np.arange(k)]
    return NeighborLists(listed[kept], distances[kept])


def _pair_distances(model: NeighborModel, queries: Indices, rows: Indices, n_jobs: int | None) -> Floats:
    """Return the distances of some training rows to others, as the others measure: (n_pairs,)."""

    def measure(part: slice) -> Floats:
        return model.distances(model.X[queries[part]], rows[part][:, None])[:, 0]

    return np.sqrt(np.concatenate(map_blocks(measure, len(queries), PAIRS_AT_ONCE, n_jobs=n_jobs)))


class Layout(NamedTuple):
    """The parameters of a layout, as `LANNEmbedding` has them."""

    method: str
    n_components: int
    min_dist: float
    max_iter: int | None
    verbose: bool


def check_installed(method: str = "umap") -> None:
    """Raise ImportError if a layout needs a package that is not installed.

    Parameters
    ----------
    method : {"umap", "densmap", "tsne"}, default="umap"

    Raises
    ------
    ImportError
        If umap-learn is missing.

    Examples
    --------
    >>> from lann.embedding import check_installed
    >>> check_installed("tsne")  # comes with scikit-learn
    """
    if method != "tsne":
        _umap()


def n_listed_neighbors(method: str, n_neighbors: int, n_rows: int) -> int:
    """Return how many neighbors of a row, without itself, a layout uses."""
    if method == "tsne":
        return min(NEIGHBORS_PER_PERPLEXITY * n_neighbors + 1, n_rows - 1)
    # UMAP counts the row itself, and takes fewer neighbors than there are rows.
    return min(n_neighbors - 1, n_rows - 2)


def half_distance(method: str, min_dist: float) -> float:
    """Return the distance in the embedding at which the similarity of two rows is half of that at 0."""
    if method == "tsne":
        return 1.0
    a, b = _umap().umap_.find_ab_params(1.0, min_dist)
    return float(a ** (-1 / (2 * b)))


def compute_layout(rows: Floats, lists: NeighborLists, layout: Layout, seed: int) -> tuple[Floats, int]:
    """Compute the coordinates of rows; the same seed gives the same coordinates.

    Parameters
    ----------
    rows : (n_rows, n_axes)
        Rows on the axes of the metric; parts of the graph that are not connected are initialized by their
        means.
    lists : NeighborLists
    layout : Layout
    seed : int

    Returns
    -------
    coordinates : (n_rows, n_components)
    n_iter : int
    """
    # Layouts compute in float32, whose range does not hold all units; only proportions matter to them.
    rows = rows - rows.mean(axis=0)
    rows = rows / (np.abs(rows).max() or 1.0)
    typical = np.median(lists.distances[lists.distances > 0]) if lists.distances.any() else 1.0
    lists = lists._replace(distances=np.minimum(lists.distances / typical, FARTHEST))
    compute = _tsne if layout.method == "tsne" else _umap_or_densmap
    with single_threaded_blas(), _without_warnings():
        coordinates, n_iter = compute(rows, lists, layout, seed)
    return coordinates.astype(np.float64), n_iter


def _umap_or_densmap(rows: Floats, lists: NeighborLists, layout: Layout, seed: int) -> tuple[Any, int]:
    """Lay out the graph of neighbors as `umap.UMAP` does, with the same bits.

    Its `fit` would start numba's threads, after which a forked process that uses them is killed.
    """
    from lann.embedding._kernels import edge_lengths, edge_weights

    umap = _umap().umap_
    n_rows = len(lists.indices)
    lists = _with_self(lists)
    weights = edge_weights(lists)
    spectral = n_rows >= max(SPECTRAL_FROM, 2 * layout.n_components + 2)
    densmap = layout.method == "densmap"
    default = (500 if n_rows <= 10_000 else 200) + 200 * densmap  # those of umap
    n_iter = layout.max_iter or default
    a, b = umap.find_ab_params(1.0, layout.min_dist)
    coordinates, _ = umap.simplicial_set_embedding(
        rows.astype(np.float32),
        weights,
        n_components=layout.n_components,
        initial_alpha=1.0,
        a=a,
        b=b,
        gamma=1.0,
        negative_sample_rate=5,
        n_epochs=n_iter,
        init="spectral" if spectral else "random",
        random_state=np.random.RandomState(seed),
        metric=umap.dist.named_distances["euclidean"],
        metric_kwds={},
        densmap=densmap,
        densmap_kwds=DENSMAP | {"graph_dists": edge_lengths(lists)} if densmap else {},
        output_dens=False,
        parallel=False,
        # umap prints a line for each tenth of the epochs.
        verbose=layout.verbose and n_iter >= 10,
        tqdm_kwds={"desc": "Epochs completed"},
    )
    # A row without edges has no coordinates.
    coordinates[np.asarray(weights.sum(axis=1)).ravel() == 0] = np.nan
    return coordinates, n_iter


def _tsne(rows: Floats, lists: NeighborLists, layout: Layout, seed: int) -> tuple[Any, int]:
    from scipy.sparse import csr_array
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    n_rows, k = lists.indices.shape
    # As scikit-learn's own graphs: a stored 0 is a neighbor, a missing entry is not.
    columns, distances = _with_self(lists)
    starts = np.arange(n_rows + 1) * (k + 1)
    graph = csr_array((distances.ravel(), columns.ravel(), starts), shape=(n_rows, n_rows))
    estimator = TSNE(
        n_components=layout.n_components,
        perplexity=max(1.0, (k - 1) / NEIGHBORS_PER_PERPLEXITY),
        metric="precomputed",
        init=_initial_coordinates(rows, layout.n_components, seed),
        max_iter=layout.max_iter or 1000,
        method="barnes_hut",
        random_state=seed,
        verbose=int(layout.verbose),
        n_jobs=1,
    )
    # Sums over threads would depend on their number.
    with threadpool_limits(1):
        coordinates = estimator.fit_transform(graph)
    return coordinates, int(estimator.n_iter_)


def _with_self(lists: NeighborLists) -> NeighborLists:
    """Return the lists with each row before its neighbors: (n_rows, k + 1)."""
    everyone = np.arange(len(lists.indices))[:, None]
    return NeighborLists(
        np.concatenate([everyone, lists.indices], axis=1),
        np.concatenate([np.zeros(everyone.shape), lists.distances], axis=1),
    )


def _initial_coordinates(rows: Floats, n_components: int, seed: int) -> Any:
    """Return the first principal components of the rows, scaled down as t-SNE needs it."""
    from sklearn.decomposition import PCA

    n_found = min(n_components, *rows.shape)
    coordinates = np.random.default_rng(seed).normal(size=(len(rows), n_components))
    if np.ptp(rows, axis=0).any():
        found = PCA(n_found, svd_solver="full").fit_transform(rows)
        coordinates[:, :n_found] = found / found[:, 0].std()
    return (1e-4 * coordinates).astype(np.float32)


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Suppress UMAP's warnings about what is intended here: no search index, and a random initialization."""
    with warnings.catch_warnings():
        for text in ("precomputed_knn", "n_jobs value", "Spectral init", "Graph is not fully connected"):
            warnings.filterwarnings("ignore", message=f".*{text}")
        # densMAP divides by the spread of the rows, which is 0 if all are equal.
        warnings.filterwarnings("ignore", category=RuntimeWarning, module="umap")
        yield


def _umap() -> Any:
    """Return the module umap, imported on use, as that takes seconds."""
    try:
        with warnings.catch_warnings():
            # umap mentions that it would also work with TensorFlow.
            warnings.filterwarnings("ignore", category=ImportWarning)
            import umap
    except ImportError as error:
        raise ImportError("Embeddings need umap-learn: pip install 'lann[embed]'.") from error
    return umap
