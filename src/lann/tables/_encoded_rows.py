"""Rows of a table as a classifier takes them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lann._types import Indices
from lann.tables._warnings import TableWarning

# New categories that a warning lists for a column.
MOST_LISTED = 3


class EncodedRows(NamedTuple):
    """Rows of a table as a classifier takes them; `TableModel.encode` returns it.

    Attributes
    ----------
    rows : ndarray of shape (n_rows,)
        Their positions in the table.
    X : array-like of shape (n_rows, n_encoded)
        As the classifier takes them.
    values : DataFrame of shape (n_rows, n_features)
        As they are shown to the user.

    Examples
    --------
    >>> import pandas as pd
    >>> from lann.tables import fit_table
    >>> frame = pd.DataFrame({"age": [20, 21, 22, 61, 62, 63] * 2, "city": ["Ulm", "Bonn", None] * 4})
    >>> frame["retired"] = frame["age"] > 60
    >>> encoded = fit_table(frame, "retired").encode(frame, rows=[4])
    >>> encoded.X.shape, encoded.values.to_dict("records")
    ((1, 3), [{'age': 62.0, 'city': 'Bonn'}])
    """

    rows: Indices
    X: Any
    values: pd.DataFrame


def check_rows(rows: Sequence[int] | Indices | None, n_rows: int, table: str) -> Indices:
    """Return positions of rows as an array, None for all; raise ValueError if there is no such row."""
    if rows is None:
        return np.arange(n_rows)
    positions = np.asarray(rows, dtype=np.int64)
    outside = positions[(positions < 0) | (positions >= n_rows)]
    if len(outside):
        raise ValueError(f"There is no row {outside[0]} in {table}; its rows are 0 to {n_rows - 1}.")
    return positions


def warn_of_new_categories(categories: dict[str, list[str]]) -> None:
    """Warn of values of text columns that the training data do not have."""
    for name, values in categories.items():
        n_more = len(values) - MOST_LISTED
        listed = ", ".join(map(repr, values[:MOST_LISTED])) + (f" and {n_more} more" if n_more > 0 else "")
        warnings.warn(
            f"Column {name!r} has values that the training data do not have: {listed}.",
            TableWarning,
            stacklevel=4,
        )
