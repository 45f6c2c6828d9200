"""The losses that train the vote: compiled functions of one query."""

from __future__ import annotations

import numpy as np

from lann._compile import njit

SHARES, SOFTMAX = 0, 1


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
        slope = power * distances[j] ** (-power - 1.0) / temperature
        if not 0.0 < slope < np.inf:  # d^(−p−1) is out of range, d^−p/β is not
            slope = power * (distances[j] ** -power / temperature) / distances[j]
        slopes[j] = slope * residual
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
