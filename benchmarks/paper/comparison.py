"""LANN compared with each other method: on how many data sets it is ahead, and significantly so."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.common.published import COLUMNS, PUBLISHED
from benchmarks.engine import PartResults
from benchmarks.paper.plan import Plan

OURS = "lann"
SIGNIFICANT = 0.05
TEST = f"corrected resampled t-test of Nadeau and Bengio, p < {SIGNIFICANT:g}"


@dataclass(frozen=True)
class Pairing:
    """Two methods on one data set: the mean difference over the splits that both have, and its p-value."""

    data_set: str
    difference: float
    p_value: float | None

    @property
    def verdict(self) -> str:
        """`win`, `tie` or `loss`; empty if there are too few splits for a test."""
        if self.p_value is None:
            return ""
        if self.p_value >= SIGNIFICANT:
            return "tie"
        return "win" if self.difference > 0 else "loss"


@dataclass(frozen=True)
class Comparison:
    """LANN and another method, on every data set that both have."""

    method: str
    other: str
    pairings: list[Pairing]

    def count(self, verdict: str) -> int | None:
        """Return on how many data sets the verdict is `win`, `tie` or `loss`; None if none was tested."""
        verdicts = [pairing.verdict for pairing in self.pairings]
        return verdicts.count(verdict) if any(verdicts) else None

    @property
    def n_ahead(self) -> int:
        """On how many data sets the mean of LANN is higher."""
        return sum(pairing.difference > 1e-12 for pairing in self.pairings)

    @property
    def mean_difference(self) -> float:
        return statistics.fmean(pairing.difference for pairing in self.pairings)

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": "comparison",
            "method": self.method,
            "other": self.other,
            "ahead": self.n_ahead,
            "n_sets": len(self.pairings),
            "mean": self.mean_difference,
            "wins": self.count("win"),
            "ties": self.count("tie"),
            "losses": self.count("loss"),
            "test": TEST,
            "sets": [{**asdict(pairing), "verdict": pairing.verdict} for pairing in self.pairings],
        }


def corrected_t_test(differences: Sequence[float], n_train: float, n_test: float) -> float | None:
    """
    Test whether paired differences over overlapping splits have mean 0: the corrected resampled t-test.

    Splits of one data set share most of their rows, so that their differences are not independent and the
    usual t-test rejects far too often. The variance of their mean is therefore taken to be
    (1/n + n_test/n_train) s² rather than s²/n.

    Parameters
    ----------
    differences
        One for every split.
    n_train, n_test
        Number of training rows and of test rows of a split.

    Returns
    -------
    p_value
        Two-sided; None for fewer than two splits. If all differences are equal it is 0, or 1 if all of them
        are 0.

    References
    ----------
    C. Nadeau, Y. Bengio: Inference for the Generalization Error, Machine Learning 52 (2003), 239–281.
    """
    from scipy import stats

    n = len(differences)
    if n < 2:
        return None
    mean, variance = statistics.fmean(differences), statistics.variance(differences)
    if variance == 0:
        return 1.0 if mean == 0 else 0.0
    t = mean / math.sqrt((1 / n + n_test / n_train) * variance)
    return float(2 * stats.t.sf(abs(t), n - 1))


def compare(found: PartResults, plan: Plan, ours: str = OURS) -> list[Comparison]:
    """
    Compare LANN with every other method that shares a data set with it.

    With the protocol of the paper, the columns of the paper come last; they have no splits, hence no test.
    """
    others: dict[str, list[Pairing | None]] = {
        method.name: [_pair(found, ours, method.name, name) for name in plan.data_sets]
        for method in plan.methods
        if method.name != ours
    }
    if plan.protocol == "paper":
        for column in COLUMNS:
            others[f"published {column}"] = [_pair_published(found, ours, column, name) for name in PUBLISHED]
    comparisons = {
        other: [pairing for pairing in pairings if pairing is not None] for other, pairings in others.items()
    }
    return [Comparison(ours, other, pairings) for other, pairings in comparisons.items() if pairings]


def _pair_published(found: PartResults, ours: str, column: str, data_set: str) -> Pairing | None:
    mean = found.mean(ours, data_set)
    return None if mean is None else Pairing(data_set, mean - PUBLISHED[data_set].accuracies[column], None)


def _pair(found: PartResults, ours: str, other: str, data_set: str) -> Pairing | None:
    left, right = found.cell(ours, data_set), found.cell(other, data_set)
    shared = sorted(left.keys() & right.keys())
    if not shared:
        return None
    differences = [left[split]["accuracy"] - right[split]["accuracy"] for split in shared]
    sizes = left[shared[0]]
    p_value = corrected_t_test(differences, sizes["n_train"], sizes["n_test"])
    return Pairing(data_set, statistics.fmean(differences), p_value)
