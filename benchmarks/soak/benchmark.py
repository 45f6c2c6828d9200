"""The definition: a job is a round of calls, and the verdict is about all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.engine import Benchmark, Found, Job, Options, Report, Results, Row, Table, option
from benchmarks.soak.checks import growth, make_checks
from benchmarks.soak.resources import use_one_arena
from benchmarks.soak.rounds import Rounds

PART, METHOD, DATA = "soak", "all calls", "wine and a table"
CELL = (PART, METHOD, DATA)
MOST_ROUNDS, FEWEST_SECONDS = 60, 5.0
QUICK_MINUTES = 1.0
FIGURES = {
    "memory": "memory, MB",
    "resident": "memory with what the allocator keeps, MB",
    "threads": "threads of the system",
    "python_threads": "threads of Python",
    "open_files": "open files",
    "temporary_files": "temporary files",
}


@dataclass(frozen=True)
class SoakOptions(Options):
    """The options of the run."""

    minutes: float = option(10.0, "How long the threads call.", bounds=(0.01, float("inf")))
    seed: int = option(0, "Determines the estimators and the order of calls.", bounds=(0, float("inf")))
    threads: int = option(4, "Number of threads that call at once.", bounds=(1, 64))
    calls: tuple[str, ...] = option(
        (), "Make only this call, such as fit. May be given repeatedly.", flag="--call", metavar="CALL"
    )


class Soak(Benchmark[SoakOptions]):
    """Mixed calls from several threads. Measurements are not stored: a run always measures."""

    name = "soak"
    Options = SoakOptions
    parts = (PART,)
    main_scores = {PART: "memory"}
    quick = f"{QUICK_MINUTES:g} minute."
    omitted = ("only", "n_jobs", "results", "fresh")
    strict = True

    def __init__(self, options: SoakOptions) -> None:
        super().__init__(options)
        self.rounds = Rounds(options.seed, options.threads, options.calls)

    def jobs(self) -> Iterator[Job]:
        seconds = 60 * (
            min(QUICK_MINUTES, self.options.minutes) if self.options.quick else self.options.minutes
        )
        n_rounds = max(1, min(MOST_ROUNDS, int(seconds / FEWEST_SECONDS)))
        for number in range(n_rounds):
            yield Job(
                *CELL,
                number,
                partial(self._run, number, seconds / n_rounds),
                label=f"round {number + 1}",
                expected=seconds / n_rounds,
            )

    def warm_ups(self, jobs: list[Job]) -> dict[str, Callable[[], object]]:
        return {
            "one place for the memory of all threads": use_one_arena,
            "every call on one thread, for the expected bits": self.rounds.prepare,
        }

    def _run(self, number: int, seconds: float) -> Found:
        return {METHOD: self.rounds.run(number, seconds)}

    def describe(self, job: Job, found: Found) -> str:
        values = found[METHOD]
        return (
            f"{values['n_calls']} calls, {values['n_faults']} faults, {values['memory']:.1f} MB, "
            f"{values['threads']} threads"
        )

    def report(self, results: Results) -> Report:
        measured = results.cells.get(CELL, {})
        rounds: list[dict[str, Any]] = [measured[number] for number in sorted(measured)]
        return Report(
            "Soak",
            f"{self.options.threads} threads make random calls on shared and own estimators, in rounds; "
            "between rounds nothing runs, and what the process holds is counted after a collection of "
            f"garbage. Seed {self.options.seed}.",
            [_held_table(rounds), _calls_table(rounds, results.notes())],
            make_checks(rounds, bool(results.failures)),
            records=[{"kind": "round", "round": number, **values} for number, values in enumerate(rounds)],
        )


def _held_table(rounds: list[dict[str, Any]]) -> Table:
    rows = []
    for name, label in FIGURES.items():
        values = [r[name] for r in rounds if r[name] is not None]
        if values:
            at = [values[round(part * (len(values) - 1))] for part in (0, 0.25, 0.5, 0.75, 1)]
            cells = (*(f"{value:g}" for value in at), f"{growth(rounds, name):+.2f}")
            rows.append(Row(label, cells))
    head = ("held between rounds", "first", "25 %", "50 %", "75 %", "last", "growth in 2nd half")
    note = (
        "Growth: the median slope of all pairs of rounds in the second half, times its length. "
        "Memory: resident, after free memory was given back to the system; threads share one arena."
    )
    return Table("What the process holds", head, [("", rows)], (note,))


def _calls_table(rounds: list[dict[str, Any]], notes: list[str]) -> Table:
    counts: Counter[str] = Counter()
    spent: Counter[str] = Counter()
    for values in rounds:
        counts.update(values["counts"])
        spent.update(values["spent"])
    faults = [fault for values in rounds for fault in values["faults"]]
    wrong = Counter(fault.partition(", case ")[0] for fault in faults)
    rows = [
        Row(name, (str(count), f"{1000 * spent[name] / count:.0f}", str(wrong[name])))
        for name, count in sorted(counts.items())
    ]
    rows.append(Row("all", (str(counts.total()), "", str(sum(r["n_faults"] for r in rounds)))))
    return Table("Calls", ("call", "number", "ms each", "faults"), [("", rows)], (*faults[:10], *notes))


BENCHMARK = Soak
