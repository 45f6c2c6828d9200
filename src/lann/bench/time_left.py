"""How long the rest of a run will take, judged by what has been measured."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean

from lann.bench.measure import Measurement

Cell = tuple[str, str]


class TimeLeft:
    """
    Expected seconds of measurements yet to come.

    Where a method has been measured on a data set, the next split takes as long as the mean of those before;
    elsewhere its time per number of the training part is that of the largest set it was measured on.

    Parameters
    ----------
    sizes
        By data set: numbers in the training part.
    """

    def __init__(self, sizes: dict[str, int]) -> None:
        self.sizes = sizes
        self._seconds: dict[Cell, list[float]] = {}

    def note(self, cell: Cell, measured: Measurement) -> None:
        """Take a measurement into account. Queries are asked twice: for labels and for probabilities."""
        seconds = measured.fit_seconds + 2 * measured.predict_seconds
        self._seconds.setdefault(cell, []).append(seconds)

    def of(self, waiting: Iterable[Cell]) -> float | None:
        """Seconds that these will take; None as long as some of their methods have never been measured."""
        expected = [self._of_one(cell) for cell in waiting]
        known = [seconds for seconds in expected if seconds is not None]
        return sum(known) if len(known) == len(expected) else None

    def _of_one(self, cell: Cell) -> float | None:
        method, data_set = cell
        if cell in self._seconds:
            return fmean(self._seconds[cell])
        others = [name for other, name in self._seconds if other == method]
        if not others:
            return None
        largest = max(others, key=self.sizes.__getitem__)
        return fmean(self._seconds[method, largest]) * self.sizes[data_set] / self.sizes[largest]
