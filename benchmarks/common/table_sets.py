"""Data sets with numbers and categories, as they are in their files."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from benchmarks.common.arrays import Labels


@dataclass(frozen=True)
class TableSet:
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


SomeSet = TypeVar("SomeSet", bound=TableSet)


def load_table_sets(
    files: Mapping[str, str], names: Iterable[str], kind: type[SomeSet]
) -> tuple[list[SomeSet], dict[str, str]]:
    """
    Return the data sets that can be loaded, and the reasons why the others cannot.

    Parameters
    ----------
    files
        By data set: the folder of its file ``NAME.csv.gz`` in the folder named by ``LANN_DATA``.
    names
        The data sets to load.
    kind
        The class of the data sets.
    """
    root = os.environ.get("LANN_DATA")
    found, skipped = [], {}
    for name in names:
        path = Path(files[name]) / f"{name}.csv.gz"
        if root is None:
            skipped[name] = f"needs {path} in the folder named by LANN_DATA, which is not set."
        elif not (Path(root).expanduser() / path).is_file():
            skipped[name] = f"needs {path} in the folder named by LANN_DATA, which does not have it."
        else:
            found.append(read_table_set(Path(root).expanduser() / path, kind))
    return found, skipped


def read_table_set(path: Path, kind: type[SomeSet]) -> SomeSet:
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
    return kind(name, table, y, numeric, categorical, digest)
