"""The loss of queries in training: which neighbors count, and how."""

from __future__ import annotations

from typing import NamedTuple

from lann._types import Floats, Indices, Labels
from lann.training._kernels import Neighbors
from lann.vote import losses


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


def batch_loss(rule: LossRule, rows: Indices, neighbors: Neighbors, labels: Labels) -> tuple[float, Floats]:
    """Compute the mean loss of a batch, and its slope with respect to each distance.

    Parameters
    ----------
    rule : LossRule
    rows : (n_queries,)
        Points that are the queries.
    neighbors : Neighbors
        Of the queries; the distances are changed.
    labels : (n_points,)

    Returns
    -------
    loss : float
    slopes : (n_queries, k)
    """
    loss, slopes = losses(
        rule.kind, neighbors.distances, labels[neighbors.indices], labels[rows], neighbors.counts,
        rule.power, rule.strength, rule.class_weight,
    )  # fmt: skip
    slopes /= len(rows)
    return loss, slopes
