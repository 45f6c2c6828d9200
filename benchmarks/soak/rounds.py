"""Rounds of random calls on several threads, each compared with the bits of a single thread."""

from __future__ import annotations

import faulthandler
import random
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.engine import choose
from benchmarks.soak.calls import N_CASES, RARE, Call, Calls, digest
from benchmarks.soak.resources import sample

# A thread that has not ended this long after its round hangs.
PATIENCE = 600.0


class Rounds:
    """
    Rounds of calls on several threads; between rounds, nothing runs.

    Parameters
    ----------
    seed
        Determines the estimators, and the order of calls of each thread in each round.
    n_threads
        Number of threads that call at once; each call may use two.
    names
        Of the calls; by default all.
    """

    def __init__(self, seed: int, n_threads: int, names: Sequence[str] = ()) -> None:
        self.seed, self.n_threads, self.names = seed, n_threads, names
        self.calls: dict[str, Call] = {}
        self.expected: dict[tuple[str, int], str] = {}

    def prepare(self) -> None:
        """Fit the estimators, compile all functions, and compute the expected bits on one thread."""
        known = Calls(self.seed).by_name()
        self.calls = {name: known[name] for name in choose(self.names, known, "call")}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # as in rounds
            self.expected = {
                (name, case): digest(call(case))
                for name, call in self.calls.items()
                for case in range(N_CASES)
            }

    def run(self, number: int, seconds: float) -> dict[str, Any]:
        """Let the threads call for some seconds; return counts, faults, and a sample of what is held then."""
        lock = threading.Lock()
        counts: Counter[str] = Counter()
        spent: Counter[str] = Counter()
        faults: list[str] = []
        names = list(self.calls)
        weights = [RARE.get(name, 1.0) for name in names]
        # In a folder of their own, temporary files can be counted.
        with tempfile.TemporaryDirectory() as folder:
            before, tempfile.tempdir = tempfile.tempdir, folder
            end = time.monotonic() + seconds

            def work(thread: int) -> None:
                rng = random.Random(f"{self.seed} {number} {thread}")
                while time.monotonic() < end:
                    (name,), case = rng.choices(names, weights), rng.randrange(N_CASES)
                    start = time.perf_counter()
                    fault = self._fault(name, case)
                    with lock:
                        counts[name] += 1
                        spent[name] += time.perf_counter() - start  # type: ignore[assignment]
                        if fault:
                            faults.append(fault)

            threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(self.n_threads)]
            try:
                for thread in threads:
                    thread.start()
                limit = end + PATIENCE
                for thread in threads:
                    thread.join(max(0.0, limit - time.monotonic()))
                if any(thread.is_alive() for thread in threads):
                    faulthandler.dump_traceback(sys.stderr)
                    raise RuntimeError(f"A call has not ended {PATIENCE:g} s after its round.")
                held = sample(Path(folder))
            finally:
                tempfile.tempdir = before
        return {
            **held,
            "n_calls": counts.total(),
            "n_faults": len(faults),
            "faults": faults[:10],
            "counts": dict(counts),
            "spent": {name: round(value, 3) for name, value in spent.items()},
        }

    def _fault(self, name: str, case: int) -> str:
        """Make a call; return what is wrong with it, or nothing."""
        try:
            found = digest(self.calls[name](case))
        except BaseException as error:  # SystemExit, too: a thread would end without a word
            return f"{name}, case {case}: {type(error).__name__}: {' '.join(str(error).split())}"
        return "" if found == self.expected[name, case] else f"{name}, case {case}: other bits"
