"""Where a map with fewer axes than there are features starts."""

from __future__ import annotations

import math

import numpy as np

from lann._types import Floats, Labels
from lann.training._settings import Settings

# How much of the identity is mixed with the covariance within classes before it is inverted.
SHRINKAGE = 0.3


def usual_rank(n_features: int) -> int:
    """Twice the square root of the number of features, but at least 16 as far as there are that many."""
    return min(n_features, max(16, round(2.0 * math.sqrt(n_features))))


def wanted_axes(settings: Settings, n_features: int) -> int:
    """How many axes points are to be measured along."""
    if settings.form != "low_rank":
        return n_features
    return min(settings.n_components or usual_rank(n_features), n_features)


def start_map(points: Floats, labels: Labels, rank: int) -> Floats:
    """The directions along which classes differ most, then those along which points do: (rank, n_features).

    Leading eigenvectors of the total covariance where that within classes, shrunk toward the identity, has
    been made the identity: linear discriminants first, principal components where these are used up.

    points : (n_points, n_features) on their curves
    """
    centered = points - points.mean(axis=0)
    scale = max(float(centered.var(axis=0).mean()), np.finfo(np.float64).tiny)
    inside = points.copy()
    for label in np.unique(labels):
        inside[labels == label] -= points[labels == label].mean(axis=0)
    within = inside.T @ inside / (len(points) * scale)
    total = centered.T @ centered / (len(points) * scale)
    values, vectors = np.linalg.eigh((1.0 - SHRINKAGE) * within + SHRINKAGE * np.eye(len(within)))
    whitening = vectors / np.sqrt(values)  # (n_features, n_features): columns
    spread, turns = np.linalg.eigh(whitening.T @ total @ whitening)
    leading = np.argsort(-spread, kind="stable")[:rank]
    axes = (whitening @ turns[:, leading]).T
    # Eigenvectors are unique but for their signs.
    signs = np.sign(axes[np.arange(rank), np.abs(axes).argmax(axis=1)])
    return axes * signs[:, None] / np.sqrt(np.square(axes).sum() / rank)
