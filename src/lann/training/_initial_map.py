"""The initial linear map where there are fewer axes than coordinates."""

from __future__ import annotations

import math

import numpy as np

from lann._inputs import weighted_moments
from lann._types import Floats, Labels
from lann.metrics import Levels

# How much of the identity is mixed with the covariance within classes before it is inverted.
SHRINKAGE = 0.3


def default_n_components(n_coordinates: int) -> int:
    """Return 16, or twice the square root of the number of coordinates where that is more."""
    return min(n_coordinates, max(16, round(2.0 * math.sqrt(n_coordinates))))


def n_axes_of(form: str, n_components: int | None, n_coordinates: int) -> int:
    """Return the number of axes for a form of point metrics."""
    if form != "low_rank":
        return n_coordinates
    return min(n_components or default_n_components(n_coordinates), n_coordinates)


def with_initial_map(levels: Levels, n_axes: int) -> Levels:
    """Return the levels with an initial map, if they have none and there are fewer axes than coordinates."""
    n_points = len(levels.X)
    if levels.components is not None or n_axes == levels.encoding.n_coordinates:
        return levels
    return levels.replace(
        components=discriminant_axes(
            levels.encoding.transform(levels.X), levels.labels, n_axes, levels.row_weights
        ),
        class_log_weights=np.zeros((len(levels.class_log_weights), n_axes)),
        point_log_weights=np.zeros((n_points, n_axes)),
    )


def discriminant_axes(
    curved: Floats, labels: Labels, n_axes: int, row_weights: Floats | None = None
) -> Floats:
    """Return the directions in which classes differ most, then those in which rows do.

    These are the leading eigenvectors of the total covariance after a transform that makes the covariance
    within classes, shrunk toward the identity, the identity: linear discriminants first, principal components
    after them.

    Parameters
    ----------
    curved : (n_rows, n_features)
        Rows on the curves.
    labels : (n_rows,)
    n_axes : int
    row_weights : (n_rows,) or None
        How much each row counts; None is 1 for all.

    Returns
    -------
    components : (n_axes, n_features)
        Of mean squared length 1.
    """
    centered = curved - weighted_moments(curved, row_weights)[0]
    scale = max(float(weighted_moments(centered, row_weights)[1].mean()), np.finfo(np.float64).tiny)
    residuals = curved.copy()
    for label in np.unique(labels):
        members = labels == label
        own = None if row_weights is None else row_weights[members]
        residuals[members] -= weighted_moments(curved[members], own)[0]
    if row_weights is not None:
        roots = np.sqrt(row_weights / row_weights.mean())[:, None]
        centered, residuals = roots * centered, roots * residuals
    within = residuals.T @ residuals / (len(curved) * scale)
    total = centered.T @ centered / (len(curved) * scale)
    values, vectors = np.linalg.eigh((1.0 - SHRINKAGE) * within + SHRINKAGE * np.eye(len(within)))
    whitening = vectors / np.sqrt(values)  # (n_features, n_features): columns
    spread, directions = np.linalg.eigh(whitening.T @ total @ whitening)
    leading = np.argsort(-spread, kind="stable")[:n_axes]
    axes = (whitening @ directions[:, leading]).T
    # Eigenvectors are unique up to their signs.
    signs = np.sign(axes[np.arange(n_axes), np.abs(axes).argmax(axis=1)])
    return axes * signs[:, None] / np.sqrt(np.square(axes).sum() / n_axes)
