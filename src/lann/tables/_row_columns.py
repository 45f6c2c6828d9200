"""Columns with a role of their own: the labels, names and weights of the rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lann._support.types import Floats, Indices
from lann.columns.notation import find_number_notation
from lann.columns.text import Cells, check_named_column, column_texts


def row_names(frame: pd.DataFrame, name: str, table: str) -> NDArray[np.str_]:
    """Return the names of the rows, "" where missing: (n_rows,)."""
    check_named_column(frame, name, "id", table)
    return np.array([text or "" for text in column_texts(frame[name])], dtype=str)


def row_weights(frame: pd.DataFrame, rows: Indices, name: str, table: str) -> Floats:
    """Return the weights of some rows; raise ValueError unless they are numbers, at least 0 and not all 0."""
    cells = Cells.from_column(frame[name].iloc[rows])
    texts = cells.as_texts()
    weights = np.full(len(rows), np.nan)
    if cells.kind in ("number", "bool"):
        weights = cells.values.astype("float64").to_numpy()
    elif cells.kind == "text":
        present = texts.dropna()
        notation, _ = find_number_notation(present.to_list(), frame.attrs.get("decimal"))
        numbers = pd.to_numeric(present, errors="coerce") if notation is None else None
        weights[present.index] = numbers if notation is None else notation.parse(present.to_list())
    invalid = np.flatnonzero(~((weights >= 0) & (weights < np.inf)))
    if len(invalid):
        shown = "none" if pd.isna(texts[invalid[0]]) else repr(texts[invalid[0]])
        raise ValueError(
            f"The weights in column {name!r} of {table} must be finite numbers of at least 0; "
            f"row {rows[invalid[0]]} has {shown}."
        )
    if not weights.any():
        raise ValueError(f"The weights in column {name!r} of {table} are zero in every row with a label.")
    return weights
