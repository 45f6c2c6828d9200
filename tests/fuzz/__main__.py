"""The command line: `python -m tests.fuzz --n-files 10000 --seed 0`."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.fuzz.model_files.run import FuzzReport


def main(arguments: list[str]) -> int:
    """Run the fuzzer; return 1 if anything happened that must not."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Hostile model files.")
    parser.add_argument(
        "--n-files", type=int, default=10_000, help="Number of changed files. Default: 10000."
    )
    parser.add_argument("--seed", type=int, default=0, help="Determines the changes. Default: 0.")
    parser.add_argument("--jobs", type=int, default=2, help="Number of processes. Default: 2.")
    parser.add_argument("--seconds", type=float, default=20.0, help="Limit of time per file. Default: 20.")
    parser.add_argument(
        "--keep", type=Path, help="A folder for the files on which something must not have happened."
    )
    parser.add_argument(
        "--bounds",
        action="store_true",
        help="Check the bounds of arrays in compiled functions, which are compiled for that first.",
    )
    options = parser.parse_args(arguments)
    # One thread, as processes are forked, and two of them run at a time; set before NumPy is imported.
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        if options.bounds:  # not for the functions that others find in the cache
            os.environ |= {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(Path(folder, "cache"))}
        from tests.fuzz.model_files.run import fuzz

        report = fuzz(
            options.n_files,
            options.seed,
            folder=Path(folder),
            n_children=options.jobs,
            seconds=options.seconds,
            keep=options.keep,
        )
    print(describe(report))
    print(f"{options.n_files} files, seed {options.seed}, {time.monotonic() - started:.0f} s")
    return 1 if report.faults else 0


def describe(report: FuzzReport) -> str:
    """Return the counts by outcome, what was raised at use, and every fault, as text."""
    lines = [f"limit of memory: {report.memory / 2**20:.0f} MB more than before loading", ""]
    lines += [f"{count:7} {kind}" for kind, count in report.counts.items()]
    raised = Counter(outcome.detail for outcome in report.raised)
    lines += (
        ["", "Raised at use:", *(f"{count:7} {text}" for text, count in raised.most_common())]
        if raised
        else []
    )
    if report.faults:
        lines += ["", "What must not happen:"]
        lines += [f"  {f.number} {f.change}: {f.kind} {f.detail}" for f in report.faults]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
