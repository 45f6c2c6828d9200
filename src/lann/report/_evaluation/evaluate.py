"""From a model and test rows to an evaluation, in one call."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lann._base import NeighborClassifier
from lann._support.format import counted, percent
from lann._support.types import Floats, Indices
from lann._support.validation import Integer, validate
from lann.persist import CrossValidatedMethod
from lann.report._evaluation.evaluation import SAME_VALUES, Audit, Evaluation, now, seed_of, versions
from lann.report._evaluation.findings import confident_mistakes, find_slices, rejection, reliability
from lann.report._evaluation.scores import Predictions, class_scores, confusions, score_methods
from lann.tables import Column, TableModel, TableWarning, apply_columns, fit_baselines, infer_columns

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
        columns = tuple(column for column in infer_columns(frame)[0] if column.is_used)
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


N_RESAMPLES = 1000
N_MISTAKES = 10
# Labels that a message names.
MOST_LISTED = 5


def evaluate(
    model: TableModel | Any,
    X: Any,
    y: str | ArrayLike | None = None,
    *,
    sample_weight: str | ArrayLike | None = None,
    training: tuple[Any, ArrayLike] | None = None,
    random_state: int = 0,
    n_resamples: int = N_RESAMPLES,
    name: str = "the table",
) -> Evaluation:
    """Evaluate a model on test rows with labels.

    Scores are those of scikit-learn, with 95% intervals: Wilson's for accuracies, precisions and recalls;
    percentiles over resamples of the rows for balanced accuracy, AUC, log-loss, Brier score and all
    differences of methods. Rows without a label are left out. Rows with a label that the model does not know
    count as mistakes; AUC, log-loss and Brier score are of the others.

    Parameters
    ----------
    model : TableModel or estimator
        A TableModel, or any fitted classifier with `predict_proba`.
    X : DataFrame or array-like of shape (n_rows, n_features)
        The test rows. Columns that a TableModel does not use are looked at for slices.
    y : str, array-like of shape (n_rows,) or None, default=None
        Name of the column of `X` with the labels, or the labels. None is the target of a TableModel.
    sample_weight : str, array-like of shape (n_rows,) or None, default=None
        As how many rows each row counts: weights, or for a TableModel the name of a column. None is the
        column of the training table, if `X` has it.
    training : tuple of X and y or None, default=None
        The training rows, to compare with kNN and the largest class. Classifiers of lann that keep them do
        not need it.
    random_state : int, default=0
        Determines the resamples.
    n_resamples : int, default=1000
        Number of resamples; 0 leaves out the intervals that need them.
    name : str, default="the table"
        Name of the table in messages.

    Returns
    -------
    evaluation : Evaluation

    Raises
    ------
    ValueError
        If there are no labels or the model knows none of them, the model has no probabilities, or the rows
        are not as the model needs them.

    See Also
    --------
    save_evaluation : A page about an evaluation.
    lann.tables.cross_validate : Scores without test rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lann.report import evaluate
    >>> from lann.tables import TableModel
    >>> frame = load_breast_cancer(as_frame=True).frame
    >>> evaluation = evaluate(TableModel.fit(frame[:400], "target"), frame[400:])
    >>> evaluation
    <Evaluation of LANN on 169 rows: accuracy 0.976 (0.941 to 0.991)>
    >>> evaluation.reliability.bins[-1].sentence
    'When it said 99%, it was right in 99% (155 rows).'
    """
    validate("random_state", random_state, Integer(0))
    validate("n_resamples", n_resamples, Integer(0))
    if isinstance(model, NeighborClassifier) and training is None:
        model = TableModel(model)
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TableWarning)
        if isinstance(model, TableModel):
            rows = rows_of_table_model(model, as_frame(X), y, sample_weight, name)
        else:
            rows = rows_of_estimator(model, X, y, sample_weight, training)
    for warning in caught:
        if issubclass(warning.category, TableWarning):
            notes.append(str(warning.message))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    predictions = Predictions.from_labels(
        rows.labels, rows.probabilities, rows.estimator.classes_, rows.weights
    )
    _check_any_known(predictions, name)
    methods = {_method_name(rows.estimator): predictions, **_baselines(rows, predictions)}
    return Evaluation(
        classes=predictions.classes,
        labels=predictions.classes[predictions.truth],
        predictions=predictions.classes[predictions.predicted],
        probabilities=predictions.probabilities,
        row_numbers=rows.row_numbers,
        methods=score_methods(methods, n_resamples=n_resamples, random_state=random_state),
        by_class=class_scores(predictions),
        confusion_matrix=confusions(predictions),
        reliability=reliability(predictions, random_state),
        rejection=rejection(methods, rows.certainties),
        slices=find_slices(predictions, rows.values, rows.columns, rows.used),
        mistakes=confident_mistakes(predictions, N_MISTAKES, rows.row_numbers, rows.ids, rows.explain),
        notes=(*_notes(rows, predictions), *dict.fromkeys(notes)),
        audit=Audit(
            created=now(),
            versions=versions(),
            model=type(rows.estimator).__name__,
            random_state=seed_of(rows.estimator),
            evaluation_random_state=random_state,
            n_resamples=n_resamples,
            n_rows=len(predictions),
            n_columns=len(rows.used),
            n_train=None if rows.training is None else len(rows.training.labels),
            trained_on=rows.trained_on,
            cross_validation=rows.cross_validation,
        ),
    )


def _method_name(estimator: Any) -> str:
    name = type(estimator).__name__
    return "LANN" if name == "LANNClassifier" else name


def _check_any_known(rows: Predictions, name: str) -> None:
    """Raise ValueError if the model knows none of the labels."""
    if not rows.is_known.any():
        found = _listed(rows.classes[rows.n_known :])
        classes = _listed(rows.classes[: rows.n_known])
        raise ValueError(f"The model knows none of the labels of {name}: {found}; its classes are {classes}.")


def _baselines(rows: EvaluatedRows, predictions: Predictions) -> dict[str, Predictions]:
    """Return the predictions of plain kNN and of a guess; none if the training rows are unknown."""
    training = rows.training
    if training is None:
        return {}
    names = [column.name for column in training.columns]
    fitted = fit_baselines(
        training.values[names], training.labels, training.columns, sample_weight=training.weights
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Found unknown categories")
        return {
            name: predictions.with_probabilities(
                baseline.predict_proba(rows.values[names]), baseline.classes_
            )
            for name, baseline in fitted.items()
        }


def _notes(rows: EvaluatedRows, predictions: Predictions) -> list[str]:
    """Return what a reader has to know about the test rows, a sentence each."""
    notes = []
    if rows.n_left_out:
        what = "no label" if rows.weights is None else "no label or the weight 0"
        have, are = ("has", "is") if rows.n_left_out == 1 else ("have", "are")
        notes.append(f"{counted(rows.n_left_out, 'row')} {have} {what} and {are} left out.")
    unknown = ~predictions.is_known
    if unknown.any():
        labels = _listed(predictions.classes[predictions.n_known :])
        n_rows = int(unknown.sum())
        have, count = (
            ("has a label", "counts as a mistake") if n_rows == 1 else ("have labels", "count as mistakes")
        )
        notes.append(
            f"{counted(n_rows, 'row')} {have} that the model does not know, {labels}, and {count}; AUC, "
            "log-loss and Brier score are of the other rows."
        )
    if len(np.unique(predictions.truth)) == 1:
        label = predictions.classes[predictions.truth[0]]
        notes.append(f"All test rows have the label {str(label)!r}: there is no AUC.")
    if rows.missing_weights is not None:
        notes.append(
            f"The training rows have weights in the column {rows.missing_weights!r}, which the test rows do "
            "not have: all of them count the same."
        )
    n_same, n_rows = _n_training_rows(rows), len(predictions)
    if n_same:
        rows_of = f"{counted(n_same, 'row')} of {n_rows:,} ({percent(n_same / n_rows)})"
        effect = "If these are the same cases, the figures are optimistic."
        if n_same > n_rows / 2:
            effect = "The model was fitted to most of these rows, it seems, and the figures are too good."
        have = "has" if n_same == 1 else "have"
        notes.append(f"{rows_of} {have} {SAME_VALUES}. {effect}")
    return notes


def _n_training_rows(rows: EvaluatedRows) -> int:
    """Return how many test rows have the values of a training row."""
    if rows.training is None:
        return 0
    names = [column.name for column in rows.training.columns]

    def hashes(frame: pd.DataFrame) -> Any:
        return pd.util.hash_pandas_object(frame[names].astype(object), index=False).to_numpy()

    return int(np.isin(hashes(rows.values), hashes(rows.training.values)).sum())


def _listed(labels: Any) -> str:
    texts = [repr(str(label)) for label in labels[:MOST_LISTED]]
    more = len(labels) - len(texts)
    return ", ".join(texts) + (f" and {more} more" if more > 0 else "")
