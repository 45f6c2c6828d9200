"""Gaussian densities of the classes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.covariance import ledoit_wolf_shrinkage

from lann._types import Floats, Labels

# Less shrinkage than this does not make a singular covariance invertible.
MIN_SHRINKAGE = 1e-6


class Gaussians(NamedTuple):
    """A Gaussian density per class.

    Attributes
    ----------
    priors : (n_classes,)
        Frequencies of the classes.
    means : (n_classes, n_features)
    precisions : (n_classes, n_features, n_features)
        Inverse covariances.
    log_determinants : (n_classes,)
        Of the covariances.
    """

    priors: Floats
    means: Floats
    precisions: Floats
    log_determinants: Floats

    def log_densities(self, queries: Floats) -> tuple[Floats, Floats]:
        """Return the logarithms of the densities times the priors, and their negative gradients.

        Returns
        -------
        log_densities : (n_queries, n_classes)
            Up to a constant.
        gradients : (n_queries, n_classes, n_features)
            Σ_c⁻¹ (x − μ_c).
        """
        steps = queries[None] - self.means[:, None]  # (n_classes, n_queries, n_features)
        gradients = steps @ self.precisions
        squared_lengths = np.einsum("cqf,cqf->qc", steps, gradients)
        log_densities = np.log(self.priors) - 0.5 * (squared_lengths + self.log_determinants)
        return log_densities, gradients.transpose(1, 0, 2)


def class_gaussians(
    X: Floats, labels: Labels, n_classes: int, *, shrinkage: float | str
) -> tuple[Gaussians, Floats]:
    """Estimate a Gaussian density per class, with shrunk covariances.

    Parameters
    ----------
    X : (n_rows, n_features)
    labels : (n_rows,)
        Class indices.
    n_classes : int
    shrinkage : float or "auto"
        Share of a covariance that is replaced by its mean variance in all directions.

    Returns
    -------
    gaussians : Gaussians
    shrinkages : (n_classes,)
    """
    n_features = X.shape[1]
    priors = np.bincount(labels, minlength=n_classes) / len(labels)
    means = np.stack([X[labels == label].mean(axis=0) for label in range(n_classes)])
    within_variance = float(np.square(X - means[labels]).mean()) or 1.0
    shrinkages, precisions, log_determinants = np.empty(n_classes), [], np.empty(n_classes)
    for label in range(n_classes):
        centered = X[labels == label] - means[label]
        covariance = centered.T @ centered / len(centered)
        # A class without variance, such as a class of one row, gets that of all classes.
        variance = float(np.trace(covariance)) / n_features or within_variance
        shrinkages[label] = _auto_shrinkage(centered, variance) if shrinkage == "auto" else shrinkage
        covariance *= 1.0 - shrinkages[label]
        covariance.flat[:: n_features + 1] += shrinkages[label] * variance
        values, axes = np.linalg.eigh(covariance)
        # The smallest eigenvalues have rounding errors of the order of the largest.
        values = np.maximum(values, MIN_SHRINKAGE * shrinkages[label] * variance)
        precisions.append((axes / values) @ axes.T)
        log_determinants[label] = np.log(values).sum()
    return Gaussians(priors, means, np.stack(precisions), log_determinants), shrinkages


def _auto_shrinkage(centered: Floats, variance: float) -> float:
    """Return the shrinkage of Ledoit and Wolf for centered rows, at least MIN_SHRINKAGE; 1 for one row."""
    if len(centered) == 1:
        return 1.0
    shrinkage = ledoit_wolf_shrinkage(centered / np.sqrt(variance), assume_centered=True)
    return min(max(float(shrinkage), MIN_SHRINKAGE), 1.0)
