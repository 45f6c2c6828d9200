"""The command line: `python -m tests.fuzz [PART] --seed 0 --minutes 20`."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

PROGRESS_SECONDS = 20.0


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description="Run hostile cases, count what happens, and show failures."
    )
    parser.add_argument("part", nargs="?", default="all", help="One part, or all. Default: all.")
    parser.add_argument("--seed", type=int, default=0, help="Determines the cases. Default: 0.")
    end = parser.add_mutually_exclusive_group()
    end.add_argument("--minutes", type=float, help="How long to run, all parts together. Default: 10.")
    end.add_argument("--cases", type=int, help="Number of cases of each part, in place of a time.")
    end.add_argument("--case", type=int, help="Run this case alone, in this process.")
    parser.add_argument("--jobs", type=int, default=2, help="Number of processes. Default: 2.")
    parser.add_argument("--keep", type=Path, help="A folder for files that reproduce failures.")
    parser.add_argument(
        "--bounds",
        action="store_true",
        help="Check the bounds of arrays in compiled functions, which are compiled for that first.",
    )
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Run the harness; return 1 if anything happened that must not."""
    options = parse(arguments)
    # One thread, as processes are forked, and two of them run at a time; set before NumPy is imported.
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    with tempfile.TemporaryDirectory() as folder:
        if options.bounds:  # not for the functions that others find in the cache
            os.environ |= {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(Path(folder, "cache"))}
        from tests.fuzz.parts import PARTS

        names = list(PARTS) if options.part == "all" else [options.part]
        unknown = [name for name in names if name not in PARTS]
        if unknown:
            sys.exit(f"There is no part {unknown[0]!r}; there are {', '.join(PARTS)}, all.")
        if options.case is not None:
            return run_alone(names, options, Path(folder))
        return run_all(names, options, Path(folder))


def run_alone(names: list[str], options: argparse.Namespace, folder: Path) -> int:
    """Run one case of each part in this process, and print what happens."""
    from tests.fuzz.outcomes import FAULTS
    from tests.fuzz.parts import prepare

    outcomes = [prepare(name, folder).run(options.seed, options.case) for name in names]
    for name, outcome in zip(names, outcomes, strict=True):
        print(f"{outcome.trace}{name} {options.case}: {outcome.kind}: {outcome.name}: {outcome.detail}")
    return int(any(outcome.kind in FAULTS for outcome in outcomes))


def run_all(names: list[str], options: argparse.Namespace, folder: Path) -> int:
    """Run the cases of each part in turn, and print the table and the failures."""
    from tests.fuzz.children import run_cases
    from tests.fuzz.outcomes import FAULTS
    from tests.fuzz.parts import prepare
    from tests.fuzz.report import PartReport, details, failures, table

    started, reports = time.monotonic(), []
    minutes = (options.minutes or 10.0) / len(names)
    for name in names:
        own = folder / name
        own.mkdir()
        part, report = prepare(name, own), PartReport(name, options.seed)
        print(f"{name}: prepared after {time.monotonic() - started:.0f} s", flush=True)
        over = _end(options.cases, time.monotonic() + 60 * minutes)
        shown = time.monotonic()
        for number, outcome in run_cases(part, options.seed, n_children=options.jobs, is_over=over):
            report.add(number, outcome)
            if options.keep is not None and part.keep is not None and outcome.kind in FAULTS:
                options.keep.mkdir(parents=True, exist_ok=True)
                part.keep(options.keep, options.seed, number)
            if time.monotonic() > shown + PROGRESS_SECONDS:
                print(report.one_line(), flush=True)
                shown = time.monotonic()
        reports.append(report)
    print("", table(reports), details(reports), sep="\n")
    found = failures(reports)
    if found:
        print(found)
    print(f"seed {options.seed}, {time.monotonic() - started:.0f} s")
    return int(bool(found))


def _end(n_cases: int | None, deadline: float) -> Callable[[int], bool]:
    """Return whether no further case begins, given its number: by number, or by time."""
    if n_cases is not None:
        return lambda number: number >= n_cases
    return lambda number: time.monotonic() > deadline


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
