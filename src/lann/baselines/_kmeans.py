"""Centers of clusters, the same at any number of threads."""

from __future__ import annotations

import numpy as np

from lann._types import Floats, Indices

# Rounds after which the centers hardly move.
MOST_ROUNDS = 100


def cluster_centers(points: Floats, n_clusters: int, rng: np.random.Generator) -> Floats:
    """k-means, started as k-means++: (at most n_clusters, n_features); fewer where points are equal.

    points : (n_points, n_features)
    """
    centers = _far_apart(points, n_clusters, rng)
    nearest = None
    for _ in range(MOST_ROUNDS):
        before, nearest = nearest, squared_distances(points, centers).argmin(axis=1)
        if before is not None and np.array_equal(before, nearest):
            break
        centers = _means(points, nearest, centers)
    return centers


def squared_distances(points: Floats, centers: Floats) -> Floats:
    """(n_points, n_centers), never negative; as exact as the center of the data is near 0."""
    found = points @ (-2.0 * centers.T)
    found += np.square(points).sum(axis=1)[:, None]
    found += np.square(centers).sum(axis=1)
    return np.maximum(found, 0.0, out=found)


def _far_apart(points: Floats, n_clusters: int, rng: np.random.Generator) -> Floats:
    """Points drawn one after another, by the square of how far they are from those drawn before."""
    chosen = [int(rng.integers(len(points)))]
    distances = np.square(points - points[chosen[0]]).sum(axis=1)
    while len(chosen) < n_clusters and distances.any():
        reached = np.cumsum(distances)
        place = int(np.searchsorted(reached, rng.random() * reached[-1], side="right"))
        chosen.append(min(place, len(points) - 1))
        distances = np.minimum(distances, np.square(points - points[chosen[-1]]).sum(axis=1))
    return points[chosen]


def _means(points: Floats, nearest: Indices, centers: Floats) -> Floats:
    """The mean of the points of each cluster; one that has lost all its points stays where it is."""
    sizes = np.bincount(nearest, minlength=len(centers))
    order = np.argsort(nearest, kind="stable")
    filled = np.flatnonzero(sizes)
    starts = (np.cumsum(sizes) - sizes)[filled]
    moved = centers.copy()
    moved[filled] = np.add.reduceat(points[order], starts, axis=0) / sizes[filled, None]
    return moved
