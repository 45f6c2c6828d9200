"""Places for points whose neighbors are known: UMAP, densMAP and t-SNE, from the same lists."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from lann._threads import single_threaded_blas
from lann._types import Floats
from lann.embedding.graph import NeighborLists

LAYOUTS = ("umap", "densmap", "tsne")
# scikit-learn's t-SNE exaggerates clusters for so long.
LEAST_TSNE_ITER = 250
# t-SNE looks at so many neighbors per unit of perplexity; beyond, their part is nothing.
NEIGHBORS_PER_PERPLEXITY = 3
# Below this many points a spectral start has no eigenvectors to take.
SPECTRAL_FROM = 30


def lists_needed(method: str, n_neighbors: int, n_points: int) -> int:
    """How many neighbors of a point, without itself, a layout looks at; at most those there are."""
    if method == "tsne":
        return min(NEIGHBORS_PER_PERPLEXITY * n_neighbors + 1, n_points - 1)
    # UMAP counts the point itself, and wants fewer than there are.
    return min(n_neighbors - 1, n_points - 2)


def half_distance(method: str, min_dist: float) -> float:
    """How far apart two places are whose bond is half of what it is when they coincide."""
    if method == "tsne":
        return 1.0
    a, b = _umap().umap_.find_ab_params(1.0, min_dist)
    return float(a ** (-1 / (2 * b)))


def lay_out(
    points: Floats,
    lists: NeighborLists,
    *,
    method: str,
    n_components: int,
    min_dist: float,
    max_iter: int | None,
    seed: int,
    verbose: bool,
) -> tuple[Floats, int]:
    """Places of the points, (n_points, n_components), and the number of iterations. The same seed gives the
    same places.

    points : (n_points, n_axes) as the metric sees them; where parts of the graph do not hang together, they
        are placed by their middles
    """
    # Layouts compute in float32, which does not hold all units; only the proportions matter to them.
    points = points - points.mean(axis=0)
    points = points / (np.abs(points).max() or 1.0)
    usual = np.median(lists.lengths[lists.lengths > 0]) if lists.lengths.any() else 1.0
    lists = lists._replace(lengths=lists.lengths / usual)
    common: dict[str, Any] = {"n_components": n_components, "seed": seed, "verbose": verbose}
    with _one_at_a_time(), single_threaded_blas(), _quiet():
        if method == "tsne":
            places, n_iter = _tsne_places(points, lists, max_iter=max_iter or 1000, **common)
        else:
            densmap = method == "densmap"
            places, n_iter = _umap_places(
                points, lists, densmap=densmap, min_dist=min_dist, max_iter=max_iter, **common
            )
    return places.astype(np.float64), n_iter


def _umap_places(
    points: Floats,
    lists: NeighborLists,
    *,
    densmap: bool,
    n_components: int,
    min_dist: float,
    max_iter: int | None,
    seed: int,
    verbose: bool,
) -> Any:
    n_points, k = lists.indices.shape
    indices, lengths = _with_itself(lists)
    spectral = n_points >= max(SPECTRAL_FROM, 2 * n_components + 2)
    layout = _umap().UMAP(
        n_neighbors=k + 1, n_components=n_components, min_dist=min_dist, n_epochs=max_iter, densmap=densmap,
        precomputed_knn=(indices.astype(np.int32), lengths.astype(np.float32)),
        init="spectral" if spectral else "random", random_state=seed, n_jobs=1, verbose=verbose,
    )  # fmt: skip
    usual = 500 if n_points <= 10_000 else 200  # as umap has it
    n_iter = max_iter if max_iter is not None else usual + 200 * densmap
    return layout.fit(points).embedding_, n_iter


def _tsne_places(
    points: Floats,
    lists: NeighborLists,
    *,
    n_components: int,
    max_iter: int,
    seed: int,
    verbose: bool,
) -> Any:
    from scipy.sparse import csr_array
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    n_points, k = lists.indices.shape
    # As scikit-learn's own graphs. A stored 0 is a neighbor, a missing one is not.
    columns, lengths = _with_itself(lists)
    starts = np.arange(n_points + 1) * (k + 1)
    graph = csr_array((lengths.ravel(), columns.ravel(), starts), shape=(n_points, n_points))
    layout = TSNE(
        n_components=n_components, perplexity=max(1.0, (k - 1) / NEIGHBORS_PER_PERPLEXITY),
        metric="precomputed", init=_start(points, n_components, seed), max_iter=max_iter,
        method="barnes_hut", random_state=seed, verbose=int(verbose), n_jobs=1,
    )  # fmt: skip
    # Sums over threads would depend on their number.
    with threadpool_limits(1):
        return layout.fit_transform(graph), layout.n_iter_


def _with_itself(lists: NeighborLists) -> NeighborLists:
    """Each point before its neighbors: (n_points, k + 1)."""
    everyone = np.arange(len(lists.indices))[:, None]
    return NeighborLists(
        np.concatenate([everyone, lists.indices], axis=1),
        np.concatenate([np.zeros(everyone.shape), lists.lengths], axis=1),
    )


def _start(points: Floats, n_components: int, seed: int) -> Any:
    """The main directions of the points, small, as t-SNE wants to begin."""
    from sklearn.decomposition import PCA

    n_found = min(n_components, *points.shape)
    places = np.random.default_rng(seed).normal(size=(len(points), n_components))
    if np.ptp(points, axis=0).any():
        found = PCA(n_found, svd_solver="full").fit_transform(points)
        places[:, :n_found] = found / found[:, 0].std()
    return (1e-4 * places).astype(np.float32)


class _OneAtATime:
    """A lock for all layouts of the process, which a forked child finds open.

    What warnings are ignored belongs to the process: threads that set it by turns would leave it changed.
    And numba's threads, which umap may use, are not for two callers at once.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            yield

    def reset_after_fork(self) -> None:
        self._lock = threading.Lock()


_one_at_a_time = _OneAtATime()
if hasattr(os, "register_at_fork"):  # not where processes cannot fork
    os.register_at_fork(after_in_child=_one_at_a_time.reset_after_fork)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without UMAP's warnings about what is meant here: no search index, and a start by lot."""
    with warnings.catch_warnings():
        for said in ("precomputed_knn", "n_jobs value", "Spectral init", "Graph is not fully connected"):
            warnings.filterwarnings("ignore", message=f".*{said}")
        # Of points that are all alike, densMAP divides by their spread.
        warnings.filterwarnings("ignore", category=RuntimeWarning, module="umap")
        yield


def _umap() -> Any:
    """umap, imported on use: it takes seconds."""
    try:
        with warnings.catch_warnings():
            # umap mentions that it would also work with TensorFlow.
            warnings.filterwarnings("ignore", category=ImportWarning)
            import umap
    except ImportError as error:
        raise ImportError("Embeddings need umap-learn: pip install 'lann[embed]'.") from error
    return umap
