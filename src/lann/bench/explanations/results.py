"""What a run of `lann bench explanations` has measured so far, and its means."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from lann.bench.explanations.agreement import Agreement
from lann.bench.explanations.cost import Cost
from lann.bench.explanations.explainers import Explainer
from lann.bench.explanations.task import Sizes

SCORES = (
    "auc", "top_3", "rank", "mass", "deletion", "random_deletion", "stability", "sparseness", "seconds",
)  # fmt: skip


@dataclass(frozen=True)
class Fitted:
    """A model on a data set: how right it is on the test rows, and how long it took to fit."""

    accuracy: float
    seconds: float


@dataclass(frozen=True)
class Deletion:
    """Change of the prediction's probability without the features named, and without some by lot."""

    named: float
    by_lot: float


@dataclass
class Results:
    """
    Measurements of every method.

    Parameters
    ----------
    explainers
        In the order of the tables.
    sizes
        How much is measured.
    parts
        Which parts of the benchmark.
    agreements
        By method and number of features: what was measured, by seed.
    models
        By model and number of features: how good it is, by seed.
    permuted
        By method: areas under the curve of models with permuted labels.
    deletions
        By method and real data set: by split.
    costs
        By number of features.
    skipped
        Methods and data sets that cannot be measured here, and why.
    failures
        By method and data set: the sentence with which it failed. It then has no figure there.
    """

    explainers: list[Explainer]
    sizes: Sizes
    parts: tuple[str, ...]
    agreements: dict[tuple[str, int], dict[int, Agreement]] = field(default_factory=dict)
    models: dict[tuple[str, int], dict[int, Fitted]] = field(default_factory=dict)
    permuted: dict[str, list[float]] = field(default_factory=dict)
    deletions: dict[tuple[str, str], dict[int, Deletion]] = field(default_factory=dict)
    costs: dict[int, Cost] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    failures: dict[tuple[str, str], str] = field(default_factory=dict)

    def values(self, method: str, n_features: int, score: str = "auc") -> list[float]:
        """A score of every seed that was measured; empty if the method has no such score."""
        cell = self.agreements.get((method, n_features), {})
        values = [getattr(cell[seed], score) for seed in sorted(cell)]
        return [] if None in values else values

    def mean(self, method: str, n_features: int, score: str = "auc") -> float | None:
        """The mean of a score over the seeds."""
        return mean(self.values(method, n_features, score))

    def std(self, method: str, n_features: int, score: str = "auc") -> float | None:
        """The standard deviation of a score over the seeds; 0 for one seed."""
        return std(self.values(method, n_features, score))

    def n_rows(self, method: str, n_features: int) -> int | None:
        """How many rows of each data set the method has explained."""
        cell = self.agreements.get((method, n_features), {})
        return next((agreement.n_rows for agreement in cell.values()), None)

    def lead(self, method: str, other: str, n_features: int) -> float | None:
        """By how much a method's mean area is larger, on the seeds and the rows that both have."""
        ours = self.agreements.get((method, n_features), {})
        others = self.agreements.get((other, n_features), {})
        leads = []
        for seed in sorted(ours.keys() & others.keys()):
            left, right = ours[seed].aucs, others[seed].aucs
            n_shared = min(len(left), len(right))
            leads.append(float(np.mean(left[:n_shared]) - np.mean(right[:n_shared])))
        return mean(leads)

    def accuracy(self, model: str, n_features: int) -> float | None:
        """A model's mean accuracy over the seeds."""
        return mean([fit.accuracy for fit in self.models.get((model, n_features), {}).values()])

    def deletion(self, method: str, data_set: str) -> Deletion | None:
        """Both changes on a real data set, means over its splits."""
        splits = list(self.deletions.get((method, data_set), {}).values())
        if not splits:
            return None
        return Deletion(
            statistics.fmean(split.named for split in splits),
            statistics.fmean(split.by_lot for split in splits),
        )


def mean(values: Iterable[float]) -> float | None:
    """None if there are no values."""
    known = list(values)
    return statistics.fmean(known) if known else None


def std(values: Iterable[float]) -> float | None:
    """Of the sample (n − 1); 0 for a single value, None for none."""
    known = list(values)
    return statistics.stdev(known) if len(known) > 1 else (0.0 if known else None)
