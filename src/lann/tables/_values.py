"""Targets that are numbers: how they are recognized and read, and how well they are predicted."""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from lann._support.compat import reported_epochs
from lann._support.types import Floats, Indices
from lann._support.validation import Integer, validate
from lann.columns.text import Column, TableWarning, infer_columns
from lann.regressor import group_values
from lann.tables._cross_validation import fit_baselines
from lann.tables._reading import MOST_INTEGERS
from lann.tables._rows import numbers_in

if TYPE_CHECKING:
    from lann.regressor import LANNRegressor
    from lann.tables._reading import Progress
    from lann.tables._training_table import TrainingTable

# A target with at most this many different integers, or other numbers, has classes by default.
MOST_FRACTIONS = 10
# Levels from which the CRPS is computed, and the coverage of intervals.
SCORED_LEVELS, COVERAGE = np.arange(1, 100) / 100, 0.9
# Parts of the rows by their predicted values, and the least share of the rows in a slice.
N_PARTS, SMALLEST_SLICE = 5, 0.05


def values_of_target(
    frame: pd.DataFrame, rows: Indices, target: str, kind: str | None, name: str
) -> Floats | None:
    """Return the numbers to predict, or None for labels; the values decide if the kind is None."""
    if kind is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TableWarning)
            columns, _ = infer_columns(frame[[target]].iloc[rows], table=name)
        if columns[0].kind != "number":
            return None
    elif kind == "category":
        return None
    values = numbers_in(frame, rows, target, name)
    different = np.unique(values)
    most = MOST_INTEGERS if np.array_equal(different, np.round(different)) else MOST_FRACTIONS
    return values if len(different) > most or kind == "number" else None


def score_values(y: Floats, predictions: Floats, weights: Floats | None = None) -> dict[str, float]:
    """Return R², root mean squared error, mean and median absolute error of predicted numbers."""
    counts = np.ones(len(y)) if weights is None else weights
    errors, centered = y - predictions, y - np.average(y, weights=counts)
    mean_squared, variance = np.average(errors**2, weights=counts), np.average(centered**2, weights=counts)
    return {
        "r2": float(1.0 - mean_squared / variance) if variance > 0 else np.nan,
        "rmse": float(np.sqrt(mean_squared)),
        "mae": float(np.average(np.abs(errors), weights=counts)),
        "median_error": float(np.median(np.abs(errors))),
    }


def score_distribution(y: Floats, quantiles: Floats, weights: Floats | None = None) -> dict[str, float]:
    """Return CRPS, and coverage and mean width of 90% intervals, from the quantiles at `SCORED_LEVELS`."""
    above = y[:, None] - quantiles
    pinball = np.maximum(SCORED_LEVELS * above, (SCORED_LEVELS - 1.0) * above).mean(axis=1)
    low, high = (quantiles[:, round(100 * level) - 1] for level in (0.05, 0.95))
    return {
        "crps": float(2.0 * np.average(pinball, weights=weights)),
        "coverage": float(np.average((low <= y) & (y <= high), weights=weights)),
        "width": float(np.average(high - low, weights=weights)),
    }


