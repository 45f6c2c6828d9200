"""The judgement whether a level helps, by the votes on points from which it has not learned."""

from __future__ import annotations

import numpy as np

from lann._types import Floats, Indices, Labels
from lann.metrics.diagonal import DiagonalMetric
from lann.metrics.matrix import MatrixMetric
from lann.search.topk import smallest
from lann.training.settings import Settings
from lann.vote import class_shares, vote_shares, zero_distance_guard

N_VOTERS = 5


def errors(
    metric: DiagonalMetric | MatrixMetric,
    labels: Labels,
    n_classes: int,
    judges: Indices,
    candidates: Indices,
    settings: Settings,
) -> Floats:
    """1 for every judge that its five nearest candidates outvote, else 0: (n_judges,).

    judges : (n_judges,) points of the metric; candidates : (n_judges, C), -1 for none
    """
    distances = metric.distances(metric.points[judges], np.maximum(candidates, 0))
    near, distances = smallest(distances, candidates, min(N_VOTERS, candidates.shape[1]))
    votes = settings.votes_of(n_classes)[labels[near]]
    epsilon = zero_distance_guard(distances)
    shares = vote_shares(distances, weights="distance", power=1.0, epsilon=epsilon, votes=votes)
    voted = class_shares(shares, labels[near], n_classes).argmax(axis=1)
    return (voted != labels[judges]).astype(np.float64)


def clearly_fewer(errors: Floats, others: Floats) -> bool:
    """Whether there are fewer errors than others, by more than one standard deviation of the difference."""
    gains = others - errors
    return bool(gains.sum() > np.sqrt(np.abs(gains).sum()))
