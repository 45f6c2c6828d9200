"""Neighbors of training rows as lists, their layout by UMAP, densMAP or t-SNE, and coordinates of others."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_matrix, csr_array

from lann import _native
from lann._support.threads import map_blocks, single_threaded_blas
from lann._support.types import Floats, Indices
from lann.model import NeighborModel

# Pairs that are measured by both rows before the nearest are kept, per listed neighbor.
POOL = 2
PAIRS_AT_ONCE = 65_536
# Queries whose coordinates a thread computes at a time.
QUERY_BLOCK = 4096
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
    """Return the distance in the embedding at which the similarity of two rows is half of that at 0.

    Parameters
    ----------
    method : {"umap", "densmap", "tsne"}
    min_dist : float

    Returns
    -------
    distance : float

    Examples
    --------
    >>> from lann.embedding import half_distance
    >>> half_distance("tsne", 0.1)
    1.0
    """
    if method == "tsne":
        return 1.0
    a, b = _umap().umap_.find_ab_params(1.0, min_dist)
    return float(a ** (-1 / (2 * b)))


def compute_layout(rows: Floats, lists: NeighborLists, embedding: Any, seed: int) -> tuple[Floats, int]:
    """Compute the coordinates of rows; the same seed gives the same coordinates.

    Parameters
    ----------
    rows : (n_rows, n_axes)
        Rows on the axes of the metric; parts of the graph that are not connected are initialized by their
        means.
    lists : NeighborLists
    embedding : LANNEmbedding or NeighborEmbedding
        Its parameters are those of the embedding.
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
    compute = _tsne if embedding.method == "tsne" else _umap_or_densmap
    with single_threaded_blas(), warnings.catch_warnings():
        # A random initialization, where the spectral one is not possible, is intended.
        warnings.filterwarnings("ignore", ".*(Spectral init|Graph is not fully connected)")
        # densMAP divides by the spread of the rows, which is 0 if all are equal.
        warnings.filterwarnings("ignore", category=RuntimeWarning, module="umap")
        coordinates, n_iter = compute(rows, lists, embedding, seed)
    return coordinates.astype(np.float64), n_iter


def _umap_or_densmap(rows: Floats, lists: NeighborLists, embedding: Any, seed: int) -> tuple[Any, int]:
    """Lay out the graph of neighbors as `umap.UMAP` does, with the same bits.

    Its `fit` would start numba's threads, after which a forked process that uses them is killed.
    """
    umap = _umap().umap_
    n_rows = len(lists.indices)
    lists = _with_self(lists)
    weights = edge_weights(lists)
    spectral = n_rows >= max(SPECTRAL_FROM, 2 * embedding.n_components + 2)
    densmap = embedding.method == "densmap"
    default = (500 if n_rows <= 10_000 else 200) + 200 * densmap  # those of umap
    n_iter = embedding.max_iter or default
    a, b = umap.find_ab_params(1.0, embedding.min_dist)
    coordinates, _ = umap.simplicial_set_embedding(
        rows.astype(np.float32),
        weights,
        n_components=embedding.n_components,
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
        verbose=bool(embedding.verbose) and n_iter >= 10,
        tqdm_kwds={"desc": "Epochs completed"},
    )
    # A row without edges has no coordinates.
    coordinates[np.asarray(weights.sum(axis=1)).ravel() == 0] = np.nan
    return coordinates, n_iter


def edge_weights(lists: NeighborLists) -> Any:
    """Return the weights of the edges between neighbors.

    The weight of a neighbor at distance d is exp(−(d − ρ)/σ), with ρ the distance to the nearest other row
    and σ such that the weights of a row add up to log₂ k. An edge has the weight u + v − u·v of its two
    directions. The weights are those of umap-learn.

    Parameters
    ----------
    lists : NeighborLists
        With each row before its neighbors: (n_rows, k). Neighbors at infinite distance have no edge.

    Returns
    -------
    weights : csr_matrix of shape (n_rows, n_rows)
    """
    distances = np.ascontiguousarray(lists.distances, dtype=np.float32)
    values = np.empty_like(distances)
    _native.edge_weights(np.ascontiguousarray(lists.indices, dtype=np.int64), distances, values)
    directed = _as_matrix(lists, values)
    directed.eliminate_zeros()
    weights = directed + directed.T - directed.multiply(directed.T)
    weights.eliminate_zeros()
    return weights


def edge_lengths(lists: NeighborLists) -> Any:
    """Return the lengths of the edges between neighbors, (n_rows, n_rows), for access by element."""
    directed = _as_matrix(lists, lists.distances.astype(np.float32))
    return directed.maximum(directed.T).todok()


def _as_matrix(lists: NeighborLists, values: Any) -> Any:
    """Return values of all neighbors, (n_rows, k), as a sparse matrix."""
    n_rows = len(lists.indices)
    rows, slots = np.nonzero(np.isfinite(lists.distances.astype(np.float32)))
    columns = lists.indices[rows, slots]
    return coo_matrix(
        (values[rows, slots], (rows.astype(np.int32), columns.astype(np.int32))), shape=(n_rows, n_rows)
    )


def _tsne(rows: Floats, lists: NeighborLists, embedding: Any, seed: int) -> tuple[Any, int]:
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    n_rows, k = lists.indices.shape
    # As scikit-learn's own graphs: a stored 0 is a neighbor, a missing entry is not.
    columns, distances = _with_self(lists)
    starts = np.arange(n_rows + 1) * (k + 1)
    graph = csr_array((distances.ravel(), columns.ravel(), starts), shape=(n_rows, n_rows))
    estimator = TSNE(
        n_components=embedding.n_components,
        perplexity=max(1.0, (k - 1) / NEIGHBORS_PER_PERPLEXITY),
        metric="precomputed",
        init=_initial_coordinates(rows, embedding.n_components, seed),
        max_iter=embedding.max_iter or 1000,
        method="barnes_hut",
        random_state=seed,
        verbose=int(bool(embedding.verbose)),
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


def _umap() -> Any:
    """Return the module umap, imported on use, as that takes seconds."""
    try:
        import umap
    except ImportError as error:
        raise ImportError("Embeddings need umap-learn: pip install 'lann[embed]'.") from error
    return umap


def coordinates_by_neighbors(
    neighbors: Indices, distances: Floats, coordinates: Floats, scale: float, *, n_jobs: int | None = None
) -> Floats:
    """Compute the coordinates of queries from those of their neighbors.

    The coordinates e of a query minimize Σ_j (1/d_j) log(1 + ‖e − e_j‖²/s²): each neighbor has the weight of
    its vote, and one far from the others hardly counts, so that a query lies among the majority rather than
    between two groups. The minimization starts at the neighbor with the lowest sum; it depends on the query
    alone.

    Parameters
    ----------
    neighbors : (n_queries, k)
    distances : (n_queries, k)
        Squared, ascending. A query at distance 0 takes the coordinates of that neighbor, or the mean of
        several.
    coordinates : (n_rows, n_components)
        Of the training rows.
    scale : float
        s, the distance from which a neighbor counts less.

    Returns
    -------
    coordinates : (n_queries, n_components)
    """
    neighbors, distances = np.ascontiguousarray(neighbors), np.ascontiguousarray(distances, np.float64)
    coordinates = np.ascontiguousarray(coordinates, np.float64)
    out = np.empty((len(neighbors), coordinates.shape[1]))

    def place(part: slice) -> None:
        _native.lay_out_queries(neighbors[part], distances[part], coordinates, scale, out[part])

    map_blocks(place, len(neighbors), QUERY_BLOCK, n_jobs=n_jobs)
    return out
