"""The choice of the vote, before anything is learned: by the leave-one-out log-loss of plain kNN.

How noisy the labels are is a property of the data and not of the metric. After training, leave-one-out would
be too optimistic, as the metrics were learned from the rows that it leaves out.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from lann._types import Floats, Indices
from lann.metrics import DiagonalMetric, Levels, find_copies
from lann.training._candidates import N_TYPICAL, find_candidates
from lann.training._standardization import Standardization
from lann.vote import VoteChoice, VoteRule, leave_one_out_losses, n_rows_for, zero_distance_guard

N_NEIGHBORS = (3, 5, 7, 10, 15, 20, 35, 50, 75, 100)
POWERS = (0.5, 1.0, 2.0, 3.0, 4.0)
FLOORS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
# The vote in use unless another one is better.
DEFAULT_NEIGHBORS, DEFAULT_POWER, DEFAULT_FLOOR = 7, 3.0, 0.02
# With fewer rows, the default vote is not compared with others.
FEWEST_ROWS = 30
# Rows on which votes are compared, and among which their neighbors are searched.
MOST_ROWS, MOST_SEARCHED = 1_000, 100_000


def select_vote(
    levels: Levels,
    *,
    n_neighbors: int | None = None,
    power: float | None = None,
    class_weight: Floats | None = None,
    n_jobs: int | None = None,
) -> VoteChoice:
    """Choose number of neighbors, power and floor of the vote.

    The vote is the one with the lowest leave-one-out log-loss of plain kNN on the standardized rows, if that
    is lower than the loss of the default vote by more than two standard errors of the paired differences:
    with few rows, the best of many votes is mostly chance. Otherwise it is the default vote.

    Parameters
    ----------
    levels : Levels
        Training rows, of which the metrics are not used. A row is left out with all its copies. With weights,
        the numbers of neighbors to choose from are multiplied by the mean weight: they are numbers of
        distinct rows.
    n_neighbors, power : int or None, float or None
        A value that is given is kept; None chooses it.
    class_weight : (n_classes,) or None
        Factor of the votes, and of the loss, of each class.
    n_jobs : int or None
        Number of threads.
    """
    X, labels, row_weights, mean_weight = levels.X, levels.labels, levels.row_weights, 1.0
    copies = find_copies(X, labels, row_weights)
    if copies is not None:
        row_weights = copies.totals(row_weights)
        X, labels, mean_weight = X[copies.distinct], labels[copies.distinct], float(row_weights.mean())
    votes = _votes(n_neighbors, power, len(X), mean_weight)
    if len(X) < FEWEST_ROWS:
        return VoteChoice.of(votes[:1], np.empty((0, 1)), mean_weight=mean_weight)
    searched = _spread(len(X), MOST_SEARCHED)
    points = _standardized_points(levels, X, row_weights, searched)
    labels = labels[searched]
    rows = _spread(len(points), MOST_ROWS)
    metric = DiagonalMetric(points, np.ones(points.shape[1]))
    n_kept = _n_searched(int(votes[:, 0].max()), row_weights)
    neighbors, distances = find_candidates(metric, rows, n_kept, n_jobs=n_jobs)
    rule = VoteRule(1.0, zero_distance_guard(distances[:, :N_TYPICAL]), class_weight)
    weights = np.ones(len(rows)) if class_weight is None else class_weight[labels[rows]]
    counted = None
    if row_weights is not None:
        row_weights = row_weights[searched]
        weights = weights * row_weights[rows]
        counted = row_weights[neighbors]
    n_classes = len(levels.class_log_weights)
    losses = leave_one_out_losses(
        distances, labels[neighbors], labels[rows], n_classes, votes, rule, weights=counted
    )
    return VoteChoice.of(votes, losses, weights, mean_weight)


def _standardized_points(levels: Levels, X: Floats, row_weights: Floats | None, rows: Indices) -> Floats:
    """Return some rows with standardized numbers, and categories equally far apart: (n, n_coordinates)."""
    standardization = Standardization(X, row_weights, encoding=levels.encoding)
    points = standardization.transform(X[rows])
    if levels.encoding.is_numeric:
        return points
    plain = levels.replace(X=X, row_weights=row_weights)
    return standardization.apply(plain, n_bins=1).encoding.transform(points)


def _n_searched(n_votes: int, row_weights: Floats | None) -> int:
    """Return how many neighbors to search for so many votes.

    Enough for the lightest rows, but at most twice as many as there are on average.
    """
    if row_weights is None:
        return n_votes
    return min(n_rows_for(n_votes, row_weights), 2 * math.ceil(n_votes / row_weights.mean()))


def _votes(n_neighbors: int | None, power: float | None, n_rows: int, mean_weight: float = 1.0) -> Floats:
    """Return the number of neighbors, power and floor of the votes to compare, the default first: (n, 3)."""
    if n_neighbors is None:
        most = max(n_rows - 1, 1)
        default_neighbors = max(round(min(DEFAULT_NEIGHBORS, most) * mean_weight), 1)
        numbers: tuple[int, ...] = tuple(max(round(k * mean_weight), 1) for k in N_NEIGHBORS if k <= most)
    else:
        default_neighbors, numbers = n_neighbors, (n_neighbors,)
    powers = POWERS if power is None else (power,)
    default = (default_neighbors, DEFAULT_POWER if power is None else power, DEFAULT_FLOOR)
    others = [vote for vote in product(numbers, powers, FLOORS) if vote != default]
    return np.array([default, *others], dtype=np.float64)


def _spread(n_rows: int, most: int) -> Indices:
    """Return at most so many rows, evenly spread."""
    return np.linspace(0, n_rows - 1, min(n_rows, most)).astype(np.int64)
