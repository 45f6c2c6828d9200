"""Point metrics of new rows: the mean over their same-class neighbors, weighted by closeness."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lann._types import Floats, Indices, Labels
from lann.metrics import Levels
from lann.search import coarse_search
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


def inherit(levels: Levels, X: Floats, labels: Labels, *, n_jobs: int | None = None) -> Inherited:
    """Return point metrics for new rows; a row that is already there inherits its own.

    Parameters
    ----------
    levels : Levels
        Rows from which is inherited, and their metrics.
    X : (n_new, n_features)
        In the user's units.
    labels : (n_new,)
    """
    near, shares = _same_class_neighbors(levels, X, labels, n_jobs)
    log_weights = np.einsum("qk,qkf->qf", shares, levels.point_log_weights[near])
    if levels.point_matrices is None:
        return Inherited(log_weights, None)
    return Inherited(log_weights, mean_matrices(levels.point_matrices, near, shares))


def _same_class_neighbors(
    levels: Levels, X: Floats, labels: Labels, n_jobs: int | None
) -> tuple[Indices, Floats]:
    """Return the same-class neighbors of new rows, and the share that each has in the mean.

    Returns
    -------
    near, shares : (n_new, N_NEIGHBORS)
        Shares add up to 1; all are 0 where the class has no rows so far.
    """
    near, shares = np.zeros((len(X), N_NEIGHBORS), np.int64), np.zeros((len(X), N_NEIGHBORS))
    metric = levels.class_metric()
    queries = levels.transform(X)
    for label in np.unique(labels):
        old, new = np.flatnonzero(levels.labels == label), np.flatnonzero(labels == label)
        if len(old) == 0:
            continue
        k = min(N_NEIGHBORS, len(old))
        search = coarse_search(metric.subset(old), len(new))
        found, distances = search.query(queries[new], k, n_jobs=n_jobs)
        closeness = 1.0 / (distances + 1e-9 * zero_distance_guard(distances))
        near[new, :k] = old[found]
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
