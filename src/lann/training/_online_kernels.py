"""Compiled functions that all online updates share: the nearest points of one query, and its loss."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lann._compile import njit
from lann._types import Floats, Indices, Labels
from lann.search import count_found
from lann.vote import weighted_loss


class Nearest(NamedTuple):
    """Buffers for the neighbors of one query: (k,) each.

    Attributes
    ----------
    indices, distances
        Nearest first; -1 and infinite where there are fewer. The loss changes the distances.
    labels, weights, slopes
        Class indices, weights of the votes, and ∂loss/∂d, as far as there are neighbors.
    """

    indices: Indices
    distances: Floats
    labels: Labels
    weights: Floats
    slopes: Floats


@njit(nogil=True, cache=True)
def new_nearest(k):
    """Return buffers for the k neighbors of a query: a `Nearest`."""
    return Nearest(np.empty(k, np.int64), np.empty(k), np.empty(k, np.int64), np.empty(k), np.empty(k))


@njit(nogil=True, cache=True)
def clear(nearest):
    """Remove all neighbors."""
    nearest.indices[:] = -1
    nearest.distances[:] = np.inf


@njit(nogil=True, cache=True)
def query_loss(nearest, targets, query, epsilon, rule):
    """Compute the loss of one query and its slopes, which are written; return it and the number of neighbors.

    nearest : Nearest; targets : Targets; query : the point that is the query; rule : LossRule
    """
    n_near = count_found(nearest.indices)
    if n_near == 0:
        return 0.0, 0
    distances = nearest.distances
    distances += epsilon
    labels, weights = targets
    nearest.labels[:n_near] = labels[nearest.indices[:n_near]]
    nearest.weights[:n_near] = weights[nearest.indices[:n_near]]
    loss = weighted_loss(
        rule, distances, nearest.labels, labels[query], n_near, nearest.weights, weights[query],
        nearest.slopes,
    )  # fmt: skip
    return loss, n_near
