"""Mixed calls from several threads: whether each has the bits of one thread, and whether memory grows."""

from __future__ import annotations

import argparse
import ctypes
import faulthandler
import gc
import hashlib
import io
import os
import pickle
import random
import statistics
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property, partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_wine

import lann
from benchmarks.harness import NAN, Benchmark, Check, Job, Report, Results, Table, check, choose, held_memory
from lann import LANNClassifier
from lann.baselines import GMLVQ
from lann.datasets import make_local_relevance_table
from lann.embedding import LANNEmbedding, NeighborEmbedding
from lann.explain import counterfactuals
from lann.reject import RejectOption
from lann.streams import SAMKNN, SAMLANN

N_CASES = 3
# Calls that take a second are made less often than others.
RARE = {"plot": 0.2}
Call = Callable[[int], list[Any]]
FIGURES = {
    "memory": "memory, MB",
    "resident": "memory with what the allocator keeps, MB",
    "threads": "threads of the system",
    "python_threads": "threads of Python",
    "open_files": "open files",
    "temporary_files": "temporary files",
}
# A thread that has not ended this long after its round hangs.
PATIENCE = 600.0


def digest(arrays: list[Any]) -> str:
    """Return a fingerprint of all bits of some arrays, bytes and objects."""
    found = hashlib.sha256()
    for array in arrays:
        if isinstance(array, bytes):
            found.update(array)
            continue
        values = np.asarray(array)
        found.update(f"{values.dtype.str}{values.shape}".encode())
        found.update(repr(values.tolist()).encode() if values.dtype == object else values.tobytes())
    return found.hexdigest()


