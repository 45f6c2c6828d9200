"""Test rows and the model that predicts them, whatever kind of model it is."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lann._types import Floats, Indices
from lann.persist import CrossValidatedMethod
from lann.tables import Column, TableModel, TableWarning, apply_columns, infer_columns

Training = tuple[Any, ArrayLike]


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The rows to which a model was fitted: values, labels, weights and what the columns have."""

    values: pd.DataFrame
    labels: NDArray[Any]
    weights: Floats | None
    columns: tuple[Column, ...]


@dataclass(frozen=True, eq=False)
class EvaluatedRows:
    """Test rows with labels, and what a model says about them.

    Attributes
    ----------
    estimator : estimator
    labels : ndarray of shape (n_rows,)
    probabilities : ndarray of shape (n_rows, n_classes)
    weights : ndarray of shape (n_rows,) or None
    values : DataFrame of shape (n_rows, n_columns)
    columns : tuple of Column
    used : list of str
        Names of the columns that the model uses.
    row_numbers : ndarray of shape (n_rows,)
    ids : ndarray of shape (n_rows,) or None
    training : TrainingRows or None
        None if the training rows are unknown.
    explain : callable or None
        From positions of rows to a sentence for each.
    trained_on, cross_validation
        As `TableRecord` has them.
    n_left_out : int
        Number of rows without a label or with the weight 0.
    missing_weights : str or None
        Name of the column with weights that the training rows have and the test rows do not.
    certainties : ndarray of shape (n_rows,) or None
        Of the reject option of a model of tables; None if it has none.
    """

    estimator: Any
    labels: NDArray[Any]
    probabilities: Floats
    weights: Floats | None
    values: pd.DataFrame
    columns: tuple[Column, ...]
    used: list[str]
    row_numbers: Indices
    ids: NDArray[Any] | None
    training: TrainingRows | None
    explain: Callable[[Indices], list[str]] | None
    n_left_out: int
    trained_on: str | None = None
    cross_validation: list[CrossValidatedMethod] | None = None
    missing_weights: str | None = None
    certainties: Floats | None = None


def rows_of_table_model(
    model: TableModel,
    frame: pd.DataFrame,
    y: str | ArrayLike | None,
    sample_weight: str | ArrayLike | None,
    name: str,
) -> EvaluatedRows:
    """Return the rows of a table with labels, for a model of tables."""
    classifier, record = model.classifier, model.record
    rows = model.labeled_rows(frame, y, sample_weight=sample_weight, name=name)

    def explain(positions: Indices) -> list[str]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TableWarning)
            # All training rows vote, as in the predictions that are evaluated.
            numbers = rows.row_numbers[positions]
            return model.explain(features, numbers, leave_out=None, name=name).in_words()

    # A classifier without column names takes exactly its columns.
    has_names = hasattr(classifier, "feature_names_in_")
    features = frame if has_names or not isinstance(y, str) else frame.drop(columns=y)
    weight_column = None if record is None or sample_weight is not None else record.sample_weight_column
    return EvaluatedRows(
        estimator=classifier,
        labels=rows.labels,
        probabilities=classifier.predict_proba(rows.X),
        weights=rows.weights,
        values=rows.values,
        columns=rows.columns,
        used=model.feature_names,
        row_numbers=rows.row_numbers,
        ids=_index_names(frame, rows.row_numbers) if rows.ids is None else rows.ids,
        training=TrainingRows(
            model.training_rows(),
            classifier.classes_[classifier.model_.labels],
            classifier.model_.row_weights,
            model.columns,
        ),
        explain=explain,
        n_left_out=rows.n_left_out,
        trained_on=None if record is None else record.data_sha256,
        cross_validation=None if record is None else record.cross_validation,
        missing_weights=weight_column if rows.weights is None else None,
        certainties=_certainties(model, rows.X),
    )


def _certainties(model: TableModel, X: Any) -> Floats | None:
    """Return how certain the predictions are to the reject option of a model; None if it has none."""
    if model.record is None or model.record.reject is None:
        return None
    return model.reject_option().certainties(X)


def rows_of_estimator(
    model: Any, X: Any, y: str | ArrayLike | None, sample_weight: ArrayLike | None, training: Training | None
) -> EvaluatedRows:
    """Return rows with labels, for any classifier of scikit-learn."""
    if not hasattr(model, "predict_proba"):
        raise ValueError(
            f"The model is a {type(model).__name__} without predict_proba, which an evaluation needs."
        )
    if y is None:
        raise ValueError("y is needed: the labels of the rows of X.")
    if isinstance(y, str):
        if not isinstance(X, pd.DataFrame) or y not in X:
            raise ValueError(f"There is no column {y!r} in X for y.")
        X, y = X.drop(columns=y), X[y]
    labels = np.asarray(y)
    frame = as_frame(X)
    if len(labels) != len(frame):
        raise ValueError(f"There are {len(labels)} labels for the {len(frame)} rows of X.")
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weights is not None and (
        weights.shape != labels.shape or not np.all(np.isfinite(weights) & (weights >= 0))
    ):
        raise ValueError(f"sample_weight must have {len(labels)} finite numbers of at least 0.")
    is_used = ~pd.isna(labels) if weights is None else ~pd.isna(labels) & (weights > 0)
    rows = np.flatnonzero(is_used)
    if len(rows) == 0:
        raise ValueError("There is no row with a label in X.")
    known = labels[rows]
    columns, values = _typed(frame)
    return EvaluatedRows(
        estimator=model,
        labels=known,
        probabilities=np.asarray(model.predict_proba(_taken(X, rows)), dtype=np.float64),
        weights=None if weights is None else weights[rows],
        values=values.iloc[rows],
        columns=columns,
        used=list(frame.columns),
        row_numbers=rows,
        ids=_index_names(frame, rows),
        training=None if training is None else _training_rows(training),
        explain=None,
        n_left_out=len(labels) - len(rows),
    )


def as_frame(X: Any) -> pd.DataFrame:
    """Return rows as a table of pandas; the columns of an array are x0, x1, and so on."""
    if isinstance(X, pd.DataFrame):
        return X.set_axis([str(name) for name in X.columns], axis=1)
    if hasattr(X, "to_pandas"):  # polars and pyarrow
        frame: pd.DataFrame = X.to_pandas()
        return frame
    X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and columns; got {X.ndim}.")
    return pd.DataFrame(X, columns=[f"x{column}" for column in range(X.shape[1])])


def _typed(frame: pd.DataFrame) -> tuple[tuple[Column, ...], pd.DataFrame]:
    """Return what the columns of a table have, and their values."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        columns = tuple(column for column in infer_columns(frame) if column.is_used)
    return columns, apply_columns(frame, columns)


def _training_rows(training: Training) -> TrainingRows:
    X, y = training
    columns, values = _typed(as_frame(X))
    labels = np.asarray(y)
    if len(labels) != len(values):
        raise ValueError(f"There are {len(labels)} labels for the {len(values)} rows of the training data.")
    return TrainingRows(values, labels, None, columns)


def _taken(X: Any, rows: Indices) -> Any:
    """Return some rows of a table or an array."""
    if isinstance(X, pd.DataFrame):
        return X.iloc[rows]
    return X[rows] if hasattr(X, "shape") else np.asarray(X)[rows]


def _index_names(frame: pd.DataFrame, rows: Indices) -> NDArray[Any] | None:
    """Return the names of rows in the index of their table; None if it counts them from 0."""
    if isinstance(frame.index, pd.RangeIndex) and frame.index.start == 0 and frame.index.step == 1:
        return None
    return np.array([str(name) for name in frame.index[rows]])
