"""The loss of a batch of queries in training, given their neighbors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lann._compile import njit
from lann._types import Floats, Indices, Labels
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
    n_classes : int
    """

    kind: int
    n_neighbors: int
    power: float
    strength: float
    n_classes: int


class Targets(NamedTuple):
    """What the points of a training are to predict, and how much each of them counts.

    Attributes
    ----------
    labels : (n_points,)
        Class indices.
    weights : (n_points,)
        Factor of the votes, and of the loss, of each point; all 1 where points count alike.
    """

    labels: Labels
    weights: Floats

    @classmethod
    def equal(cls, labels: Labels) -> Targets:
        """Return targets of points that count alike."""
        return cls(labels, np.ones(len(labels)))

    def subset(self, points: Indices) -> Targets:
        """Return the targets of some of the points."""
        return Targets(self.labels[points], self.weights[points])


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


def batch_loss(neighbors: Neighbors, rows: Indices, targets: Targets, rule: LossRule) -> tuple[float, Floats]:
    """Compute the mean loss of a batch, and its slope for each distance.

    Parameters
    ----------
    neighbors : Neighbors
        The distances are changed.
    rows : (n_queries,)
        Points that are the queries.
    targets : Targets
    rule : LossRule

    Returns
    -------
    loss : float
    slopes : (n_queries, k)
    """
    slopes = np.zeros(neighbors.distances.shape)
    return loss_with_slopes(neighbors, rows, targets, rule, slopes), slopes


@njit(nogil=True, cache=True, inline="always")
def loss_with_slopes(neighbors, rows, targets, rule, slopes):
    """Write the slopes to an array of zeros, and return the loss: see `batch_loss`."""
    near, distances, counts = neighbors
    labels, weights = targets
    k = rule.n_neighbors
    near_labels, near_weights = np.empty(k, np.int64), np.empty(k)
    n_queries, total = near.shape[0], 0.0
    for q in range(n_queries):
        if counts[q] == 0:
            continue
        for slot in range(counts[q]):
            near_labels[slot] = labels[near[q, slot]]
            near_weights[slot] = weights[near[q, slot]]
        total += weighted_loss(
            rule, distances[q], near_labels, labels[rows[q]], counts[q],
            near_weights, weights[rows[q]], slopes[q],
        )  # fmt: skip
        for slot in range(counts[q]):
            slopes[q, slot] /= n_queries
    return total / n_queries
