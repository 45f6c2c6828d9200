"""Candidates for the neighbors of training rows, under the class metrics."""

from __future__ import annotations

import numpy as np

from lann._types import Floats, Indices, Labels
from lann.metrics import DiagonalMetric, Levels
from lann.search import CellSearch, ExactSearch, coarse_search

# Number of rows whose neighbors give the typical distance.
ROWS_FOR_SCALE = 2_000
# The first candidates of a row are the neighbors that give the typical distance.
N_TYPICAL = 5


def query_other_points(
    search: ExactSearch | CellSearch, rows: Indices, n_candidates: int, *, n_jobs: int | None = None
) -> tuple[Indices, Floats]:
    """Return the nearest other points of some of the points of a search.

    Parameters
    ----------
    search : ExactSearch or CellSearch
    rows : (n_rows,)
        Points, distinct.
    n_candidates : int
        Fewer are found where there are fewer points.

    Returns
    -------
    candidates, distances : (n_rows, n_candidates)
        Nearest first; distances are squared.
    """
    metric = search.metric
    k = min(n_candidates, metric.n_points - 1)
    return search.query(metric.points[rows], k, exclude=rows, n_jobs=n_jobs)


def find_candidates(
    metric: DiagonalMetric,
    rows: Indices,
    n_candidates: int,
    *,
    reference: Indices | None = None,
    n_jobs: int | None = None,
) -> tuple[Indices, Floats]:
    """Return the nearest other points of some points: as `query_other_points`.

    Parameters
    ----------
    reference : (n_reference,) or None
        Points that can be candidates; None is all.
    """
    if reference is None or len(reference) == metric.n_points:
        return query_other_points(coarse_search(metric, len(rows)), rows, n_candidates, n_jobs=n_jobs)
    position = np.full(metric.n_points, -1)
    position[reference] = np.arange(len(reference))
    search = coarse_search(metric.subset(reference), len(rows))
    k = min(n_candidates, len(reference) - 1)
    found, distances = search.query(metric.points[rows], k, exclude=position[rows], n_jobs=n_jobs)
    return reference[found], distances


def same_class_candidates(labels: Labels, rows: Indices, candidates: Indices, k: int) -> Indices:
    """Return the k nearest candidates of the class of each row.

    Parameters
    ----------
    labels : (n_points,)
    rows : (n_rows,)
    candidates : (n_rows, n_candidates)
        Nearest first; -1 for none.
    k : int

    Returns
    -------
    same : (n_rows, k)
        -1 where there are fewer.
    """
    same = (labels[np.maximum(candidates, 0)] == labels[rows][:, None]) & (candidates >= 0)
    order = np.argsort(~same, axis=1, kind="stable")[:, :k]
    chosen = np.where(
        np.take_along_axis(same, order, axis=1), np.take_along_axis(candidates, order, axis=1), -1
    )
    padded = np.full((len(rows), k), -1)
    padded[:, : chosen.shape[1]] = chosen
    return padded


def typical_distances(levels: Levels, *, n_jobs: int | None = None) -> Floats:
    """Return the squared distances of a sample of rows to their neighbors: (n_rows, N_TYPICAL)."""
    rows = np.linspace(0, len(levels.X) - 1, min(ROWS_FOR_SCALE, len(levels.X))).astype(np.int64)
    return find_candidates(levels.class_metric(), rows, N_TYPICAL, n_jobs=n_jobs)[1]
