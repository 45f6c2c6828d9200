"""Timing two ways of doing the same thing, turn by turn."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One line of a speed benchmark.

    `ratio` is what is judged: at least the target where `more_is_better`, at most the target otherwise.
    """

    task: str
    data_set: str
    method: str
    seconds: float
    other_seconds: float | None
    ratio: float
    std: float
    target: float
    more_is_better: bool
    unit: str = "×"

    @property
    def reached(self) -> bool:
        return self.ratio >= self.target if self.more_is_better else self.ratio <= self.target

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "mean": self.ratio, "reached": self.reached}


@dataclass(frozen=True)
class Missing:
    """A line that could not be measured, and why."""

    task: str
    data_set: str
    reason: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Duel:
    """The times of both sides, in turns."""

    ours: list[float]
    other: list[float]

    def figure(self, task: str, data_set: str, method: str, target: float, *, more_is_better: bool) -> Figure:
        """How many times faster we are (more is better), or how many times as long we take (less is).

        The best time of each side is compared: whatever else a machine does can only make a run slower.
        """
        if more_is_better:
            ratio = min(self.other) / min(self.ours)
            each = [other / ours for ours, other in zip(self.ours, self.other, strict=True)]
        else:
            ratio = min(self.ours) / min(self.other)
            each = [ours / other for ours, other in zip(self.ours, self.other, strict=True)]
        std = statistics.stdev(each) if len(each) > 1 else 0.0
        return Figure(
            task, data_set, method, min(self.ours), min(self.other), ratio, std, target, more_is_better
        )


def duel(ours: Callable[[], Any], other: Callable[[], Any], *, repeats: int, warm_up: bool = True) -> Duel:
    """Run both sides in turns, so that a busy moment of the machine hits both."""
    if warm_up:
        ours()
        other()
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for side, run in enumerate((ours, other)):
            start = time.perf_counter()
            run()
            times[side].append(time.perf_counter() - start)
    return Duel(*times)
