"""Eleven tables with categories and missing values, and how they are split."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from sklearn.model_selection import StratifiedShuffleSplit

from benchmarks.common.measure import Task
from benchmarks.common.protocols import Split
from benchmarks.common.table_sets import TableSet, load_table_sets

SETS = (
    "adult",
    "bank-marketing",
    "crx",
    "dermatology",
    "eucalyptus",
    "heart-disease",
    "house-votes-84",
    "kr-vs-kp",
    "mushroom",
    "tic-tac-toe",
    "titanic",
)
"""Each has a file ``mixed/NAME.csv.gz`` in the folder named by ``LANN_DATA``."""

FILES = dict.fromkeys(SETS, "mixed")
QUICK_SETS = ("crx", "dermatology", "eucalyptus", "heart-disease", "house-votes-84", "tic-tac-toe", "titanic")

MOST_TRAINING_ROWS = 5000
N_SPLITS = 10


class MixedSet(TableSet):
    """A table whose columns are numbers and categories."""

    @cached_property
    def frame(self) -> Any:
        """The table as all methods get it: numbers are floats, categories pandas categories, gaps NaN."""
        return self.table.astype(dict.fromkeys(self.categorical, "category"))

    def splits(self, seed: int, n_splits: int) -> list[Split]:
        """
        Return the first `n_splits` of ten stratified splits.

        Half of the rows are for training, at most 5000, and the other half for testing.

        Parameters
        ----------
        seed
            0 for figures that are reported; from 1000 on for tuning.
        n_splits
            Fewer splits are the first of the ten, not different ones.
        """
        n = len(self.y)
        splitter = StratifiedShuffleSplit(
            N_SPLITS, train_size=min(n // 2, MOST_TRAINING_ROWS), test_size=n - n // 2, random_state=seed
        )
        return list(splitter.split(self.y, self.y))[:n_splits]

    def task(self, split: Split) -> Task:
        """Return the rows of a split, as they are."""
        train, test = split
        return Task(self.frame.iloc[train], self.y[train], self.frame.iloc[test], self.y[test])


def load_mixed_sets(names: Iterable[str]) -> tuple[list[MixedSet], dict[str, str]]:
    """Return the data sets that can be loaded, and the reasons why the others cannot."""
    return load_table_sets(FILES, names, MixedSet)


def small_task() -> Task:
    """Return a small table with numbers, categories and missing values, to compile what methods compile."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(0)
    X = pd.DataFrame({"number": rng.normal(size=200), "level": rng.choice(["a", "b", "c"], 200)})
    y = ((X["number"] > 0) ^ (X["level"] == "a")).to_numpy(np.int64)
    X = X.mask(rng.random(X.shape) < 0.1).astype({"level": "category"})
    return Task(X, y, X, y)
