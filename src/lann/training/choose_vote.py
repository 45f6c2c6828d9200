"""How many neighbours vote, and how steeply with distance, chosen by leave-one-out."""

from __future__ import annotations

import numpy as np

from lann._types import Floats, Labels
from lann.vote import class_shares, vote_shares

NEIGHBORS = (5, 10, 20)
POWERS = (2.0, 1.0)
DEFAULT = (5, 2.0)


def choose_vote(
    distances: Floats,
    neighbor_labels: Labels,
    labels: Labels,
    n_classes: int,
    epsilon: float,
    *,
    weights: str = "distance",
    neighbors: tuple[int, ...] = NEIGHBORS,
    powers: tuple[float, ...] = POWERS,
) -> tuple[int, float]:
    """The number of neighbours and the power that classify left-out points best.

    Another choice replaces the default, (5, 2) or the first of those offered, only where the points whose
    answer it changes favour it by more than one standard deviation: small gains are mostly luck.

    distances, neighbor_labels : (n_rows, k_max); labels : (n_rows,)
    """
    neighbors = tuple(sorted({min(k, distances.shape[1]) for k in neighbors}))
    options = [(k, p) for k in neighbors for p in powers]

    def correct(option: tuple[int, float]) -> Floats:
        k, power = option
        shares = vote_shares(distances[:, :k], weights=weights, power=power, epsilon=epsilon)
        votes = class_shares(shares, neighbor_labels[:, :k], n_classes)
        return (votes.argmax(axis=1) == labels).astype(np.float64)

    default = DEFAULT if DEFAULT in options else options[0]
    default_correct = correct(default)
    best, best_score = default, default_correct.sum()
    for option in options:
        option_correct = correct(option)
        gain = option_correct - default_correct
        if gain.sum() > np.sqrt(np.abs(gain).sum()) and option_correct.sum() > best_score:
            best, best_score = option, option_correct.sum()
    return best
