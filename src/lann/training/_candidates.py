"""Which rows take part in training: samples, candidates of queries, and rows that decide on a level."""

from __future__ import annotations

import numpy as np

from lann._support.rows import spread_rows
from lann._support.types import Floats, Indices, Labels
from lann.metric import DiagonalMetric, Levels, MatrixMetric
from lann.search import coarse_search, smallest
from lann.training._loss import Targets
from lann.vote import VoteRule, class_shares, zero_distance_guard

NO_ROWS: Indices = np.empty(0, np.int64)
# Rows of each class in a sample, at least.
LEAST_SAMPLED = 50


class QueryStream:
    """Rows in shuffled order, without end: every row once before any row again.

    Parameters
    ----------
    rows : (n_rows,)
    rng : Generator
    """

    def __init__(self, rows: Indices, rng: np.random.Generator) -> None:
        self._rows = rows
        self._rng = rng
        self._waiting = NO_ROWS

    def take(self, n: int) -> Indices:
        """Return the next n rows."""
        while len(self._waiting) < n:
            self._waiting = np.concatenate([self._waiting, self._rng.permutation(self._rows)])
        taken, self._waiting = self._waiting[:n], self._waiting[n:]
        return taken


def stratified_sample(labels: Labels, size: int, rng: np.random.Generator) -> Indices:
    """Return about `size` rows, ascending: each class in proportion, but LEAST_SAMPLED rows of it."""
    if len(labels) <= size:
        return np.arange(len(labels))
    shuffled = rng.permutation(len(labels))
    chosen = []
    for rows in (shuffled[labels[shuffled] == c] for c in np.unique(labels)):
        wanted = max(round(len(rows) * size / len(labels)), min(len(rows), LEAST_SAMPLED))
        chosen.append(rows[:wanted])
    return np.sort(np.concatenate(chosen))


def draw_validation_rows(n_rows: int, fraction: float | None, rng: np.random.Generator) -> Indices:
    """Return the rows that decide on early stopping or on the vote, ascending; none if `fraction` is None.

    They are no queries of the training, but still neighbors of others.
    """
    if fraction is None:
        return NO_ROWS
    n_drawn = min(max(1, round(fraction * n_rows)), n_rows - 1)
    return np.sort(rng.permutation(n_rows)[:n_drawn])


# Number of rows whose neighbors give the typical distance.
ROWS_FOR_SCALE = 2_000
# The first candidates of a row are the neighbors that give the typical distance.
N_TYPICAL = 5


def find_candidates(
    metric: DiagonalMetric,
    rows: Indices,
    n_candidates: int,
    *,
    reference: Indices | None = None,
    n_jobs: int | None = None,
) -> tuple[Indices, Floats]:
    """Return the nearest other points of some points.

    Parameters
    ----------
    rows : (n_rows,)
        Points, distinct.
    n_candidates : int
        Fewer are found where there are fewer points.
    reference : (n_reference,) or None
        Points that can be candidates; None is all.

    Returns
    -------
    candidates, distances : (n_rows, n_candidates)
        Nearest first; distances are squared.
    """
    among, exclude = metric, rows
    if reference is not None and len(reference) < metric.n_points:
        position = np.full(metric.n_points, -1)
        position[reference] = np.arange(len(reference))
        among, exclude = metric.subset(reference), position[rows]
    search, k = coarse_search(among, len(rows)), min(n_candidates, among.n_points - 1)
    found, distances = search.query(metric.points[rows], k, exclude=exclude, n_jobs=n_jobs)
    return (found if reference is None or among is metric else reference[found]), distances


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
    chosen = np.take_along_axis(np.where(same, candidates, -1), order, axis=1)
    return np.pad(chosen, ((0, 0), (0, k - chosen.shape[1])), constant_values=-1)


def typical_distances(levels: Levels, *, n_jobs: int | None = None) -> Floats:
    """Return the squared distances of a sample of rows to their neighbors: (n_rows, N_TYPICAL)."""
    rows = spread_rows(len(levels.X), ROWS_FOR_SCALE)
    return find_candidates(levels.class_metric(), rows, N_TYPICAL, n_jobs=n_jobs)[1]


N_VOTERS = 5
# From this many rows on, a twentieth of them decides; fewer would not be enough to decide.
FEWEST_ROWS = 2_000
FRACTION, MOST_ROWS = 0.05, 1_000


def draw_selection_rows(rows: Indices, rng: np.random.Generator) -> Indices:
    """Return the rows, of those given, that decide on a level, ascending; none if there are too few."""
    # The rows may be without the validation rows, and without those that decide on another level.
    if len(rows) < 0.85 * FEWEST_ROWS:
        return rows[:0]
    return np.sort(rng.choice(rows, min(round(FRACTION * len(rows)), MOST_ROWS), replace=False))


def weighted_errors(
    metric: DiagonalMetric | MatrixMetric, targets: Targets, rows: Indices, candidates: Indices
) -> Floats:
    """Return the weight of each row whose nearest candidates vote for another class, and 0 otherwise.

    For values, it is the weight times the squared error of their mean.

    Parameters
    ----------
    metric : DiagonalMetric or MatrixMetric
    targets : Targets
    rows : (n_rows,)
        Points of the metric.
    candidates : (n_rows, n_candidates)
        Points; -1 for none.

    Returns
    -------
    errors : (n_rows,)
    """
    distances = metric.distances(metric.points[rows], np.maximum(candidates, 0))
    near, distances = smallest(distances, candidates, min(N_VOTERS, candidates.shape[1]))
    labels, values, weights = targets
    rule = VoteRule(1.0, zero_distance_guard(distances))
    shares = rule.shares(distances, labels[near], weights[near])
    if len(values):
        return weights[rows] * np.square((shares * values[near]).sum(axis=1) - values[rows])
    predicted = class_shares(shares, labels[near], int(labels.max()) + 1).argmax(axis=1)
    return np.where(predicted != labels[rows], weights[rows], 0.0)


def is_significantly_better(errors: Floats, others: Floats) -> bool:
    """Return whether there are fewer errors than others, by more than one standard deviation of the gain."""
    gains = others - errors
    return bool(gains.sum() > np.sqrt(np.square(gains).sum()))
