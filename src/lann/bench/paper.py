"""`lann bench paper`: every method on every data set of the paper, split by split."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from lann._types import Floats, Labels
from lann.bench.measure import measure, warm_up
from lann.bench.methods import Method
from lann.bench.protocols import Protocol
from lann.bench.results import Results
from lann.bench.store import Store, about, digest_of
from lann.bench.time_left import Cell, TimeLeft
from lann.datasets import PAPER_SETS, canonical_name, load

# Small enough to be quick, together all kinds: few and many classes, easy and hard, made and measured.
QUICK_SETS = (
    "artificial-classification",
    "breast-cancer",
    "image-segmentation",
    "ionosphere",
    "iris",
    "wine",
)
QUICK_SPLITS = 3


@dataclass(frozen=True)
class DataSet:
    """A data set in memory: X (n_samples, n_features), y (n_samples,) in 0 … n_classes − 1."""

    name: str
    X: Floats
    y: Labels
    digest: str


@dataclass(frozen=True)
class Step:
    """What is about to run: `done` of `total` measurements are behind it."""

    what: str
    done: int
    total: int
    seconds_left: float | None


def choose_sets(names: Iterable[str] | None, *, quick: bool = False) -> list[str]:
    """The data sets of these names, or all (with `quick`: the small ones), in the paper's order."""
    chosen = {canonical_name(name) for name in names or (QUICK_SETS if quick else PAPER_SETS)}
    return [name for name in PAPER_SETS if name in chosen]


def load_sets(names: Iterable[str]) -> tuple[list[DataSet], dict[str, str]]:
    """The data sets that can be loaded, and why the others cannot."""
    found, skipped = [], {}
    for name in names:
        try:
            X, labels = load(name, return_X_y=True)
        except (OSError, ValueError) as error:
            skipped[name] = _first_sentence(error)
            continue
        y = np.unique(labels, return_inverse=True)[1].astype(np.int64)
        X = np.ascontiguousarray(X, dtype=np.float64)
        found.append(DataSet(name, X, y, digest_of(X, y)))
    return found, skipped


def _first_sentence(error: Exception) -> str:
    # What follows names the folders of this machine, which are nothing for a document.
    text = str(error).partition("\n")[0].partition(". ")[0]
    return f"{text.rstrip('.:') or type(error).__name__}."


class PaperRun:
    """
    A run of the benchmark, with what is kept of earlier runs taken over.

    Parameters
    ----------
    methods, data_sets, protocol
        What to measure.
    store
        Where measurements are kept.
    seed
        Of the splits and of the methods.
    n_splits
        The first so many of the protocol's ten.
    n_jobs
        Threads for every method.
    skipped
        Data sets that could not be loaded, and why.
    """

    def __init__(
        self,
        methods: list[Method],
        data_sets: list[DataSet],
        protocol: Protocol,
        store: Store,
        *,
        seed: int,
        n_splits: int,
        n_jobs: int,
        skipped: dict[str, str] | None = None,
    ) -> None:
        names = [data.name for data in data_sets]
        self.results = Results(protocol.name, seed, n_splits, methods, names, skipped or {})
        self.store, self.n_jobs = store, n_jobs
        self.methods = {method.name: method for method in methods}
        self.data_sets = {data.name: data for data in data_sets}
        self.splits = {data.name: protocol.splits(data.X, data.y, seed, n_splits) for data in data_sets}
        self.time_left = TimeLeft(
            {data.name: len(self.splits[data.name][0][0]) * data.X.shape[1] for data in data_sets}
        )
        self.about = {}
        for method in methods:
            for data in data_sets:
                cell = method.name, data.name
                self.about[cell] = about(self._estimator(method.name), data.digest, n_jobs)
                kept = store.kept(*cell, self.about[cell])
                self.results.splits[cell] = {split: kept[split] for split in range(n_splits) if split in kept}
                for measured in self.results.splits[cell].values():
                    self.time_left.note(cell, measured)

    def steps(self) -> Iterator[Step]:
        """
        Measure what is not kept, one split of one data set by one method at a time.

        All methods and data sets have their first split before any has its second: a busy spell of the
        machine hits all methods alike, and a run that is interrupted has all rows and columns. The largest
        data sets come first, since they say most about how long the rest will take.
        """
        waiting = self._waiting()
        total = len(waiting)
        for method in dict.fromkeys(method for _, (method, _) in waiting):
            yield Step(f"warming up {method}", 0, total, None)
            warm_up(self._estimator(method), self.n_jobs)
        for done, (split, cell) in enumerate(waiting):
            rest = [later for _, later in waiting[done:] if later not in self.results.failures]
            method, data_set = cell
            if cell in self.results.failures:
                continue
            what = f"{method} on {data_set}, split {split + 1} of {self.results.n_splits}"
            yield Step(what, done, total, self.time_left.of(rest))
            self._measure(cell, split)

    def _waiting(self) -> list[tuple[int, Cell]]:
        by_size: Callable[[str], int] = self.time_left.sizes.__getitem__
        return [
            (split, (method, data_set))
            for split in range(self.results.n_splits)
            for data_set in sorted(self.data_sets, key=by_size, reverse=True)
            for method in self.methods
            if split not in self.results.splits[method, data_set]
        ]

    def _measure(self, cell: Cell, split: int) -> None:
        method, data_set = cell
        data = self.data_sets[data_set]
        try:
            measured = measure(
                self._estimator(method), data.X, data.y, self.splits[data_set][split], self.n_jobs
            )
        except Exception as error:
            # Whatever it is, the other methods go on. It is not kept: the next run tries again.
            self.results.failures[cell] = " ".join(str(error).split()) or type(error).__name__
            return
        self.store.keep(*cell, self.about[cell], split, measured)
        self.results.splits[cell][split] = measured
        self.time_left.note(cell, measured)

    def _estimator(self, method: str) -> Any:
        return self.methods[method].make(self.n_jobs, self.results.seed)
