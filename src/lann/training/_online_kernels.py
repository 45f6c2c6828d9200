"""Compiled functions that all online updates share: the nearest points of one query, and its loss."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from lann._types import Floats, Indices, Labels
from lann.search import count_found
from lann.vote import weighted_loss


class Nearest(NamedTuple):
    """Buffers for the neighbors of one query: (k,) each.

    Attributes
    ----------
    indices, distances
        Nearest first; -1 and infinite where there are fewer. The loss changes the distances.
    labels, slopes
        Class indices, and ∂loss/∂d, as far as there are neighbors.
    """

    indices: Indices
    distances: Floats
    labels: Labels
    slopes: Floats


@njit(nogil=True, cache=True)
def clear(nearest):
    """Remove all neighbors."""
    nearest.indices[:] = -1
    nearest.distances[:] = np.inf


@njit(nogil=True, cache=True)
def query_loss(nearest, labels, label, epsilon, rule):
    """Compute the loss of one query and its slopes, which are written; return it and the number of neighbors.

    nearest : Nearest; labels : (n_points,); label : of the query; rule : LossRule
    """
    n_near = count_found(nearest.indices)
    if n_near == 0:
        return 0.0, 0
    distances = nearest.distances
    distances += epsilon
    nearest.labels[:n_near] = labels[nearest.indices[:n_near]]
    loss = weighted_loss(
        rule.kind, distances, nearest.labels, label, n_near, rule.power, rule.strength, rule.class_weight,
        nearest.slopes,
    )  # fmt: skip
    return loss, n_near
