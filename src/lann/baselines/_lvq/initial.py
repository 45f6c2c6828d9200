"""Initial prototypes and axes of learning vector quantization."""

from __future__ import annotations

import numpy as np

from lann._types import Floats, Labels
from lann.baselines._components import principal_axes
from lann.baselines._kmeans import cluster_centers


def initial_prototypes(
    X: Floats, labels: Labels, n_per_class: int, rng: np.random.Generator
) -> tuple[Floats, Labels]:
    """Return the mean of every class, or the centers of k-means within every class.

    Parameters
    ----------
    X : (n_rows, n_features)
    labels : (n_rows,)
        Class indices.
    n_per_class : int
        A class with fewer distinct rows has one prototype for each of these.
    rng : Generator

    Returns
    -------
    prototypes : (n_prototypes, n_features)
    prototype_labels : (n_prototypes,)
        Ascending.
    """
    prototypes, prototype_labels = [], []
    for label in np.unique(labels):
        members = X[labels == label]
        if n_per_class == 1:
            centers = members.mean(axis=0, keepdims=True)
        else:
            centers = cluster_centers(members, n_per_class, rng)
        prototypes.append(centers)
        prototype_labels.append(np.full(len(centers), label))
    return np.concatenate(prototypes), np.concatenate(prototype_labels)


def initial_axes(centered: Floats, rank: int) -> Floats:
    """Return the features as axes or, if `rank` is smaller, the first principal axes.

    Parameters
    ----------
    centered : (n_rows, n_features)
        Rows with mean 0.
    rank : int

    Returns
    -------
    axes : (rank, n_features)
        Orthonormal.
    """
    n_features = centered.shape[1]
    if rank == n_features:
        return np.eye(n_features)
    axes = principal_axes(centered)[1][:rank]
    # The sign of an eigenvector is arbitrary: make its largest entry positive.
    largest = np.abs(axes).argmax(axis=1)
    return axes * np.sign(axes[np.arange(rank), largest])[:, None]
