"""Where learning vector quantization begins: prototypes within the classes, and axes to see them along."""

from __future__ import annotations

import numpy as np

from lann._types import Floats, Labels
from lann.baselines._kmeans import cluster_centers


def starting_prototypes(
    points: Floats, labels: Labels, per_class: int, rng: np.random.Generator
) -> tuple[Floats, Labels]:
    """The mean of every class, or the centers of k-means within it, sorted by class.

    A class with fewer than `per_class` different points has one prototype for each of these.
    """
    prototypes, owners = [], []
    for label in np.unique(labels):
        members = points[labels == label]
        if per_class == 1:
            centers = members.mean(axis=0, keepdims=True)
        else:
            centers = cluster_centers(members, per_class, rng)
        prototypes.append(centers)
        owners.append(np.full(len(centers), label))
    return np.concatenate(prototypes), np.concatenate(owners)


def starting_axes(points: Floats, rank: int) -> Floats:
    """All features, or the principal axes where there are fewer axes: (rank, n_features), orthogonal.

    points : centered
    """
    n_features = points.shape[1]
    if rank == n_features:
        return np.eye(n_features)
    _, axes = np.linalg.eigh(points.T @ points)  # ascending
    axes = axes[:, ::-1][:, :rank].T
    # The sign of an eigenvector is nobody's choice: its largest entry is made positive.
    largest = np.abs(axes).argmax(axis=1)
    return axes * np.sign(axes[np.arange(rank), largest])[:, None]
