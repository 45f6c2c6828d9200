"""How well a model predicts numbers: scores beside kNN and the mean, and where errors are largest."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from lann._support.format import counted, to_plain
from lann.tables import (
    SCORED_LEVELS,
    TableModel,
    errors_by_part,
    fit_baselines,
    score_distribution,
    score_values,
    worst_slices,
)

# Scores of predicted numbers, and their names; errors are absolute, coverage and width those of intervals.
VALUE_SCORES = {
    "r2": "R²",
    "rmse": "RMSE",
    "mae": "mean error",
    "median_error": "median error",
    "crps": "CRPS",
    "coverage": "90% coverage",
    "width": "90% width",
}
# The largest errors that are listed.
MOST_ERRORS = 5


@dataclass(frozen=True, eq=False, repr=False)
class ValueEvaluation:
    """How well a model predicts the numbers of some rows.

    `evaluate_values` returns it.

    Attributes
    ----------
    target : str
    n_rows, n_left_out : int
        Number of rows with a number, and of those without one or with the weight 0.
    scores : DataFrame
        A row for each score in `VALUE_SCORES`, and the columns "LANN", "kNN" and "mean".
    by_part : DataFrame
        Errors in each fifth of the rows by their predicted values: ``low``, ``high``, ``n_rows``,
        ``mean_error`` (number minus prediction), ``mae`` and ``coverage``.
    worst_slices : DataFrame
        Where absolute errors are larger than elsewhere beyond two standard errors.
    largest_errors : DataFrame
        The rows with the largest errors: ``row``, ``id``, ``value``, ``prediction``, ``low`` and ``high``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lann.report import evaluate_values
    >>> from lann.tables import TableModel
    >>> frame = load_diabetes(as_frame=True).frame
    >>> evaluation = evaluate_values(TableModel.fit(frame[::2], "target"), frame[1::2])
    >>> evaluation.scores.columns.tolist(), bool(evaluation.scores["LANN"]["r2"] > 0.3)
    (['LANN', 'kNN', 'mean'], True)
    """

    target: str
    n_rows: int
    n_left_out: int
    scores: pd.DataFrame
    by_part: pd.DataFrame
    worst_slices: pd.DataFrame
    largest_errors: pd.DataFrame

    @property
    def summary(self) -> str:
        """The main scores, in a sentence."""
        own = self.scores["LANN"]
        return (
            f"Of {counted(self.n_rows, 'row')}, {own['coverage']:.0%} have their {self.target} within the "
            f"90% interval; half of the predictions are off by at most {own['median_error']:.4g}. "
            f"R² is {own['r2']:.3f}, that of kNN {self.scores['kNN']['r2']:.3f}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON has it.

        Returns
        -------
        values : dict
        """
        tables = ("by_part", "worst_slices", "largest_errors")
        plain: dict[str, Any] = to_plain(
            {
                "target": self.target,
                "n_rows": self.n_rows,
                "n_left_out": self.n_left_out,
                "scores": {method: self.scores[method].dropna().to_dict() for method in self.scores},
                **{name: getattr(self, name).to_dict("records") for name in tables},
            }
        )
        return plain


def evaluate_values(
    model: TableModel,
    frame: pd.DataFrame,
    target: str | ArrayLike | None = None,
    *,
    sample_weight: str | ArrayLike | None = None,
    name: str = "the table",
) -> ValueEvaluation:
    """Evaluate a model that predicts numbers on rows whose numbers are known.

    Plain kNN and the mean, for comparison, are fitted to the training rows of the model.

    Parameters
    ----------
    model : TableModel
        With a LANNRegressor.
    frame : DataFrame
        With the columns of the training table, in any order.
    target : str, array-like of shape (n_rows,) or None, default=None
        Name of the column with the numbers, or the numbers. None is the target of the training table.
    sample_weight : str, array-like of shape (n_rows,) or None, default=None
        Sample weights, or the name of their column. None is that of the training table, if `frame` has it.
    name : str, default="the table"
        Name of the table in messages.

    Returns
    -------
    evaluation : ValueEvaluation

    Raises
    ------
    ValueError
        If the model predicts labels, a column is missing, or no row has a number.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lann.report import evaluate_values
    >>> from lann.tables import TableModel
    >>> frame = load_diabetes(as_frame=True).frame
    >>> evaluate_values(TableModel.fit(frame[::2], "target"), frame[1::2]).by_part["n_rows"].sum()
    np.int64(221)
    """
    if not model.has_values:
        raise ValueError("The model predicts labels; evaluate it by lann.report.evaluate.")
    rows, regressor = (
        model.labeled_rows(frame, target, sample_weight=sample_weight, name=name),
        model.classifier,
    )
    y, predictions = rows.labels, regressor.predict(rows.X)
    intervals = regressor.predict_interval(rows.X)
    own = score_values(y, predictions, rows.weights)
    own |= score_distribution(y, regressor.predict_quantiles(rows.X, SCORED_LEVELS), rows.weights)
    scores, weights = {"LANN": own}, regressor.model_.row_weights
    baselines = fit_baselines(
        model.training_rows(), regressor.model_.values, model.columns, sample_weight=weights, has_values=True
    )
    for method, fitted in baselines.items():
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Found unknown categories")
            found = fitted.predict(rows.values[model.feature_names])
        scores[method] = score_values(y, found, rows.weights)
    order = np.argsort(-np.abs(y - predictions), kind="stable")[:MOST_ERRORS]
    largest = {
        "row": rows.row_numbers[order],
        "id": None if rows.ids is None else rows.ids[order],
        "value": y[order],
        "prediction": predictions[order],
        "low": intervals[order, 0],
        "high": intervals[order, 1],
    }
    return ValueEvaluation(
        target=target if isinstance(target, str) else model.target or "value",
        n_rows=len(y),
        n_left_out=rows.n_left_out,
        scores=pd.DataFrame(scores).reindex(list(VALUE_SCORES)),
        by_part=errors_by_part(y, predictions, intervals),
        worst_slices=worst_slices(rows.values, rows.columns, np.abs(y - predictions)),
        largest_errors=pd.DataFrame({key: value for key, value in largest.items() if value is not None}),
    )
