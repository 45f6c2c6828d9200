"""The command line: `python -m tests.fuzz [PART] --seed 0 --minutes 20`."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from importlib import import_module
from pathlib import Path

PARTS = {"inputs": "tests.fuzz.inputs", "model-files": "tests.fuzz.model_files"}
"""Modules with a function `prepare(folder) -> Part`."""
PROGRESS_SECONDS = 20.0


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description="Run hostile cases, count what happens, and show failures."
    )
    parser.add_argument("part", nargs="?", choices=[*PARTS, "all"], default="all", help="Default: all.")
    parser.add_argument("--seed", type=int, default=0, help="Determines the cases. Default: 0.")
    end = parser.add_mutually_exclusive_group()
    end.add_argument("--minutes", type=float, default=10.0, help="How long each part runs. Default: 10.")
    end.add_argument("--cases", type=int, help="Number of cases of each part, in place of a time.")
    end.add_argument("--case", type=int, help="Run this case alone, in this process.")
    parser.add_argument("--jobs", type=int, default=2, help="Number of processes. Default: 2.")
    parser.add_argument("--keep", type=Path, help="A folder for files that reproduce failures.")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Run the harness; return 1 if anything happened that must not."""
    options = parse(arguments)
    # One thread, as processes are forked, and two of them run at a time; set before NumPy is imported.
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    from tests.fuzz.outcomes import FAULTS

    names = list(PARTS) if options.part == "all" else [options.part]
    has_faults = False
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            part = import_module(PARTS[name]).prepare(Path(folder))
            if options.case is None:
                has_faults |= run_part(name, part, options)
                continue
            outcome = part.run(options.seed, options.case)
            print(f"{outcome.trace}{name} {options.case}: {outcome.kind}: {outcome.name}: {outcome.detail}")
            has_faults |= outcome.kind in FAULTS
    return int(has_faults)


def run_part(name: str, part, options: argparse.Namespace) -> bool:
    """Run the cases of a part, print counts and failures, and return whether there are failures."""
    from tests.fuzz.children import run_cases
    from tests.fuzz.outcomes import FAULTS, OUTCOMES

    started = shown = time.monotonic()
    counts: Counter[str] = Counter()
    faults: Counter[str] = Counter()

    def is_over(number: int) -> bool:
        if options.cases is not None:
            return number >= options.cases
        return time.monotonic() > started + 60 * options.minutes

    for number, outcome in run_cases(part, options.seed, n_children=options.jobs, is_over=is_over):
        counts[outcome.kind] += 1
        if outcome.kind in FAULTS:
            alike = f"{outcome.kind}: {outcome.detail[:60]}"
            if not faults[alike]:
                print(f"{outcome.kind}: {outcome.name}: {outcome.detail[:400]}")
                print(f"    python -m tests.fuzz {name} --seed {options.seed} --case {number}", flush=True)
            faults[alike] += 1
            if options.keep is not None and part.keep is not None:
                options.keep.mkdir(parents=True, exist_ok=True)
                part.keep(options.keep, options.seed, number)
        if time.monotonic() > shown + PROGRESS_SECONDS:
            print(f"{name}: {counts.total()} cases: {dict(counts)}", flush=True)
            shown = time.monotonic()
    print(f"{name}: {counts.total()} cases in {time.monotonic() - started:.0f} s:", end=" ")
    print(", ".join(f"{counts[kind]} {kind}" for kind in OUTCOMES))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
