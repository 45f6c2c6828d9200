"""Point metrics of new rows: the mean over their same-class neighbors, weighted by closeness."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lann._types import Floats, Indices, Labels
from lann.model import RowMemory
from lann.vote import zero_distance_guard

N_NEIGHBORS = 5


class Inherited(NamedTuple):
    """Point metrics of new rows.

    Attributes
    ----------
    log_weights : (n_new, n_axes)
    matrices : (n_new, n_axes, rank) or None
    """

    log_weights: Floats
    matrices: NDArray | None


def inherit(memory: RowMemory, points: Floats, labels: Labels, *, n_jobs: int | None = None) -> Inherited:
    """Return point metrics for new rows; a row that is already there inherits its own.

    Parameters
    ----------
    memory : RowMemory
        Rows from which is inherited, and their metrics.
    points : (n_new, n_axes)
        The new rows, on the axes.
    labels : (n_new,)
    """
    near, shares = _same_class_neighbors(memory, points, labels, n_jobs)
    rows, position = np.unique(near, return_inverse=True)
    levels, position = memory.levels_of(rows), position.reshape(near.shape)
    log_weights = np.einsum("qk,qkf->qf", shares, levels.point_log_weights[position])
    if levels.point_matrices is None:
        return Inherited(log_weights, None)
    return Inherited(log_weights, mean_matrices(levels.point_matrices, position, shares))


def _same_class_neighbors(
    memory: RowMemory, points: Floats, labels: Labels, n_jobs: int | None
) -> tuple[Indices, Floats]:
    """Return the same-class neighbors of new rows, and the share that each has in the mean.

    Returns
    -------
    near, shares : (n_new, N_NEIGHBORS)
        Shares add up to 1; all are 0 where the class has no rows so far.
    """
    shape = (len(points), N_NEIGHBORS)
    near, shares = np.zeros(shape, np.int64), np.zeros(shape)
    n_old = memory.class_counts
    for label in np.unique(labels):
        new, k = np.flatnonzero(labels == label), min(N_NEIGHBORS, int(n_old[label]))
        if k == 0:
            continue
        found, distances = memory.nearest(points[new], k, label=int(label), n_jobs=n_jobs)
        closeness = 1.0 / (distances + 1e-9 * zero_distance_guard(distances))
        near[new, :k] = found
        shares[new, :k] = closeness / closeness.sum(axis=1, keepdims=True)
    return near, shares


def mean_matrices(matrices: NDArray, near: Indices, shares: Floats) -> NDArray:
    """Return means of matrices, and the identity where all shares are 0: (n_new, n_axes, rank).

    Parameters
    ----------
    matrices : (n_points, n_axes, rank)
    near, shares : (n_new, k)
        The matrices in each mean, and their shares.
    """
    means = np.zeros((len(near), *matrices.shape[1:]), matrices.dtype)
    for slot in range(near.shape[1]):
        means += shares[:, slot, None, None].astype(matrices.dtype) * matrices[near[:, slot]]
    means[~shares.any(axis=1)] = np.eye(*matrices.shape[1:])
    return means
