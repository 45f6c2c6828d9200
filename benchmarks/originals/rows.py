"""What the comparison found: one row for each data set and original, and a verdict on all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from statistics import geometric_mean
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.table import Table
from sides import Pair

from lann.bench.paper_tables import SHORT_NAMES

TOLERANCE = 0.01
"""How far below the original's mean accuracy ours may be."""


@dataclass
class Row:
    """A data set and a pair, with what was measured of either side on each split, in the same order."""

    data_set: str
    pair: Pair
    original: list[dict[str, Any]] = field(default_factory=list)
    ours: list[dict[str, Any]] = field(default_factory=list)

    @property
    def failures(self) -> list[str]:
        """Why a side has no figures on some split, each reason once."""
        sides = ((self.pair.original, self.original), (f"{self.pair.ours} (ours)", self.ours))
        found = [f"{name}: {one['failure']}" for name, side in sides for one in side if "failure" in one]
        return list(dict.fromkeys(found))

    def both(self, what: str) -> tuple[list[float], list[float]]:
        """A figure of the original and of ours, over the splits on which neither failed."""
        pairs = [
            (a[what], b[what])
            for a, b in zip(self.original, self.ours, strict=True)
            if "failure" not in a and "failure" not in b
        ]
        return [a for a, _ in pairs], [b for _, b in pairs]

    @property
    def compared(self) -> bool:
        """Whether there is a split that both sides have measured; else there are no figures."""
        return bool(self.both("accuracy")[0])

    @property
    def difference(self) -> float:
        """Ours less the original's mean accuracy."""
        original, ours = self.both("accuracy")
        return float(np.mean(ours) - np.mean(original))

    @property
    def ratio(self) -> float:
        """Seconds of the original to fit for each second of ours."""
        original, ours = self.both("fit_seconds")
        return float(np.sum(original) / np.sum(ours))

    def as_dict(self) -> dict[str, Any]:
        """For a file."""
        return {
            "data_set": self.data_set,
            "original": self.pair.original,
            "ours": self.pair.ours,
            "difference": self.difference if self.compared else None,
            "ratio": self.ratio if self.compared else None,
            "splits": [{"original": a, "ours": b} for a, b in zip(self.original, self.ours, strict=True)],
        }


def table(rows: list[Row], caption: str) -> Table:
    """All rows, one section a data set; narrow enough for a terminal of 80 columns."""
    shown = Table(title="Originals and ours", caption=caption, box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    shown.add_column("original", no_wrap=True)
    for name in ("accuracy", "ours", "diff.", "seconds", "ours", "ratio"):
        shown.add_column(name, justify="right", no_wrap=True)
    for data_set, section in groupby(rows, key=lambda row: row.data_set):
        shown.add_row(SHORT_NAMES.get(data_set, data_set), style="bold")
        for row in section:
            shown.add_row(f" {row.pair.original}", *_figures(row))
        shown.add_section()
    return shown


def _figures(row: Row) -> list[str]:
    if not row.compared:
        return [_of_one_side(row.original), _of_one_side(row.ours), *["–"] * 4]
    (a, b), (s, t) = row.both("accuracy"), row.both("fit_seconds")
    seconds = [f"{np.mean(side):.3g}" for side in (s, t)]
    return [_mean(a), _mean(b), f"{row.difference:+.3f}".replace("0.", ".", 1), *seconds, f"{row.ratio:.3g}"]


def _of_one_side(side: list[dict[str, Any]]) -> str:
    accuracies = [one["accuracy"] for one in side if "failure" not in one]
    if accuracies:
        return _mean(accuracies)
    reason = side[-1]["failure"] if side else "not measured"
    return reason if len(reason) < 16 else "failed"


def _mean(values: list[float]) -> str:
    spread = f"±{_share(np.std(values))}" if len(values) > 1 else ""
    return f"{_share(np.mean(values))}{spread}"


def _share(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".", 1)


def verdict(rows: list[Row]) -> list[str]:
    """In sentences: whether ours is as accurate everywhere, the ratio of seconds, and what failed."""
    compared = [row for row in rows if row.compared]
    if not compared:
        return ["No split was measured by both sides, so there is nothing to compare.", *failures(rows)]
    below = [row for row in compared if row.difference < -TOLERANCE]
    said = [
        f"Ours is not below the original by more than {TOLERANCE} in {len(compared) - len(below)} of "
        f"{len(compared)} rows."
    ]
    said += [
        f"Below: {row.pair.ours} on {row.data_set}, {row.difference:+.3f} against {row.pair.original}."
        for row in below
    ]
    slowest = min(compared, key=lambda row: row.ratio)
    mean = geometric_mean([row.ratio for row in compared])
    said.append(
        f"Originals take {mean:.3g} times as long to fit (geometric mean); the least is "
        f"{slowest.ratio:.3g}, {slowest.pair.ours} on {slowest.data_set} against {slowest.pair.original}."
    )
    return said + failures(rows)


def failures(rows: list[Row]) -> list[str]:
    """What failed, each sentence once."""
    said = [f"Failed on {row.data_set}: {reason.rstrip('.')}." for row in rows for reason in row.failures]
    return list(dict.fromkeys(said))
