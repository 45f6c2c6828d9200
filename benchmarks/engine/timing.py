"""Time two ways to do the same thing, in turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PairedTimes:
    """Seconds of both sides, turn by turn."""

    ours: list[float]
    other: list[float]

    @property
    def ratios(self) -> list[float]:
        """Ours as a multiple of the other, turn by turn."""
        return [ours / other for ours, other in zip(self.ours, self.other, strict=True)]

    @property
    def inverse_ratios(self) -> list[float]:
        """The other as a multiple of ours, turn by turn."""
        return [other / ours for ours, other in zip(self.ours, self.other, strict=True)]

    @property
    def ratio_std(self) -> float:
        return statistics.stdev(self.ratios) if len(self.ratios) > 1 else 0.0


def time_in_turns(
    ours: Callable[[], Any], other: Callable[[], Any], *, repeats: int, warm_up: bool = True
) -> PairedTimes:
    """Run both sides in turns, so that other load on the machine slows down both alike."""
    if warm_up:
        ours()
        other()
    times = PairedTimes([], [])
    for _ in range(repeats):
        times.ours.append(seconds_of(ours))
        times.other.append(seconds_of(other))
    return times


def seconds_of(run: Callable[[], Any]) -> float:
    """Call a function, and return how long it took."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
