"""Accuracy and probabilities of the paper's and the mixed sets cut to 100, 200 and 400 training rows."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedShuffleSplit

from benchmarks.harness import Report, Results, check
from benchmarks.methods import Method, make_ebm, make_realmlp
from benchmarks.mixed import ENCODED, FILES, METHODS, OURS, SETS, make_encoded, ranks
from benchmarks.tabular import (
    N_SPLITS,
    SCORES,
    Source,
    SplitBenchmark,
    TableSet,
    Task,
    load_sets,
    load_tables,
    means_table,
    set_table,
)
from lann.datasets import PAPER_SETS

SIZES = (100, 200, 400)
MOST_TEST_ROWS = 2000
# Classes have at least this many training rows on average.
ROWS_PER_CLASS = 2
COMPARED = ("knn", "forest", "boosting", "catboost", OURS)
# Slow; and RealMLP comes with PyTorch, which the extra for benchmarks does not bring.
SLOW = [
    Method(name, partial(make_encoded, make), text, ENCODED, quick=False, needs=package)
    for name, make, text, package in (
        ("ebm", make_ebm, "Explainable boosting machine.", "interpret"),
        ("realmlp", make_realmlp, "RealMLP, a neural network with tuned defaults.", "pytabkit"),
    )
]


def load_all(names: list[str]) -> tuple[list[TableSet], dict[str, str]]:
    """Return the sets as tables, and the reasons why the others cannot be loaded."""
    arrays, skipped = load_sets(name for name in names if name in PAPER_SETS)
    tables, missing = load_tables(FILES, (name for name in names if name in SETS))
    numbers = [
        TableSet(d.name, pd.DataFrame(d.X, columns=[f"x{i}" for i in range(d.X.shape[1])]), d.y, d.digest)
        for d in arrays
    ]
    return [*numbers, *tables], skipped | missing


def make_task(data: TableSet, size: int, seed: int, number: int) -> Task:
    n_test = min(len(data.y) - size, MOST_TEST_ROWS)
    splitter = StratifiedShuffleSplit(N_SPLITS, train_size=size, test_size=n_test, random_state=seed)
    train, test = list(splitter.split(data.y, data.y))[number]
    return Task(data.table.iloc[train], data.y[train], data.table.iloc[test], data.y[test])


def is_large_enough(data: TableSet, size: int) -> bool:
    """Whether there are test rows, and training rows of every class."""
    return len(data.y) >= 1.5 * size and size >= ROWS_PER_CLASS * len(np.unique(data.y))


class Small(SplitBenchmark):
    quick = "sets with categories, 1 split."
    parts = tuple(f"{size} rows" for size in SIZES)
    splits = (N_SPLITS, 1)
    available: ClassVar[list[Method]] = [*(method for method in METHODS if method.name in COMPARED), *SLOW]

    def load(self) -> dict[str, list[Source]]:
        names = [name for name in (*PAPER_SETS, *SETS) if name != "adrenal"]
        found = self.load_chosen(load_all, names, SETS)
        return {
            part: [
                Source(d.name, f"{d.digest} {size}", partial(make_task, d, size))
                for d in found
                if is_large_enough(d, size)
            ]
            for part, size in zip(self.parts, SIZES, strict=True)
            if part in self.chosen
        }

    def warm_up(self, jobs: object) -> None:
        """Fit nothing: the encoders need tables."""

    def report(self, results: Results) -> Report:
        tables: list[Any] = []
        checks = []
        for part, sources in self.sources.items():
            names = [source.name for source in sources]
            tables.append(means_table(results, self.methods, names, {"accuracy": "accuracy", **SCORES}, part))
            table, mean_ranks = ranks(results, part, self.names, names)
            tables.append(table)
            if self.options.details:
                for score in ("accuracy", "log_loss"):
                    tables.append(set_table(results, f"{score}, {part}", self.names, names, score, part))
            for score, values in mean_ranks.items():
                others = [value for name, value in values.items() if name != OURS]
                ours = values.get(OURS, np.nan)
                behind = ours - min(others) if others else np.nan
                checks.append(check(f"lann: first in mean rank of {score}, {part}", behind, most=0))
        introduction = (
            f"{self.scope}: training rows drawn at random, stratified, and at most {MOST_TEST_ROWS} others "
            "for testing. Some methods take tables as they are, others after an encoder, as in `mixed`."
        )
        return Report(introduction, tables, checks)


BENCHMARK = Small
