"""The judgment whether a level helps, by the votes on points from which it has not learned."""

from __future__ import annotations

import numpy as np

from lann._types import Floats, Indices, Labels
from lann.metrics import DiagonalMetric, MatrixMetric
from lann.search import smallest
from lann.training._settings import Settings
from lann.vote import VoteRule, class_shares, zero_distance_guard

N_VOTERS = 5
# From so many points on a twentieth of them judges a level. Fewer could not tell, and would be missed where
# they are not learned from.
JUDGED_FROM = 2_000
JUDGES, MOST_JUDGES = 0.05, 1_000


def draw_judges(rows: Indices, settings: Settings, rng: np.random.Generator) -> Indices:
    """Some of the rows, in order; none if nothing is to be judged, or there are few."""
    # The rows may be without the judges of another level, and those that early stopping watches.
    if not settings.drop_levels or len(rows) < 0.85 * JUDGED_FROM:
        return rows[:0]
    return np.sort(rng.choice(rows, min(round(JUDGES * len(rows)), MOST_JUDGES), replace=False))


def errors(
    metric: DiagonalMetric | MatrixMetric,
    labels: Labels,
    n_classes: int,
    judges: Indices,
    candidates: Indices,
    settings: Settings,
) -> Floats:
    """For every judge that its five nearest candidates outvote the votes of its class, else 0: (n_judges,).

    judges : (n_judges,) points of the metric; candidates : (n_judges, C), -1 for none
    """
    distances = metric.distances(metric.points[judges], np.maximum(candidates, 0))
    near, distances = smallest(distances, candidates, min(N_VOTERS, candidates.shape[1]))
    votes = settings.class_weights_of(n_classes)
    shares = VoteRule(1.0, zero_distance_guard(distances), votes).shares(distances, labels[near])
    voted = class_shares(shares, labels[near], n_classes).argmax(axis=1)
    return np.where(voted != labels[judges], votes[labels[judges]], 0.0)


def clearly_fewer(errors: Floats, others: Floats) -> bool:
    """Whether there are fewer errors than others, by more than one standard deviation of the difference."""
    gains = others - errors
    return bool(gains.sum() > np.sqrt(np.square(gains).sum()))
