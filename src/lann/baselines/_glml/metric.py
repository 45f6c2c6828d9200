"""The metric at a query that minimizes the bias of the nearest-neighbor error, given class densities."""

from __future__ import annotations

import numpy as np

from lann._types import Floats
from lann.baselines._glml.gaussians import Gaussians
from lann.metrics import overflow_is_far


@overflow_is_far
def bias_matrices(gaussians: Gaussians, queries: Floats) -> Floats:
    """Return the matrix B of each query, up to a positive factor: (n_queries, n_features, n_features).

    See `GLML` for B. It is divided by the square of the largest density times the second largest, so that it
    does not underflow.
    """
    log_densities, gradients = gaussians.log_densities(queries)
    weights = _class_weights(log_densities)
    n_queries, n_features = queries.shape
    matrices = (gradients * weights[:, :, None]).transpose(0, 2, 1) @ gradients
    precisions = gaussians.precisions.reshape(len(gaussians.priors), -1)
    matrices -= (weights @ precisions).reshape(n_queries, n_features, n_features)
    # At queries so far away that densities overflow, no direction is preferred.
    matrices[~np.isfinite(matrices).all(axis=(1, 2))] = 0.0
    return matrices


def _class_weights(log_densities: Floats) -> Floats:
    """Return the factor of each class in B, divided as described in `bias_matrices`: (n_queries, n_classes).

    The factor is p_c (Σ_{c'≠c} p_c'² − p_c Σ_{c'≠c} p_c') = p_c (S₂ − p_c S₁) with S₁ = Σ p_c, S₂ = Σ p_c².
    For the class of the largest density p, this is p² Σ_{c'} p_c' (p_c'/p − 1), which avoids cancellation.
    """
    ordered = np.sort(log_densities, axis=1)
    largest, second = ordered[:, -1:], ordered[:, -2:-1]
    densities = np.exp(log_densities - largest)
    top = log_densities.argmax(axis=1)
    rows = np.arange(len(log_densities))
    others = log_densities - second
    others[rows, top] = -np.inf
    others = np.exp(others)  # relative to the second largest; 0 for the largest
    sums, squares = densities.sum(axis=1, keepdims=True), np.square(densities).sum(axis=1, keepdims=True)
    weights = others * (squares - densities * sums)
    weights[rows, top] = (others * (densities - 1.0)).sum(axis=1)
    return weights


def minimal_bias_metric(matrices: Floats) -> tuple[Floats, Floats]:
    """Return the eigenvalues and eigenvectors of the metric M that minimizes |tr(M⁻¹ B)|.

    Parameters
    ----------
    matrices : (..., n_features, n_features)
        B.

    Returns
    -------
    values : (..., n_features)
        Scaled such that the largest is 1; all 1 if B is 0.
    axes : (..., n_features, n_features)
        Columns are eigenvectors.
    """
    values, axes = np.linalg.eigh(matrices)
    n_positive = (values > 0).sum(axis=-1, keepdims=True)
    n_negative = (values < 0).sum(axis=-1, keepdims=True)
    values = np.where(values > 0, n_positive, n_negative) * np.abs(values)
    largest = values.max(axis=-1, keepdims=True)
    return np.where(largest > 0, values / np.where(largest > 0, largest, 1.0), 1.0), axes
