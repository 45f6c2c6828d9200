"""Slices: rows with a certain value of a column, and how much worse the model is on them.

Many slices are looked at, so that some look bad by chance. Each is compared with all other rows by a
one-sided exact test (Fisher's), and p-values are corrected for the number of slices (Holm's method).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import hypergeom

from lann._types import Floats
from lann.report._evaluation.predictions import Predictions
from lann.report._evaluation.scores import Score, wilson_interval
from lann.tables import Column

# A slice and the rest have as many rows, at least.
LEAST_ROWS = 20
# Numbers with more different values are cut at their quartiles.
MOST_VALUES = 6
QUARTILES = (0.25, 0.5, 0.75)
LEVEL = 0.05

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Slice:
    """Test rows with a certain value of a column.

    Attributes
    ----------
    column : str
    values : str
        The value or the range of values, or "missing".
    n_rows, n_wrong : int
        Number of rows, and of those that are predicted wrongly.
    accuracy : Score
    accuracy_elsewhere : float
        Accuracy on all other rows.
    mean_probability : float
        Mean probability of the predictions: what the model expects its accuracy to be.
    p_value : float
        Probability of an accuracy as low by chance, corrected for the number of slices.
    is_used : bool
        Whether the model uses the column.

    Examples
    --------
    >>> from lann.report import Score, Slice
    >>> part = Slice("sex", "male", 120, 30, Score(0.75, 0.67, 0.82), 0.9, 0.8, 0.003)
    >>> part.name, part.is_worse
    ('sex: male', True)
    """

    column: str
    values: str
    n_rows: int
    n_wrong: int
    accuracy: Score
    accuracy_elsewhere: float
    mean_probability: float
    p_value: float
    is_used: bool = True

    @property
    def name(self) -> str:
        """The column and its values, such as "age: 21 to 28"."""
        return f"{self.column}: {self.values}"

    @property
    def is_worse(self) -> bool:
        """Whether the accuracy is lower than elsewhere beyond chance: the p-value is below 5%."""
        return self.p_value < LEVEL


def find_slices(
    rows: Predictions, values: pd.DataFrame, columns: Sequence[Column], used: Sequence[str]
) -> list[Slice]:
    """Return all slices with enough rows; those that are least likely by chance first.

    Parameters
    ----------
    rows : Predictions
    values : DataFrame of shape (n_rows, n_columns)
        As `lann.tables.apply_columns` returns them.
    columns : sequence of Column
        What the columns have.
    used : sequence of str
        Names of the columns that the model uses.
    """
    found = [
        (column, text, mask)
        for column in columns
        for text, mask in _parts(column, values[column.name])
        if min(mask.sum(), (~mask).sum()) >= LEAST_ROWS
    ]
    if not found:
        return []
    masks = np.array([mask for *_, mask in found])  # (n_slices, n_rows)
    correct, weights = rows.correct, rows.weights
    n_rows, n_correct = masks.sum(axis=1), masks @ correct.astype(np.int64)
    raw = hypergeom.cdf(n_correct, len(rows), int(correct.sum()), n_rows)
    corrected = holm(raw)
    slices = []
    for i, (column, text, mask) in enumerate(found):
        own, rest = weights[mask], weights[~mask]
        is_right = correct[mask].astype(float)
        slices.append(
            Slice(
                column=column.name,
                values=text,
                n_rows=int(n_rows[i]),
                n_wrong=int(n_rows[i] - n_correct[i]),
                accuracy=Score(float(np.average(is_right, weights=own)), *wilson_interval(is_right, own)),
                accuracy_elsewhere=float(np.average(correct[~mask], weights=rest)),
                mean_probability=float(np.average(rows.confidences[mask], weights=own)),
                p_value=float(corrected[i]),
                is_used=column.name in set(used),
            )
        )
    order = np.lexsort([[part.accuracy.value for part in slices], raw])
    return [slices[i] for i in order]


def holm(p_values: Floats) -> Floats:
    """Return p-values corrected for their number by Holm's method.

    >>> holm(np.array([0.01, 0.5, 0.03])).round(2).tolist()
    [0.03, 0.5, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    factors = len(p_values) - np.arange(len(p_values))
    corrected = np.empty(len(p_values))
    corrected[order] = np.minimum(np.maximum.accumulate(p_values[order] * factors), 1.0)
    return corrected


def _parts(column: Column, values: pd.Series) -> Iterator[tuple[str, Mask]]:
    """Yield the values or ranges of a column, and which rows have them."""
    is_missing = values.isna().to_numpy()
    if is_missing.any():
        yield "missing", is_missing
    present = values[~is_missing]
    distinct = np.sort(present.unique()) if column.kind in ("number", "date") else present.unique()
    if column.kind in ("number", "date") and len(distinct) > MOST_VALUES:
        yield from _ranges(column, values, is_missing)
        return
    for value in distinct:
        yield column.format(value), (values == value).fillna(False).to_numpy(dtype=bool)


def _ranges(column: Column, values: pd.Series, is_missing: Mask) -> Iterator[tuple[str, Mask]]:
    """Yield ranges between the quartiles; equal values are never apart."""
    numbers = values.to_numpy().astype("datetime64[ns]").astype(float) if column.kind == "date" else values
    numbers = np.asarray(numbers, dtype=float)
    present = numbers[~is_missing]
    edges = np.unique(np.quantile(present, QUARTILES, method="lower"))
    bins = np.where(is_missing, -1, np.searchsorted(edges, numbers, side="left"))
    for number in range(len(edges) + 1):
        mask = bins == number
        if mask.any():
            own = values[mask]
            low, high = column.format(own.min()), column.format(own.max())
            yield (low if low == high else f"{low} to {high}"), mask
