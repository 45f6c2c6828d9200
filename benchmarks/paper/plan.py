"""What a run of the paper's table measures, and its figures beside the published ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchmarks.common.measure import SCORES
from benchmarks.common.methods import Method
from benchmarks.common.published import published_accuracy
from benchmarks.engine import PartResults, difference

PART = "splits"


@dataclass(frozen=True)
class Plan:
    """
    What a run measures.

    Parameters
    ----------
    protocol, seed, n_splits
        How data sets are split.
    methods
        In the order of the tables.
    data_sets
        Those that could be loaded, in the order of the paper.
    """

    protocol: str
    seed: int
    n_splits: int
    methods: list[Method]
    data_sets: list[str]

    def mean(self, found: PartResults, method: str, score: str = "accuracy") -> float | None:
        """Return the mean over all data sets of the run."""
        return found.over_sets(method, self.data_sets, score)

    def published_fields(self, found: PartResults) -> dict[tuple[str, str, str], dict[str, Any]]:
        """Return the published accuracy of every cell, and the difference from it."""
        fields = {}
        for method in self.methods:
            for name in self.data_sets:
                published = published_accuracy(name, method.published)
                fields[found.name, method.name, name] = {
                    "published": published,
                    "difference": difference(found.mean(method.name, name), published),
                }
        return fields

    def mean_records(self, found: PartResults) -> list[dict[str, Any]]:
        """Return a JSON record with the means of every method that has all data sets."""
        return [
            {
                "kind": "mean",
                "method": method.name,
                "mean": self.mean(found, method.name),
                "n_sets": len(self.data_sets),
                **{score: self.mean(found, method.name, score) for score in SCORES},
            }
            for method in self.methods
            if self.mean(found, method.name) is not None
        ]