def cross_validate_values(
    table: TrainingTable,
    regressor: LANNRegressor,
    *,
    n_folds: int = 5,
    random_state: int = 0,
    callback: Progress | None = None,
) -> pd.DataFrame:
    """Cross-validate a regressor on a table, and for comparison plain kNN and the mean.

    Parameters
    ----------
    table : TrainingTable
        With numbers to predict.
    regressor : LANNRegressor
        It is cloned.
    n_folds, random_state, callback
        As for `cross_validate`.

    Returns
    -------
    scores : DataFrame
        A row for each fold and method ("LANN", "kNN" or "mean"), with the columns ``fold``, ``method``, those
        of `score_values` and, for LANN, of `score_distribution`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lann import LANNRegressor
    >>> from lann.tables import TrainingTable, cross_validate_values
    >>> table = TrainingTable.from_frame(load_diabetes(as_frame=True).frame, "target")
    >>> scores = cross_validate_values(table, LANNRegressor(max_iter=2, random_state=0), n_folds=2)
    >>> scores["method"].tolist()
    ['LANN', 'kNN', 'mean', 'LANN', 'kNN', 'mean']
    """
    from sklearn.model_selection import StratifiedKFold

    validate("n_folds", n_folds, Integer(2))
    groups = group_values(table.labels, table.weights)
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=random_state)
    report, scores = callback or (lambda done, total: None), []
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        splits = list(folds.split(groups, groups))
    for fold, (train, test) in enumerate(splits):
        training, ours = table.subset(train), clone(regressor)
        on_epoch = partial(lambda fold, done, total: report(fold + done / max(total, 1), n_folds), fold)
        with reported_epochs(ours, callback and on_epoch):
            ours.fit(training.rows, training.labels, sample_weight=training.weights)
        tested = table.subset(test[table.rows.iloc[test].notna().any(axis=1).to_numpy()])
        y, weights = tested.labels, tested.weights
        used = [column for column in table.columns if column.is_used]
        quantiles = ours.predict_quantiles(tested.rows, SCORED_LEVELS)
        found = {"fold": fold, "method": "LANN", **score_values(y, ours.predict(tested.rows), weights)}
        scores.append(found | score_distribution(y, quantiles, weights))
        for method, other in fit_baselines(training.rows, training.labels, used, has_values=True).items():
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="Found unknown categories")
                predictions = other.predict(tested.rows)
            scores.append({"fold": fold, "method": method, **score_values(y, predictions, weights)})
        report(fold + 1, n_folds)
    return pd.DataFrame(scores)


def errors_by_part(y: Floats, predictions: Floats, intervals: Floats) -> pd.DataFrame:
    """Return how large errors are in each fifth of the rows by their predicted values.

    With the columns ``low``, ``high`` (of the predictions), ``n_rows``, ``mean_error`` (value minus
    prediction), ``mae`` and ``coverage``.
    """
    order, lines = np.argsort(predictions, kind="stable"), []
    for part in np.array_split(order, min(N_PARTS, len(y))):
        errors, own = y[part] - predictions[part], intervals[part]
        lines.append(
            {
                "low": float(predictions[part].min()),
                "high": float(predictions[part].max()),
                "n_rows": len(part),
                "mean_error": float(errors.mean()),
                "mae": float(np.abs(errors).mean()),
                "coverage": float(((own[:, 0] <= y[part]) & (y[part] <= own[:, 1])).mean()),
            }
        )
    return pd.DataFrame(lines)


def worst_slices(
    values: pd.DataFrame, columns: tuple[Column, ...], errors: Floats, most: int = 5
) -> pd.DataFrame:
    """Return where absolute errors are largest: categories, and quarters of numbers, beside all other rows.

    With the columns ``column``, ``values``, ``n_rows``, ``mae``, ``elsewhere`` and ``z``, how many standard
    errors lie between both.
    """
    least, lines = max(SMALLEST_SLICE * len(errors), 10), []
    for column in columns:
        own: Any = values[column.name]
        if column.kind in ("number", "date") and own.nunique() > N_PARTS:
            own = pd.qcut(own, 4, duplicates="drop")
        for value, rows in own.groupby(own, observed=True).groups.items():
            inside = values.index.isin(rows)
            if min(inside.sum(), (~inside).sum()) < least:
                continue
            ours, others = errors[inside], errors[~inside]
            deviation = np.sqrt(ours.var() / len(ours) + others.var() / len(others))
            lines.append(
                {
                    "column": column.name,
                    "values": _slice_text(column, value),
                    "n_rows": len(ours),
                    "mae": float(ours.mean()),
                    "elsewhere": float(others.mean()),
                    "z": float((ours.mean() - others.mean()) / deviation) if deviation > 0 else 0.0,
                }
            )
    found = pd.DataFrame(lines, columns=["column", "values", "n_rows", "mae", "elsewhere", "z"])
    return found[found["z"] > 2.0].sort_values("z", ascending=False, kind="stable", ignore_index=True)[:most]


def _slice_text(column: Column, value: Any) -> str:
    if isinstance(value, pd.Interval):
        return f"{column.format(value.left)} to {column.format(value.right)}"
    return column.format(value)
