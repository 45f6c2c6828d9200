"""The choice of training rows: queries in shuffled order, samples, and rows that are held back."""

from __future__ import annotations

import numpy as np

from lann._types import Floats, Indices, Labels


class QueryStream:
    """Rows in shuffled order, without end: every row once before any row again.

    Parameters
    ----------
    rows : (n_rows,)
    rng : Generator
    """

    def __init__(self, rows: Indices, rng: np.random.Generator) -> None:
        self._rows = rows
        self._rng = rng
        self._waiting = np.empty(0, np.int64)

    def take(self, n: int) -> Indices:
        """Return the next n rows."""
        drawn, n_drawn = [self._waiting], len(self._waiting)
        while n_drawn < n:
            drawn.append(self._rng.permutation(self._rows))
            n_drawn += len(self._rows)
        joined = np.concatenate(drawn)
        taken, self._waiting = joined[:n], joined[n:]
        return taken


def stratified_sample(labels: Labels, size: int, rng: np.random.Generator, *, at_least: int = 50) -> Indices:
    """Return about `size` rows, ascending: each class in proportion, but at least `at_least` rows of it."""
    if len(labels) <= size:
        return np.arange(len(labels))
    shuffled = rng.permutation(len(labels))
    chosen = []
    for rows in (shuffled[labels[shuffled] == c] for c in np.unique(labels)):
        wanted = max(round(len(rows) * size / len(labels)), min(len(rows), at_least))
        chosen.append(rows[:wanted])
    return np.sort(np.concatenate(chosen))


def draw_validation_rows(n_rows: int, fraction: float | None, rng: np.random.Generator) -> Indices:
    """Return the rows whose loss decides on early stopping, ascending; none if `fraction` is None.

    They are no queries of the training, but still neighbors of others.
    """
    if fraction is None:
        return np.empty(0, np.int64)
    n_drawn = min(max(1, round(fraction * n_rows)), n_rows - 1)
    return np.sort(rng.permutation(n_rows)[:n_drawn])


def draw_axis_mask(
    n_axes: int, dropout: float, rng: np.random.Generator, *, widths: Indices | None = None
) -> Floats:
    """Return 1 for each axis, or 0 with probability `dropout`: (n_axes,).

    Parameters
    ----------
    widths : (n_features,) or None
        Number of coordinates of each feature, which are dropped together where they are the axes.
    """
    if widths is None or widths.sum() != n_axes:
        return np.where(rng.random(n_axes) < dropout, 0.0, 1.0)
    return np.repeat(np.where(rng.random(len(widths)) < dropout, 0.0, 1.0), widths)
