"""The vote: from distances to shares and class probabilities, and the losses that train it.

A neighbor at squared distance d supports its label with (d + ε)^−p; ε keeps zero distances finite. The losses
are compiled functions of one query.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from lann._types import Floats, Labels

SHARES, SOFTMAX = 0, 1
# Distances that overflow count as equally far.
HUGE = 1e300
# The numbers of neighbors among which "auto" chooses; the first is the default.
NEIGHBORS = (5, 10, 20)


@dataclass(frozen=True)
class VoteRule:
    """How neighbors vote.

    Attributes
    ----------
    power : float
        Exponent p of the support; 0 counts every neighbor alike.
    epsilon : float
        ε, which is added to every squared distance.
    class_weight : (n_classes,) or None
        Factor of the support of each class; None is 1 for all.
    """

    power: float = 1.0
    epsilon: float = 1.0
    class_weight: Floats | None = None

    def shares(self, distances: Floats, labels: Labels, weights: Floats | None = None) -> Floats:
        """Return each neighbor's share of the vote; rows add up to 1.

        Parameters
        ----------
        distances : (n_queries, k)
            Squared, ascending.
        labels : (n_queries, k)
            Class indices of the neighbors.
        weights : (n_queries, k) or None
            Factor of the support of each neighbor; None is 1 for all.
        """
        # Relative to the nearest, so that neither tiny nor huge distances leave the range of a float.
        guarded = np.minimum(distances, HUGE) + self.epsilon
        support = (guarded / guarded[:, :1]) ** -self.power
        if self.class_weight is not None:
            support = support * self.class_weight[labels]
        if weights is None:
            return support / support.sum(axis=1, keepdims=True)
        support = support * weights
        # One after another, so that further neighbors of weight 0 do not change the rounding.
        return support / np.cumsum(support, axis=1)[:, -1:]


def counted_weights(weights: Floats, n_votes: float) -> Floats:
    """Return how much of each neighbor's weight is counted, if the nearest vote until `n_votes` are counted.

    The last neighbor counts with what is left: with integer weights, these are the votes of the `n_votes`
    nearest rows, if every row is repeated by its weight.

    Parameters
    ----------
    weights : (n_queries, k)
        Of the neighbors, nearest first.
    n_votes : float

    Returns
    -------
    counted : (n_queries, k)
    """
    before = np.cumsum(weights, axis=1) - weights
    return np.clip(n_votes - before, 0.0, weights)


def class_shares(shares: Floats, labels: Labels, n_classes: int) -> Floats:
    """Add up the shares of each class.

    Parameters
    ----------
    shares, labels : (n_queries, k)
        Shares and class indices of the neighbors.
    n_classes : int

    Returns
    -------
    probabilities : (n_queries, n_classes)
    """
    n_queries = len(shares)
    cells = (np.arange(n_queries)[:, None] * n_classes + labels).ravel()
    total = np.bincount(cells, weights=shares.ravel(), minlength=n_queries * n_classes)
    return total.astype(np.float64, copy=False).reshape(n_queries, n_classes)


def zero_distance_guard(distances: Floats) -> float:
    """Return ε: a thousandth of the median squared distance to a neighbor.

    Parameters
    ----------
    distances : (n_queries, k)
        Squared distances of training rows to their neighbors.
    """
    distances = np.minimum(distances, HUGE)
    positive = distances[distances > 0]
    if len(positive) == 0:
        return 1.0
    return 1e-3 * (float(np.median(distances)) or float(np.median(positive)))


def choose_n_neighbors(
    distances: Floats, neighbor_labels: Labels, labels: Labels, n_classes: int, rule: VoteRule
) -> int:
    """Choose the number of neighbors with the best leave-one-out accuracy.

    Another number replaces the default only if the rows whose prediction it changes favor it by more than one
    standard deviation: small gains are mostly chance.

    Parameters
    ----------
    distances, neighbor_labels : (n_rows, max(NEIGHBORS))
        Of the neighbors of some training rows, themselves excluded; fewer columns where there are fewer rows.
    labels : (n_rows,)
        Of these training rows.
    """
    options = list(dict.fromkeys(min(k, distances.shape[1]) for k in NEIGHBORS))

    def correct(k: int) -> Floats:
        shares = rule.shares(distances[:, :k], neighbor_labels[:, :k])
        by_class = class_shares(shares, neighbor_labels[:, :k], n_classes)
        return (by_class.argmax(axis=1) == labels).astype(np.float64)

    best, default = options[0], correct(options[0])
    best_gain = 0.0
    for k in options[1:]:
        gain = correct(k) - default
        if gain.sum() > max(np.sqrt(np.abs(gain).sum()), best_gain):
            best, best_gain = k, float(gain.sum())
    return best


@njit(nogil=True, cache=True)
def share_loss(distances, labels, label, n_near, power, floor, slopes):
    """Compute −log of the label's share of the support, and its slope with respect to each distance.

    With s_j = d_j^−p, T = Σ s_j and A = Σ_{same label} s_j, the loss is −log[(A + ηT) / ((1 + η) T)]:
    independent of the scale of d, and bounded through η (`floor`) where no neighbor has the label.
    `distances` include ε; the first `n_near` entries count. `slopes` is written.
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
    """Compute −log P(label), P = softmax(S / β) of the supports S(y) = Σ_{y_j = y} d_j^−p, and its slopes.

    The published loss has p = 1. A class without a neighbor contributes exp(0).
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
        residual = (1.0 - probability) if labels[j] == label else -probability
        slopes[j] = power * distances[j] ** (-power - 1.0) / temperature * residual
    return -(scores[label] - highest - np.log(total))


@njit(nogil=True, cache=True)
def neighbor_loss(kind, distances, labels, label, n_near, power, strength, n_classes, slopes):
    """Compute one of the two losses; `strength` is its constant: the floor η, or the temperature β."""
    if kind == SHARES:
        return share_loss(distances, labels, label, n_near, power, strength, slopes)
    return softmax_loss(distances, labels, label, n_near, power, strength, n_classes, slopes)


@njit(nogil=True, cache=True)
def weighted_loss(rule, distances, labels, label, n_near, weights, weight, slopes):
    """Compute `neighbor_loss` with the support of each neighbor, and the loss, multiplied by weights.

    rule : LossRule; weights : (n_near,) of the neighbors; weight : of the query. Changes `distances`.
    """
    kind, _, power, strength, n_classes = rule
    for slot in range(n_near):
        # c d^−p is (c^(−1/p) d)^−p: a larger weight is a shorter distance.
        if weights[slot] != 1.0:
            distances[slot] *= weights[slot] ** (-1.0 / power)
    loss = neighbor_loss(kind, distances, labels, label, n_near, power, strength, n_classes, slopes)
    for slot in range(n_near):
        slopes[slot] *= weight
        if weights[slot] != 1.0:
            slopes[slot] *= weights[slot] ** (-1.0 / power)
    return weight * loss
