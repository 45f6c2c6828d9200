"""k-means with results that do not depend on the number of threads."""

from __future__ import annotations

import numpy as np

from lann._types import Floats, Indices

MAX_ITER = 100


def cluster_centers(X: Floats, n_clusters: int, rng: np.random.Generator) -> Floats:
    """Return the centers of k-means with the initialization of k-means++.

    Parameters
    ----------
    X : (n_rows, n_features)
    n_clusters : int
    rng : Generator

    Returns
    -------
    centers : (n_centers, n_features)
        n_centers is `n_clusters`, or the number of distinct rows if that is smaller.
    """
    centers = _initial_centers(X, n_clusters, rng)
    nearest = None
    for _ in range(MAX_ITER):
        previous, nearest = nearest, squared_distances(X, centers).argmin(axis=1)
        if previous is not None and np.array_equal(previous, nearest):
            break
        centers = _cluster_means(X, nearest, centers)
    return centers


def squared_distances(X: Floats, centers: Floats) -> Floats:
    """Return the squared distances between rows and centers, (n_rows, n_centers).

    They are computed from products, which lose digits if the mean of the rows is far from 0.
    """
    distances = X @ (-2.0 * centers.T)
    distances += np.square(X).sum(axis=1)[:, None]
    distances += np.square(centers).sum(axis=1)
    return np.maximum(distances, 0.0, out=distances)


def _initial_centers(X: Floats, n_clusters: int, rng: np.random.Generator) -> Floats:
    """Draw rows with probabilities proportional to the squared distance to the nearest row drawn before."""
    chosen = [int(rng.integers(len(X)))]
    distances = np.square(X - X[chosen[0]]).sum(axis=1)
    while len(chosen) < n_clusters and distances.any():
        cumulative = np.cumsum(distances)
        row = int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))
        chosen.append(min(row, len(X) - 1))
        distances = np.minimum(distances, np.square(X - X[chosen[-1]]).sum(axis=1))
    return X[chosen]


def _cluster_means(X: Floats, nearest: Indices, centers: Floats) -> Floats:
    """Return the mean of the rows of each cluster, or its previous center if it has no rows."""
    sizes = np.bincount(nearest, minlength=len(centers))
    order = np.argsort(nearest, kind="stable")
    nonempty = np.flatnonzero(sizes)
    starts = (np.cumsum(sizes) - sizes)[nonempty]
    means = centers.copy()
    means[nonempty] = np.add.reduceat(X[order], starts, axis=0) / sizes[nonempty, None]
    return means
