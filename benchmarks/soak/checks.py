"""Whether anything grows: slopes over the second half of the run, and their limits."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from benchmarks.engine import Check, check

# The first half of a run fills caches and the arenas of threads.
MOST_GROWTH_MB = 5.0
MOST_GROWTH_SHARE = 0.02
FEWEST_ROUNDS = 6
COUNTED = {
    "threads": "threads of the system",
    "python_threads": "threads of Python",
    "open_files": "open files",
}


def slope(values: Sequence[float]) -> float:
    """Return the growth per round: the median slope of all pairs of values, which outliers hardly change."""
    pairs = [(b - a) / (j - i) for (i, a), (j, b) in combinations(enumerate(values), 2)]
    return statistics.median(pairs) if pairs else 0.0


def second_half(rounds: Sequence[dict[str, Any]], name: str) -> list[float]:
    """Return the samples of the second half of the run; empty if the system does not tell."""
    return [r[name] for r in rounds[len(rounds) // 2 :] if r[name] is not None]


def growth(rounds: Sequence[dict[str, Any]], name: str) -> float:
    """Return how much a figure grows over the second half of the run, along the median slope."""
    values = second_half(rounds, name)
    return slope(values) * max(0, len(values) - 1)


def make_checks(rounds: Sequence[dict[str, Any]], failed: bool) -> list[Check]:
    """Return the verdict on all rounds; `failed` if one of them did not end."""
    n_calls, n_faults = (sum(r[name] for r in rounds) for name in ("n_calls", "n_faults"))
    complete = False if failed else True if rounds else None
    checks = [
        check("every round ends", complete, f"{len(rounds)} rounds"),
        check("every call: the bits of a single thread", n_faults == 0 if n_calls else None,
              f"{n_faults} of {n_calls} calls are not"),
    ]  # fmt: skip
    enough = len(rounds) >= FEWEST_ROUNDS
    memory = second_half(rounds, "memory")
    if enough:
        limit = max(MOST_GROWTH_MB, MOST_GROWTH_SHARE * statistics.median(memory))
        grown = growth(rounds, "memory")
        measured = f"{grown:+.1f} MB from {statistics.median(memory):.0f} MB; limit {limit:.1f} MB"
        checks.append(check("memory: flat in the second half", grown <= limit, measured))
    else:
        checks.append(check("memory: flat in the second half", None, f"fewer than {FEWEST_ROUNDS} rounds"))
    for name, words in COUNTED.items():
        values = second_half(rounds, name)
        first = [r[name] for r in rounds[: len(rounds) // 2] if r[name] is not None]
        passed = max(values) <= max(first) if enough and values and first else None
        measured = f"at most {max(values)}, before at most {max(first)}" if values and first else ""
        checks.append(check(f"{words}: no more than in the first half", passed, measured))
    left = sum(r["temporary_files"] for r in rounds)
    checks.append(check("temporary files: none is left", left == 0 if rounds else None, f"{left} left"))
    return checks
