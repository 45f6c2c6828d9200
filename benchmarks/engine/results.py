"""The measurements of a run, and their means over repeats and data sets."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field

from benchmarks.engine.jobs import Cell, Found, Job, Values


@dataclass
class Results:
    """
    The measurements of a run.

    Parameters
    ----------
    cells
        By part, method and data set: values by repeat.
    failures
        By part, method and data set: the error message of a failed job. Such a cell has no figures, even if
        some of its repeats were measured.
    skipped
        Methods, data sets and parts that cannot be measured here, and why.
    n_missing
        How many jobs have not been run.
    """

    cells: dict[Cell, dict[int, Values]] = field(default_factory=dict)
    failures: dict[Cell, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    n_missing: int = 0

    @property
    def is_complete(self) -> bool:
        return self.n_missing == 0

    def add(self, job: Job, found: Found) -> None:
        """Add the outcome of a job."""
        for method, values in found.items():
            self.cells.setdefault((job.part, method, job.data_set), {})[job.repeat] = values

    def part(self, name: str, score: str = "") -> PartResults:
        """Return a view of one part; `score` is the default of its methods."""
        return PartResults(self, name, score)

    def notes(self) -> list[str]:
        """Describe what failed and what was skipped, one sentence each."""
        failed = [f"{method} failed on {name}: {text}" for (_, method, name), text in self.failures.items()]
        return failed + [f"Without {name}: {reason}" for name, reason in self.skipped.items()]


@dataclass(frozen=True)
class PartResults:
    """The results of one part of a benchmark."""

    results: Results
    name: str
    score: str

    @property
    def methods(self) -> list[str]:
        """The methods that were measured, in the order of their first measurement."""
        return list(dict.fromkeys(method for part, method, _ in self.results.cells if part == self.name))

    @property
    def data_sets(self) -> list[str]:
        """The data sets that were measured, in the order of their first measurement."""
        return list(dict.fromkeys(name for part, _, name in self.results.cells if part == self.name))

    def failure(self, method: str, data_set: str) -> str | None:
        return self.results.failures.get((self.name, method, data_set))

    def cell(self, method: str, data_set: str) -> dict[int, Values]:
        """Return the values by repeat; empty if a job of the cell failed."""
        if self.failure(method, data_set) is not None:
            return {}
        found = self.results.cells.get((self.name, method, data_set), {})
        return {repeat: found[repeat] for repeat in sorted(found)}

    def values(self, method: str, data_set: str, score: str = "") -> list[float]:
        """Return a score for every repeat; empty if some repeat does not have it."""
        values = [values.get(score or self.score) for values in self.cell(method, data_set).values()]
        known = [value for value in values if value is not None]
        return known if len(known) == len(values) else []

    def mean(self, method: str, data_set: str, score: str = "") -> float | None:
        """Return the mean of a score over the repeats."""
        return mean(self.values(method, data_set, score))

    def std(self, method: str, data_set: str, score: str = "") -> float | None:
        """Return the standard deviation of a score over the repeats."""
        return std(self.values(method, data_set, score))

    def first(self, method: str, data_set: str) -> Values | None:
        """Return the values of the first repeat."""
        return next(iter(self.cell(method, data_set).values()), None)

    def over_sets(self, method: str, data_sets: Iterable[str], score: str = "") -> float | None:
        """Return the mean over data sets; None unless the method was measured on all of them."""
        means = [self.mean(method, name, score) for name in data_sets]
        known = [value for value in means if value is not None]
        return mean(known) if len(known) == len(means) else None

    def std_over_sets(self, method: str, data_sets: Iterable[str], score: str = "") -> float | None:
        """
        Return the standard deviation over the repeats of the mean over data sets.

        None unless the method was measured on all data sets, with the same repeats.
        """
        cells = [self.cell(method, name) for name in data_sets]
        if not cells or not cells[0] or any(cell.keys() != cells[0].keys() for cell in cells):
            return None
        rows = [[cell[repeat].get(score or self.score) for cell in cells] for repeat in cells[0]]
        known = [[value for value in row if value is not None] for row in rows]
        return std(statistics.fmean(row) for row in known) if known == rows else None

    def pooled(self, method: str, score: str = "") -> list[float]:
        """Return a score for every repeat on every data set."""
        return [value for name in self.data_sets for value in self.values(method, name, score)]


def mean(values: Iterable[float]) -> float | None:
    """Return the mean; None if there are no values."""
    known = list(values)
    return statistics.fmean(known) if known else None


def std(values: Iterable[float]) -> float | None:
    """Return the standard deviation of a sample (n − 1); 0 for one value, None if there are none."""
    known = list(values)
    return statistics.stdev(known) if len(known) > 1 else (0.0 if known else None)
