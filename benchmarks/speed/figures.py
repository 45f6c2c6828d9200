"""A figure with its target, and the table of all of them."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass

from benchmarks.engine import PairedTimes, Results, Row, Table, Values
from benchmarks.engine.checks import OK, SHORT


@dataclass(frozen=True)
class Figure:
    """
    A figure that is to reach a target.

    Parameters
    ----------
    task
        What is timed.
    figure
        The measured number: a ratio, an exponent, seconds or gigabytes.
    target, more_is_better
        `figure` is to be at least the target if more is better, and else at most the target.
    seconds, other_seconds
        The best time of ours, and of the other side.
    std
        Standard deviation of the ratio over the turns.
    unit
        Unit of `figure`.
    """

    task: str
    figure: float
    target: float
    more_is_better: bool
    seconds: float
    other_seconds: float | None = None
    std: float = 0.0
    unit: str = "×"

    @property
    def reached(self) -> bool:
        return self.figure >= self.target if self.more_is_better else self.figure <= self.target

    def values(self) -> Values:
        return {**asdict(self), "reached": self.reached}


def times_as_fast(task: str, times: PairedTimes, target: float) -> Values:
    """Return how many times as fast as the other side we are, by the best time of each.

    Other load on the machine can only make a turn slower.
    """
    return _ratio(task, times, min(times.other) / min(times.ours), times.inverse_ratios, target, True)


def times_as_long(task: str, times: PairedTimes, target: float) -> Values:
    """Return how many times as long as the other side we take, by the best time of each."""
    return _ratio(task, times, min(times.ours) / min(times.other), times.ratios, target, False)


def _ratio(
    task: str, times: PairedTimes, ratio: float, by_turn: list[float], target: float, more_is_better: bool
) -> Values:
    std = statistics.stdev(by_turn) if len(by_turn) > 1 else 0.0
    return Figure(task, ratio, target, more_is_better, min(times.ours), min(times.other), std).values()


def speed_table(results: Results) -> Table:
    """Return all figures, with a section for every task and comparison."""
    sections: dict[str, list[Row]] = {}
    n_reached = 0
    for (_, method, data_set), repeats in results.cells.items():
        for values in repeats.values():
            rows = sections.setdefault(f"{values['task']}: {method}", [])
            rows.append(_row(data_set, values))
            n_reached += values["reached"]
    n_figures = sum(map(len, sections.values()))
    notes = [f"{n_reached} of {n_figures} targets are reached."] if n_figures else []
    head = ("", "figure", "target", "", "ours s", "other s")
    return Table("Speed and memory", head, list(sections.items()), (*notes, *results.notes()))


def _row(data_set: str, values: Values) -> Row:
    spread = f" ± {values['std']:.2f}" if values["std"] else ""
    other = values["other_seconds"]
    return Row(
        data_set,
        (
            f"{values['figure']:.2f}{values['unit']}{spread}",
            f"{'≥' if values['more_is_better'] else '≤'} {values['target']:g}{values['unit']}",
            OK if values["reached"] else SHORT,
            f"{values['seconds']:.2f}",
            "" if other is None else f"{other:.2f}",
        ),
    )