class Calls:
    """
    The calls, by name, and the fitted estimators that they share.

    Parameters
    ----------
    seed
        Determines the queries and all estimators.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.X, self.y = load_wine(return_X_y=True)
        self.table, self.table_y, _ = make_local_relevance_table(300, random_state=seed)
        # pyplot is not for several threads, and matplotlib opens its fonts once per thread.
        self._drawing = ThreadPoolExecutor(1)

    # Fitted when the first call is made, on one thread.

    @cached_property
    def classifier(self) -> LANNClassifier:
        return LANNClassifier(max_iter=2, random_state=self.seed, n_jobs=2).fit(self.X, self.y)

    @cached_property
    def of_table(self) -> LANNClassifier:
        return LANNClassifier(max_iter=2, random_state=self.seed).fit(self.table, self.table_y)

    @cached_property
    def baseline(self) -> GMLVQ:
        return GMLVQ(max_iter=3, random_state=self.seed).fit(self.X, self.y)

    @cached_property
    def reject(self) -> RejectOption:
        classifier = LANNClassifier(max_iter=1, random_state=self.seed)
        return RejectOption(classifier, cost=0.1, cv=2, random_state=self.seed).fit(self.X, self.y)

    @cached_property
    def embedding(self) -> LANNEmbedding:
        return LANNEmbedding(clone(self.classifier), max_iter=20, random_state=self.seed).fit(self.X, self.y)

    @cached_property
    def stream(self) -> SAMLANN:
        return SAMLANN(window_size=200, random_state=self.seed).fit(self.X, self.y)

    def by_name(self) -> dict[str, Call]:
        """Return the calls by the names in the table."""
        return {
            "predict": self._predict,
            "predict_proba": self._predict_proba,
            "kneighbors": self._kneighbors,
            "explain": self._explain,
            "explain a table": self._explain_table,
            "counterfactuals": self._counterfactuals,
            "fit": self._fit,
            "fit a table": self._fit_table,
            "partial_fit and forget": self._update,
            "save and load": self._save_and_load,
            "pickle": self._pickle,
            "clone": self._clone,
            "stream": self._stream,
            "stream, explain": self._explain_stream,
            "reject": self._reject,
            "transform": self._transform,
            "fit an embedding": self._embed,
            "baseline": self._baseline,
            "plot": self._plot,
        }

    def _rng_of(self, case: int) -> np.random.Generator:
        return np.random.default_rng((self.seed, case))

    def _queries(self, case: int, n_rows: int = 100) -> Any:
        rng = self._rng_of(case)
        return self.X[rng.integers(0, len(self.X), n_rows)] + 0.05 * rng.normal(
            size=(n_rows, self.X.shape[1])
        )

    def _rows(self, case: int) -> Any:
        """Return the numbers of some training rows, with all classes among them."""
        return self._rng_of(case).permutation(len(self.X))[:120]

    def _predict(self, case: int) -> list[Any]:
        return [self.classifier.predict(self._queries(case)), self.classifier.predict(self._queries(case, 1))]

    def _predict_proba(self, case: int) -> list[Any]:
        return [self.classifier.predict_proba(self._queries(case))]

    def _kneighbors(self, case: int) -> list[Any]:
        return list(self.classifier.kneighbors(self._queries(case), 7))

    def _explain(self, case: int) -> list[Any]:
        found = self.classifier.explain(self._queries(case, 5))
        return [found.neighbor_ids, found.supports, found.to_html().encode()]

    def _explain_table(self, case: int) -> list[Any]:
        found = self.of_table.explain(self.table[20 * case : 20 * case + 5])
        return [found.neighbor_ids, found.supports, *found.in_words()]

    def _counterfactuals(self, case: int) -> list[Any]:
        found = counterfactuals(self.classifier, self._queries(case, 3))
        return [found.rows, found.labels, found.distances]

    def _fit(self, case: int) -> list[Any]:
        rows = self._rows(case)
        fitted = LANNClassifier(max_iter=2, random_state=case, n_jobs=2).fit(self.X[rows], self.y[rows])
        return [fitted.predict_proba(self._queries(case))]

    def _fit_table(self, case: int) -> list[Any]:
        rows = self._rows(case)
        fitted = LANNClassifier(max_iter=1, random_state=case)
        return [fitted.fit(self.table.iloc[rows], self.table_y[rows]).predict_proba(self.table[:50])]

    def _update(self, case: int) -> list[Any]:
        rows = self._rows(case)
        fitted = LANNClassifier(max_iter=1, random_state=case, max_points=80)
        for part in np.array_split(rows, 3):
            fitted.partial_fit(self.X[part], self.y[part], classes=np.unique(self.y))
        fitted.forget(fitted.ids_[:10] if fitted.ids_ is not None else [len(rows) - 1])
        return [fitted.predict_proba(self._queries(case))]

    def _save_and_load(self, case: int) -> list[Any]:
        model = (self.classifier, self.reject, self.embedding)[case % 3]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.lann")
            lann.save(model, path)
            loaded = lann.load(path)
        return [
            loaded.transform(self._queries(case)) if case % 3 == 2 else loaded.predict(self._queries(case))
        ]

    def _pickle(self, case: int) -> list[Any]:
        return [pickle.loads(pickle.dumps(self.classifier)).predict_proba(self._queries(case))]

    def _clone(self, case: int) -> list[Any]:
        cloned = clone(self.classifier).set_params(max_iter=0, n_neighbors=3 + case)
        return [cloned.fit(self.X, self.y).predict_proba(self._queries(case))]

    def _stream(self, case: int) -> list[Any]:
        rows = self._rows(case)
        kind = (SAMKNN, SAMLANN)[case % 2]
        stream = kind(window_size=100, min_window_size=20, random_state=case)
        found = stream.test_then_train(self.X[rows], self.y[rows], classes=np.unique(self.y))
        return [found, stream.predict(self._queries(case))]

    def _explain_stream(self, case: int) -> list[Any]:
        queries = self._queries(case, 20)
        return [self.stream.predict_proba(queries), str(self.stream.explain_one(queries[0])).encode()]

    def _reject(self, case: int) -> list[Any]:
        queries = self._queries(case)
        return [self.reject.decision(queries), self.reject.novelties(queries)]

    def _transform(self, case: int) -> list[Any]:
        return [self.embedding.transform(self._queries(case))]

    def _embed(self, case: int) -> list[Any]:
        return [NeighborEmbedding(max_iter=20, random_state=case).fit(self.X[self._rows(case)]).embedding_]

    def _baseline(self, case: int) -> list[Any]:
        rows = self._rows(case)
        fitted = clone(self.baseline).fit(self.X[rows], self.y[rows])
        return [fitted.predict(self._queries(case)), self.baseline.predict(self._queries(case))]

    def _plot(self, case: int) -> list[Any]:
        return [self._drawing.submit(self._draw, case).result()]

    def _draw(self, case: int) -> bytes:
        from matplotlib import pyplot as plt

        from lann.plot import ExplanationDisplay

        shown = ExplanationDisplay.from_estimator(self.classifier, self._queries(case, 1))
        picture = io.BytesIO()
        try:
            shown.figure_.savefig(picture, format="png", dpi=50)
        finally:
            plt.close(shown.figure_)
        return picture.getvalue()


def sample(temporary: Path) -> dict[str, Any]:
    """
    Return what the process holds after a collection of garbage.

    Parameters
    ----------
    temporary
        The folder for temporary files.

    Returns
    -------
    sample
        `resident` memory in MB as it is, and `memory` after free memory was given back to the system, where
        that is possible; numbers of `threads` of the system and `python_threads`; `open_files`, and
        `temporary_files`. None where the system does not say.
    """
    for _ in range(2):  # finalizers can leave more
        gc.collect()
    resident = held_memory() / 2**20
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)  # give free memory back to the system
    return {
        "resident": round(resident, 2),
        "memory": round(held_memory() / 2**20, 2),
        "threads": _count_threads(),
        "python_threads": threading.active_count(),
        "open_files": _count("/proc/self/fd"),
        "temporary_files": sum(1 for _ in temporary.rglob("*")),
    }


def _count_threads() -> int | None:
    """Return the number of threads of the system; one that has ended can be seen a moment longer."""
    fewest = _count("/proc/self/task")
    for _ in range(20):
        if fewest is None or fewest <= threading.active_count():
            break
        time.sleep(0.02)
        fewest = min(fewest, _count("/proc/self/task") or fewest)
    return fewest


def _count(folder: str) -> int | None:
    try:
        return len(os.listdir(folder))
    except OSError:
        return None


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


class Soak(Benchmark):
    parts = ("soak",)
    main_score = "n_faults"
    quick = "1 minute."
    strict = True

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--minutes", type=float, default=10.0, help="How long the threads call.")
        parser.add_argument(
            "--seed", type=int, default=0, help="Seed of the estimators and of the order of calls."
        )
        parser.add_argument("--threads", type=int, default=4, help="Number of threads that call at once.")
        parser.add_argument("--call", action="append", help="Make only this call, such as fit; repeatable.")

    def jobs(self) -> Iterator[Job]:
        options = self.options
        self.rounds = Rounds(options.seed, options.threads, options.call or ())
        seconds = 60 * (min(1.0, options.minutes) if options.quick else options.minutes)
        n_rounds = max(1, min(60, int(seconds / 5)))
        for number in range(n_rounds):
            run = partial(self._run, number, seconds / n_rounds)
            yield Job("soak", "all calls", "wine and a table", number, run)

    def _run(self, number: int, seconds: float) -> dict[str, Any]:
        return {"all calls": self.rounds.run(number, seconds)}

    def warm_up(self, jobs: list[Job]) -> None:
        with suppress(AttributeError, OSError, TypeError):
            ctypes.CDLL(None).mallopt(-8, 1)  # M_ARENA_MAX: one place for the memory of all threads
        self.rounds.prepare()

    def report(self, results: Results) -> Report:
        rounds = list(results.cell("soak", "all calls", "wine and a table").values())
        rows = []
        for name, label in FIGURES.items():
            values = [r[name] for r in rounds if r[name] is not None]
            if values:
                at = [values[round(part * (len(values) - 1))] for part in (0, 0.25, 0.5, 0.75, 1)]
                rows.append((label, *(f"{value:g}" for value in at), f"{growth(rounds, name):+.2f}"))
        head = ("between rounds", "first", "25 %", "50 %", "75 %", "last", "growth in 2nd half")
        note = "Growth: the median slope of all pairs of rounds in the second half, times its length."
        tables = [Table("What the process holds", head, rows, [note])]
        counts: Counter[str] = Counter()
        spent: Counter[str] = Counter()
        for one in rounds:
            counts.update(one["counts"])
            spent.update(one["spent"])
        faults = [fault for one in rounds for fault in one["faults"]]
        wrong = Counter(fault.partition(", case ")[0] for fault in faults)
        calls = [(n, str(c), f"{1e3 * spent[n] / c:.0f}", str(wrong[n])) for n, c in sorted(counts.items())]
        tables.append(Table("Calls", ("call", "number", "ms each", "faults"), calls, faults[:10]))
        introduction = (
            f"{self.options.threads} threads make random calls on shared and own estimators, in rounds; "
            f"between rounds nothing runs, and what the process holds is counted. Seed {self.options.seed}."
        )
        return Report(introduction, tables, make_checks(rounds, bool(results.failures)))


def make_checks(rounds: Sequence[dict[str, Any]], failed: bool) -> list[Check]:
    """Check that all calls have the expected bits, and that nothing grows in the second half."""
    enough = len(rounds) >= 6
    half = len(rounds) // 2
    memory = second_half(rounds, "memory")
    limit = max(5.0, 0.02 * statistics.median(memory)) if memory else 0.0
    checks = [
        check("rounds that failed", float(failed), most=0),
        check("calls without the bits of a single thread", sum(r["n_faults"] for r in rounds), most=0),
        check(
            "memory: growth in the second half, MB", growth(rounds, "memory") if enough else NAN, most=limit
        ),
        check("temporary files that are left", sum(r["temporary_files"] for r in rounds), most=0),
    ]
    for name in ("threads", "python_threads", "open_files"):
        first = [r[name] for r in rounds[:half] if r[name] is not None]
        more = max(second_half(rounds, name)) - max(first) if enough and first else NAN
        checks.append(check(f"{FIGURES[name]}: more than in the first half", more, most=0))
    return checks


BENCHMARK = Soak
