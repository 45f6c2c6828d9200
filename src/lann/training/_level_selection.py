"""The decision whether a level helps, by the votes on rows that it has not been trained on."""

from __future__ import annotations

import numpy as np

from lann._types import Floats, Indices
from lann.metrics import DiagonalMetric, MatrixMetric
from lann.search import smallest
from lann.training._loss import Targets
from lann.vote import VoteRule, class_shares, zero_distance_guard

N_VOTERS = 5
# From this many rows on, a twentieth of them decides. Fewer could not tell, and training needs them.
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
    labels, weights = targets
    rule = VoteRule(1.0, zero_distance_guard(distances))
    shares = rule.shares(distances, labels[near], weights[near])
    predicted = class_shares(shares, labels[near], int(labels.max()) + 1).argmax(axis=1)
    return np.where(predicted != labels[rows], weights[rows], 0.0)


def is_significantly_better(errors: Floats, others: Floats) -> bool:
    """Return whether there are fewer errors than others, by more than one standard deviation of the gain."""
    gains = others - errors
    return bool(gains.sum() > np.sqrt(np.square(gains).sum()))
