"""Ten noisy data sets: their files, how they are split, and how every method gets them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.common.arrays import Labels
from benchmarks.common.measure import Task
from benchmarks.common.protocols import Split

MIXED, STREAMS = "mixed", "streams"
FILES = {
    "adult": MIXED,
    "bank-marketing": MIXED,
    "titanic": MIXED,
    "crx": MIXED,
    "heart-disease": MIXED,
    "eucalyptus": MIXED,
    "weather": STREAMS,
    "electricity": STREAMS,
    "sea": STREAMS,
    "rialto": STREAMS,
}
"""By data set: the folder of its file ``NAME.csv.gz`` in the folder named by ``LANN_DATA``."""

SETS = tuple(FILES)
QUICK_SETS = ("titanic", "crx", "heart-disease", "eucalyptus")

MOST_ROWS = 4000
N_SPLITS = 10
MISSING = "missing"


@dataclass(frozen=True)
class NoisySet:
    """
    A data set as it is in its file.

    Parameters
    ----------
    name
        Its name.
    table
        A data frame (n_samples, n_features). Categories are text; missing values are NaN.
    y
        Class indices (n_samples,).
    numeric, categorical
        Names of the columns.
    digest
        Digest of the file and of the names of the columns.
    """

    name: str
    table: Any
    y: Labels
    numeric: list[str]
    categorical: list[str]
    digest: str

    def splits(self, seed: int, n_splits: int) -> list[Split]:
        """
        Return the first `n_splits` of ten stratified splits.

        Half of the rows are for training and half for testing, and at most 4000 for each: of a larger set,
        every split is another random sample of 8000 rows. The order of a stream does not count.

        Parameters
        ----------
        seed
            0 for figures that are reported; from 1000 on for tuning.
        n_splits
            Fewer splits are the first of the ten, not different ones.
        """
        n = len(self.y)
        n_train = min(n // 2, MOST_ROWS)
        splitter = StratifiedShuffleSplit(
            N_SPLITS, train_size=n_train, test_size=min(n - n // 2, MOST_ROWS), random_state=seed
        )
        return list(splitter.split(self.y, self.y))[:n_splits]

    def task(self, split: Split) -> Task:
        """Return the rows of a split, encoded by an encoder that was fitted on the training rows."""
        train, test = split
        encoder = make_encoder(self.numeric, self.categorical).fit(self.table.iloc[train])
        X_train, X_test = (
            np.ascontiguousarray(encoder.transform(self.table.iloc[rows]), dtype=np.float64)
            for rows in (train, test)
        )
        return Task(X_train, self.y[train], X_test, self.y[test])


def make_encoder(numeric: list[str], categorical: list[str]) -> ColumnTransformer:
    """
    Return the encoder that is the same for all methods.

    Numbers: the median for missing values, then z-scores. Categories: a level of its own for missing values,
    then one column of 0 and 1 for each level; a level that the training rows do not have is all 0.
    """
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    levels = make_pipeline(
        SimpleImputer(strategy="constant", fill_value=MISSING),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    )
    return ColumnTransformer([("numbers", numbers, numeric), ("levels", levels, categorical)])


def load_noisy_sets(names: Iterable[str]) -> tuple[list[NoisySet], dict[str, str]]:
    """Return the data sets that can be loaded, and the reasons why the others cannot."""
    root = os.environ.get("LANN_DATA")
    found, skipped = [], {}
    for name in names:
        path = Path(FILES[name]) / f"{name}.csv.gz"
        if root is None:
            skipped[name] = f"needs {path} in the folder named by LANN_DATA, which is not set."
        elif not (Path(root).expanduser() / path).is_file():
            skipped[name] = f"needs {path} in the folder named by LANN_DATA, which does not have it."
        else:
            found.append(read_noisy_set(Path(root).expanduser() / path))
    return found, skipped


def read_noisy_set(path: Path) -> NoisySet:
    """
    Read a file: one header row, the last column is ``target``, an empty cell is a missing value.

    If the folder has a file ``columns.json``, it has the names of the numeric and of the categorical columns
    by data set. Otherwise all columns are numeric.
    """
    import pandas as pd

    name = path.name.removesuffix(".csv.gz")
    columns_file = path.with_name("columns.json")
    columns = json.loads(columns_file.read_text("utf-8"))[name] if columns_file.is_file() else {}
    texts = ["target", *columns.get("categorical", [])]
    table = pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=dict.fromkeys(texts, str))
    y = np.unique(table.pop("target").to_numpy(dtype=str), return_inverse=True)[1].astype(np.int64)
    categorical = [column for column in table.columns if column in texts]
    numeric = [column for column in table.columns if column not in texts]
    table = table.astype(dict.fromkeys(numeric, float) | dict.fromkeys(categorical, object))
    digest = hashlib.sha256(path.read_bytes() + repr((numeric, categorical)).encode()).hexdigest()
    return NoisySet(name, table, y, numeric, categorical, digest)
