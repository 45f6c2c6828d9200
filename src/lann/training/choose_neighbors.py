"""How many neighbors vote, chosen by leave-one-out."""

from __future__ import annotations

import numpy as np

from lann._types import Floats, Labels
from lann.vote import class_shares, vote_shares

NEIGHBORS = (5, 10, 20)


def choose_neighbors(
    distances: Floats,
    neighbor_labels: Labels,
    labels: Labels,
    n_classes: int,
    epsilon: float,
    *,
    weights: str = "distance",
    power: float = 1.0,
    neighbors: tuple[int, ...] = NEIGHBORS,
    class_votes: Floats | None = None,
) -> int:
    """The number of neighbors that classifies left-out points best.

    Another choice replaces the first one offered only where the points whose answer it changes favor it by
    more than one standard deviation: small gains are mostly luck.

    distances, neighbor_labels : (n_rows, k_max); labels : (n_rows,)
    """
    each = None if class_votes is None else class_votes[neighbor_labels]
    options = list(dict.fromkeys(min(k, distances.shape[1]) for k in neighbors))

    def correct(k: int) -> Floats:
        votes = None if each is None else each[:, :k]
        shares = vote_shares(distances[:, :k], weights=weights, power=power, epsilon=epsilon, votes=votes)
        by_class = class_shares(shares, neighbor_labels[:, :k], n_classes)
        return (by_class.argmax(axis=1) == labels).astype(np.float64)

    best, usual = options[0], correct(options[0])
    best_gain = 0.0
    for k in options[1:]:
        gain = correct(k) - usual
        if gain.sum() > max(np.sqrt(np.abs(gain).sum()), best_gain):
            best, best_gain = k, float(gain.sum())
    return best
