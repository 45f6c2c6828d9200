"""From distances to votes, shares and losses: functions of a few neighbors.

A neighbor at distance d (squared) supports its label with (d + ε)^−p; ε keeps zero distances finite.
The losses are written per query and compiled; `losses` runs them over a batch.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from lann._types import Floats, Labels

SHARES, SOFTMAX = 0, 1
# Distances that overflow count as equally far.
HUGE = 1e300
LOSSES = {"shares": SHARES, "softmax": SOFTMAX}


def vote_shares(
    distances: Floats, *, weights: str, power: float, epsilon: float, votes: Floats | None = None
) -> Floats:
    """Each neighbor's part of the vote, adding up to 1 per query: (n_queries, k).

    distances : (n_queries, k) squared, ascending
    votes : (n_queries, k) how many votes each neighbor has; one by default
    """
    if weights == "uniform":
        support = np.ones(distances.shape)
    else:
        # Relative to the nearest, so that neither tiny nor huge distances leave the range of a float.
        guarded = np.minimum(distances, HUGE) + epsilon
        relative = guarded / guarded[:, :1]
        support = relative**-power
    if votes is not None:
        support = support * votes
    return support / support.sum(axis=1, keepdims=True)


def class_shares(shares: Floats, labels: Labels, n_classes: int) -> Floats:
    """The vote per class: (n_queries, n_classes).

    shares, labels : (n_queries, k)
    """
    n_queries = len(shares)
    slots = (np.arange(n_queries)[:, None] * n_classes + labels).ravel()
    total = np.bincount(slots, weights=shares.ravel(), minlength=n_queries * n_classes)
    return total.astype(np.float64, copy=False).reshape(n_queries, n_classes)


def zero_distance_guard(distances: Floats) -> float:
    """ε: a thousandth of the usual distance to a neighbor.

    distances : (n_queries, k) of training points to their neighbors
    """
    distances = np.minimum(distances, HUGE)
    positive = distances[distances > 0]
    if len(positive) == 0:
        return 1.0
    return 1e-3 * (float(np.median(distances)) or float(np.median(positive)))


@njit(nogil=True, cache=True)
def share_loss(distances, labels, label, n_near, power, floor, slopes):
    """−log of the label's share of the support, and its slope with respect to each distance.

    With s_j = d_j^−p, T = Σ s_j and A = Σ_{same} s_j, the loss is −log[(A + ηT) / ((1 + η) T)]: free of any
    scale of d, and bounded by η (`floor`) where no neighbor has the label.
    `distances` already hold ε; the first `n_near` entries count.
    """
    nearest = np.inf
    for j in range(n_near):
        nearest = min(nearest, distances[j])
    total = 0.0
    same = 0.0
    for j in range(n_near):
        support = (nearest / distances[j]) ** power
        slopes[j] = support
        total += support
        if labels[j] == label:
            same += support
    padded = same + floor * total
    for j in range(n_near):
        support = slopes[j]
        inside = (1.0 + floor) if labels[j] == label else floor
        slopes[j] = power * support * (inside / padded - 1.0 / total) / distances[j]
    return -np.log(padded / ((1.0 + floor) * total))


@njit(nogil=True, cache=True)
def softmax_loss(distances, labels, label, n_near, power, temperature, n_classes, slopes):
    """−log P(label), P = softmax(S / β) of the supports S(y) = Σ_{y_j = y} d_j^−p, and its slopes.

    The published loss has p = 1. Classes without a neighbor hold exp(0) each.
    """
    scores = np.zeros(n_classes)
    for j in range(n_near):
        scores[labels[j]] += distances[j] ** -power / temperature
    highest = scores.max()
    total = 0.0
    for y in range(n_classes):
        total += np.exp(scores[y] - highest)
    for j in range(n_near):
        probability = np.exp(scores[labels[j]] - highest) / total
        pull = (1.0 - probability) if labels[j] == label else -probability
        slopes[j] = power * distances[j] ** (-power - 1.0) / temperature * pull
    return -(scores[label] - highest - np.log(total))


@njit(nogil=True, cache=True)
def neighbor_loss(kind, distances, labels, label, n_near, power, strength, n_classes, slopes):
    """One of the two losses; `strength` is its own constant: the floor η, or the temperature β."""
    if kind == SHARES:
        return share_loss(distances, labels, label, n_near, power, strength, slopes)
    return softmax_loss(distances, labels, label, n_near, power, strength, n_classes, slopes)


@njit(nogil=True, cache=True)
def weighted_loss(kind, distances, labels, label, n_near, power, strength, votes, slopes):
    """As `neighbor_loss`, with every support, and the query's loss, times the votes of its class.

    votes : (n_classes,) all 1 where classes count alike. Changes `distances`.
    """
    for slot in range(n_near):
        # c d^−p is (c^(−1/p) d)^−p: who has more votes seems nearer.
        if votes[labels[slot]] != 1.0:
            distances[slot] *= votes[labels[slot]] ** (-1.0 / power)
    loss = neighbor_loss(kind, distances, labels, label, n_near, power, strength, votes.shape[0], slopes)
    for slot in range(n_near):
        slopes[slot] *= votes[label]
        if votes[labels[slot]] != 1.0:
            slopes[slot] *= votes[labels[slot]] ** (-1.0 / power)
    return votes[label] * loss


@njit(nogil=True, cache=True)
def losses(kind, distances, labels, targets, counts, power, strength, votes):
    """The loss of every query of a batch: its mean, and the slopes (n_queries, k). Changes `distances`."""
    slopes = np.zeros(distances.shape)
    total = 0.0
    for query in range(distances.shape[0]):
        if counts[query] > 0:
            total += weighted_loss(
                kind, distances[query], labels[query], targets[query], counts[query],
                power, strength, votes, slopes[query],
            )  # fmt: skip
    return total / distances.shape[0], slopes
