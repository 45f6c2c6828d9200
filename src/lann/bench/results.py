"""What a run has measured so far, and its means."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field

from lann.bench.measure import Measurement
from lann.bench.methods import Method

SCORES = ("accuracy", "balanced_accuracy", "log_loss", "ece", "fit_seconds", "predict_seconds")


@dataclass
class Results:
    """
    Measurements of every method on every data set.

    Parameters
    ----------
    protocol, seed, n_splits
        How it was, or is to be, measured.
    methods
        In the order of the tables.
    data_sets
        Those that could be loaded, in the paper's order.
    skipped
        Why the others could not.
    splits
        By method and data set: what was measured, by split.
    failures
        By method and data set: the sentence with which a method failed. It then has no figure there, even if
        some of the splits went well.
    """

    protocol: str
    seed: int
    n_splits: int
    methods: list[Method]
    data_sets: list[str]
    skipped: dict[str, str] = field(default_factory=dict)
    splits: dict[tuple[str, str], dict[int, Measurement]] = field(default_factory=dict)
    failures: dict[tuple[str, str], str] = field(default_factory=dict)

    def cell(self, method: str, data_set: str) -> dict[int, Measurement]:
        """What was measured, by split; empty where a method failed."""
        key = (method, data_set)
        return {} if key in self.failures else self.splits.get(key, {})

    def values(self, method: str, data_set: str, score: str = "accuracy") -> list[float]:
        """A score in every split that was measured; empty if the method has no such score."""
        cell = self.cell(method, data_set)
        values = [getattr(cell[split], score) for split in sorted(cell)]
        return [] if None in values else values

    def mean(self, method: str, data_set: str, score: str = "accuracy") -> float | None:
        """The mean of a score over the splits."""
        values = self.values(method, data_set, score)
        return statistics.fmean(values) if values else None

    def std(self, method: str, data_set: str, score: str = "accuracy") -> float | None:
        """The standard deviation of a score over the splits (of the sample: n − 1); 0 for one split."""
        values = self.values(method, data_set, score)
        if not values:
            return None
        return statistics.stdev(values) if len(values) > 1 else 0.0

    def over_sets(
        self, method: str, score: str = "accuracy", data_sets: Iterable[str] | None = None
    ) -> float | None:
        """The mean over data sets (by default all of the run); None unless the method has all of them."""
        means = [self.mean(method, name, score) for name in data_sets or self.data_sets]
        known = [mean for mean in means if mean is not None]
        return statistics.fmean(known) if known and len(known) == len(means) else None

    @property
    def is_complete(self) -> bool:
        """Whether every method that did not fail has all its splits."""
        return all(
            (method.name, name) in self.failures
            or len(self.splits.get((method.name, name), {})) == self.n_splits
            for method in self.methods
            for name in self.data_sets
        )
