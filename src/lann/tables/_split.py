"""Hold out rows such that copies of a row are not separated."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from lann._support.format import counted, percent
from lann._support.types import Indices
from lann._support.validation import Number, validate
from lann.columns.text import TableWarning


def split_rows(
    rows: pd.DataFrame, labels: NDArray[Any], held_out: float, random_state: int
) -> NDArray[np.bool_]:
    """Choose rows to hold out, of every class in proportion to its size.

    Rows with the same values are held out together or not at all, as far as every class then still has
    training rows and held-out rows.

    Parameters
    ----------
    rows : DataFrame of shape (n_rows, n_columns)
    labels : ndarray of shape (n_rows,)
    held_out : float
        Share of the rows.
    random_state : int

    Returns
    -------
    is_held_out : ndarray of shape (n_rows,)
    """
    validate("held_out", held_out, Number(0, 1, "neither"))
    classes, sizes = np.unique(labels, return_counts=True)
    if sizes.min() < 2:
        raise ValueError(
            f"Class {str(classes[sizes.argmin()])!r} has one row only, which cannot be held out; give test "
            "rows of your own."
        )
    n_held_out = round(held_out * len(labels))
    if min(n_held_out, len(labels) - n_held_out) < len(classes):
        raise ValueError(
            f"held_out={held_out:g} of {len(labels)} rows is too few or too many: each of the {len(classes)} "
            "classes needs training rows and held-out rows."
        )
    first = _first_copies(rows)
    drawn = np.unique(first)  # one row of each group of copies
    n_drawn = round(held_out * len(drawn))
    _, sizes = np.unique(labels[drawn], return_counts=True)
    if len(sizes) < len(classes) or sizes.min() < 2 or min(n_drawn, len(drawn) - n_drawn) < len(classes):
        first = drawn = np.arange(len(labels))
        n_drawn = n_held_out
    _, chosen = train_test_split(drawn, test_size=n_drawn, stratify=labels[drawn], random_state=random_state)
    is_held_out = np.isin(first, chosen)
    if n_copies := len(first) - len(drawn):
        warnings.warn(
            f"The table has copies of rows: {counted(n_copies, 'row')} ({percent(n_copies / len(first))}). "
            f"Copies are held out together or not at all: {is_held_out.sum()} of {len(first)} rows are held "
            "out. Copies among the training rows vote on each other, so that accuracies on these are "
            "optimistic.",
            TableWarning,
            stacklevel=3,
        )
    return is_held_out


def _first_copies(rows: pd.DataFrame) -> Indices:
    """Return for each row the first one with the same values: (n_rows,)."""
    first = np.arange(len(rows))
    if len(copies := np.flatnonzero(rows.duplicated(keep=False))):
        groups = rows.iloc[copies].groupby(list(rows.columns), dropna=False, sort=False).ngroup()
        _, starts, inverse = np.unique(groups, return_index=True, return_inverse=True)
        first[copies] = copies[starts[inverse]]
    return first
