"""The comparison of both sides: table, check and records."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from statistics import geometric_mean
from typing import Any

from benchmarks.common.datasets import SHORT_NAMES
from benchmarks.engine import Check, Results, Row, Table, check_margins, mean, std
from benchmarks.engine.tables import NONE, share, signed
from benchmarks.originals.processes import Pair

ORIGINAL, OURS = PARTS = ("original", "ours")

TOLERANCE = 0.01
"""How far below the original's mean accuracy ours may be."""


def name_of_ours(pair: Pair) -> str:
    """Return the name of ours in the results: it is measured anew beside each original."""
    return f"{pair.ours} beside {pair.original}"


@dataclass(frozen=True)
class Comparison:
    """An original and ours on one data set, over the splits that both have."""

    data_set: str
    pair: Pair
    results: Results

    def both(self, score: str) -> tuple[list[float], list[float]]:
        """Return a score of the original and of ours; empty if either failed."""
        original = self.results.part(ORIGINAL).cell(self.pair.original, self.data_set)
        ours = self.results.part(OURS).cell(name_of_ours(self.pair), self.data_set)
        shared = sorted(original.keys() & ours.keys())
        return [original[split][score] for split in shared], [ours[split][score] for split in shared]

    @property
    def difference(self) -> float | None:
        """Mean accuracy of ours minus that of the original."""
        original, ours = (mean(values) for values in self.both("accuracy"))
        return None if original is None or ours is None else ours - original

    @property
    def ratio(self) -> float | None:
        """Seconds to fit of the original for each second of ours."""
        original, ours = self.both("fit_seconds")
        return sum(original) / sum(ours) if ours else None

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": "comparison",
            "data_set": self.data_set,
            "original": self.pair.original,
            "ours": self.pair.ours,
            "difference": self.difference,
            "ratio": self.ratio,
        }


def make_table(comparisons: list[Comparison], results: Results, caption: str) -> Table:
    """Return all comparisons, with a section for each data set."""
    sections = [
        (SHORT_NAMES.get(data_set, data_set), [_row(comparison) for comparison in group])
        for data_set, group in groupby(comparisons, key=lambda comparison: comparison.data_set)
    ]
    notes = [caption]
    ratios = [(ratio, comparison) for comparison in comparisons if (ratio := comparison.ratio) is not None]
    if ratios:
        least, slowest = min(ratios, key=lambda pair: pair[0])
        typical = geometric_mean(ratio for ratio, _ in ratios)
        notes.append(
            f"Originals take {typical:.3g} times as long to fit (geometric mean); the least is {least:.3g}, "
            f"{slowest.pair.ours} on {slowest.data_set} against {slowest.pair.original}."
        )
    head = ("original", "accuracy", "ours", "diff.", "seconds", "ours", "ratio")
    return Table("Originals and ours", head, sections, (*notes, *results.notes()))


def _row(comparison: Comparison) -> Row:
    name = f" {comparison.pair.original}"
    if comparison.difference is None:
        original = _one_side(comparison, ORIGINAL, comparison.pair.original)
        return Row(name, (original, _one_side(comparison, OURS, name_of_ours(comparison.pair)), *[NONE] * 4))
    seconds = comparison.both("fit_seconds")
    cells = (
        *(_with_std(values) for values in comparison.both("accuracy")),
        signed(comparison.difference, 3).replace("0.", ".", 1),
        *(_three_digits(mean(values)) for values in seconds),
        _three_digits(comparison.ratio),
    )
    return Row(name, cells)


def _one_side(comparison: Comparison, part: str, method: str) -> str:
    """Return the accuracy of one side, or why there is none."""
    found = comparison.results.part(part, "accuracy")
    reason = found.failure(method, comparison.data_set)
    if reason is not None:
        return reason if len(reason) < 16 else "failed"
    return _with_std(found.values(method, comparison.data_set))


def _with_std(values: list[float]) -> str:
    spread = f"±{share(std(values))}" if len(values) > 1 else ""
    return f"{share(mean(values))}{spread}"


def _three_digits(value: float | None) -> str:
    return NONE if value is None else f"{value:.3g}"


def make_check(comparisons: list[Comparison]) -> Check:
    """Check that ours is nowhere less accurate than the original, within the tolerance."""
    return check_margins(
        f"ours is at most {TOLERANCE:g} less accurate than the original, on every data set",
        {
            f"{comparison.pair.ours} on {comparison.data_set} against {comparison.pair.original}": (
                comparison.difference
            )
            for comparison in comparisons
        },
        least=-TOLERANCE,
    )
