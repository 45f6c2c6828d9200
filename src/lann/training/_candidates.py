"""Who could be near a training point, under what all points of a class share."""

from __future__ import annotations

import numpy as np

from lann._types import Floats, Indices
from lann.metrics import DiagonalMetric, Levels
from lann.search import coarse_search

# Training points whose neighbors give the scale of distances.
SCALE_SAMPLE = 2_000


def find_candidates(
    levels: Levels, rows: Indices, n_candidates: int, *, n_jobs: int | None = None
) -> tuple[Indices, Floats]:
    """The nearest other training points of some rows, under the class weights: as `candidates_among`."""
    return candidates_among(levels.class_metric(), rows, n_candidates, n_jobs=n_jobs)


def candidates_among(
    metric: DiagonalMetric,
    rows: Indices,
    n_candidates: int,
    *,
    reference: Indices | None = None,
    n_jobs: int | None = None,
) -> tuple[Indices, Floats]:
    """The nearest other points of some of the metric's points.

    Parameters
    ----------
    rows : (n_rows,) points, distinct
    reference : the points that may be candidates; all by default

    Returns
    -------
    candidates, distances : (n_rows, at most n_candidates), nearest first
    """
    queries = metric.points[rows]
    if reference is None or len(reference) == metric.n_points:
        own, k = rows, min(n_candidates, metric.n_points - 1)
        return coarse_search(metric, len(rows)).query(queries, k, exclude=own, n_jobs=n_jobs)
    place = np.full(metric.n_points, -1)
    place[reference] = np.arange(len(reference))
    k = min(n_candidates, len(reference) - 1)
    search = coarse_search(metric.subset(reference), len(rows))
    candidates, distances = search.query(queries, k, exclude=place[rows], n_jobs=n_jobs)
    return reference[candidates], distances


def usual_distances(levels: Levels, n_jobs: int | None = None) -> Floats:
    """Distances of some training points to their neighbors: (n_rows, k)."""
    rows = np.linspace(0, len(levels.X) - 1, min(SCALE_SAMPLE, len(levels.X))).astype(np.int64)
    return find_candidates(levels, rows, 5, n_jobs=n_jobs)[1]
