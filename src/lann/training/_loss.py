"""The loss of a batch of queries in training, given their neighbors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from lann._types import Floats, Indices
from lann.vote import weighted_loss


class LossRule(NamedTuple):
    """How the loss of a query is computed from its neighbors: see `lann.vote.weighted_loss`.

    Attributes
    ----------
    kind : int
        SHARES or SOFTMAX.
    n_neighbors : int
        Number of neighbors that count.
    power : float
        Exponent of the support.
    strength : float
        Constant of the loss: the floor of the shares, or the temperature of the softmax.
    class_weight : (n_classes,)
        Factor of the votes, and of the loss, of each class.
    """

    kind: int
    n_neighbors: int
    power: float
    strength: float
    class_weight: Floats


class Neighbors(NamedTuple):
    """The nearest candidates of each query.

    Attributes
    ----------
    indices : (n_queries, k)
        Points; -1 for none.
    distances : (n_queries, k)
        Squared, with ε.
    counts : (n_queries,)
        Number of neighbors; they come first.
    """

    indices: Indices
    distances: Floats
    counts: Indices


@njit(nogil=True, cache=True, inline="always")
def batch_loss(neighbors, rows, labels, rule):
    """Compute the mean loss of a batch, and its slope for each distance.

    Parameters
    ----------
    neighbors : Neighbors
        The distances are changed.
    rows : (n_queries,)
        Points that are the queries.
    labels : (n_points,)
    rule : LossRule

    Returns
    -------
    loss : float
    slopes : (n_queries, k)
    """
    near, distances, counts = neighbors
    kind, k, power, strength, class_weight = rule
    slopes = np.zeros(distances.shape)
    near_labels = np.empty(k, np.int64)
    n_queries, total = near.shape[0], 0.0
    for q in range(n_queries):
        if counts[q] == 0:
            continue
        for slot in range(counts[q]):
            near_labels[slot] = labels[near[q, slot]]
        total += weighted_loss(
            kind, distances[q], near_labels, labels[rows[q]], counts[q],
            power, strength, class_weight, slopes[q],
        )  # fmt: skip
        for slot in range(counts[q]):
            slopes[q, slot] /= n_queries
    return total / n_queries, slopes
