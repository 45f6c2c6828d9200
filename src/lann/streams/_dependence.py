"""How much each feature separates the classes of some rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lann._support.types import Floats, Indices, Labels
from lann.vote import HUGE

# Rows that are compared with each other, and neighbors of each class that count.
MAX_ROWS, N_NEIGHBORS = 200, 5


def evenly_spaced(n_rows: int, n_kept: int = MAX_ROWS) -> Indices:
    """Return positions of some rows in order, evenly spaced and with the last."""
    n_kept = min(n_rows, n_kept)
    return (np.arange(1, n_kept + 1) * n_rows) // max(n_kept, 1) - 1


def feature_dependence(X: Floats, labels: Labels) -> Floats:
    """Return the share of each feature in what separates the nearest rows of other classes from the same.

    For every row, a feature's part of the squared distance to its nearest rows of other classes, minus its
    part of that to its nearest rows of the same class, is divided by the former distance. The means over all
    rows, those below 0 set to 0, are scaled to the sum 1.

    Parameters
    ----------
    X : (n_rows, n_features)
        In the coordinates in which distances are measured; NaN is a missing value.
    labels : (n_rows,)

    Returns
    -------
    shares : (n_features,)
        All 0 if the rows are of one class, or if no feature separates the classes.
    """
    n_rows, n_features = X.shape
    steps = np.square(X[:, None, :] - X[None, :, :])  # (n_rows, n_rows, n_features)
    common = np.isfinite(steps).sum(axis=2)
    steps = np.nan_to_num(steps, nan=0.0) * (n_features / np.maximum(common, 1))[:, :, None]
    distances = np.where(common > 0, steps.sum(axis=2), HUGE)
    np.fill_diagonal(distances, np.inf)
    same = labels[:, None] == labels
    np.fill_diagonal(same, False)
    parts = np.zeros((n_rows, n_features))
    for row in range(n_rows):
        to_same, to_others = (
            _mean_parts(steps[row], distances[row], candidates)
            for candidates in (same[row], labels != labels[row])
        )
        total = 0.0 if to_others is None else to_others.sum()
        if to_same is not None and to_others is not None and total > 0:
            parts[row] = (to_others - to_same) / total
    shares = np.maximum(parts.mean(axis=0), 0.0) if n_rows else np.zeros(n_features)
    total = shares.sum()
    return shares / total if total > 0 else np.zeros(n_features)


def _mean_parts(steps: Floats, distances: Floats, candidates: NDArray[np.bool_]) -> Floats | None:
    """Return the mean parts of the features in the squared distance to the nearest candidates, if any."""
    positions = np.flatnonzero(candidates & (distances < HUGE))
    if not len(positions):
        return None
    nearest = positions[np.argsort(distances[positions], kind="stable")[:N_NEIGHBORS]]
    return steps[nearest].mean(axis=0)
