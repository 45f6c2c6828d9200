"""Which training points are asked next, and who could be near them."""

from __future__ import annotations

import numpy as np

from lann._types import Indices


class QueryStream:
    """Training points in shuffled order, over and over."""

    def __init__(self, rows: Indices, rng: np.random.Generator) -> None:
        self._rows = rows
        self._rng = rng
        self._waiting = np.empty(0, np.int64)

    def take(self, n: int) -> Indices:
        drawn, n_drawn = [self._waiting], len(self._waiting)
        while n_drawn < n:
            drawn.append(self._rng.permutation(self._rows))
            n_drawn += len(self._rows)
        everything = np.concatenate(drawn)
        taken, self._waiting = everything[:n], everything[n:]
        return taken


def stratified_sample(labels: Indices, size: int, rng: np.random.Generator, *, at_least: int = 50) -> Indices:
    """About `size` rows, in order: of every class its share, and a small class nearly whole."""
    if len(labels) <= size:
        return np.arange(len(labels))
    shuffled = rng.permutation(len(labels))
    chosen = []
    for rows in (shuffled[labels[shuffled] == c] for c in np.unique(labels)):
        wanted = max(round(len(rows) * size / len(labels)), min(len(rows), at_least))
        chosen.append(rows[:wanted])
    return np.sort(np.concatenate(chosen))


def asked_rows(n_points: int, held_out: Indices | None) -> Indices:
    """The rows that training asks: all that are not held out."""
    rows = np.arange(n_points)
    return rows if held_out is None else np.setdiff1d(rows, held_out)


def hold_out(n_points: int, fraction: float, rng: np.random.Generator) -> tuple[Indices, Indices]:
    """Split rows into those asked in training and those asked to see how it goes.

    A point held out as a query still serves others as a neighbor, so this costs no neighbors.
    """
    rows = rng.permutation(n_points)
    n_held = min(max(1, round(fraction * n_points)), n_points - 1)
    return np.sort(rows[n_held:]), np.sort(rows[:n_held])
