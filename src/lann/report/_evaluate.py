"""From a model and test rows to an evaluation."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import confusion_matrix

from lann._base import NeighborClassifier
from lann._support.format import counted, percent
from lann._support.types import Floats, Indices
from lann._support.validation import Integer, validate
from lann.columns.inputs import row_ids, take_rows
from lann.report._evaluation import SAME_VALUES, Evaluation, origin
from lann.report._findings import find_slices, rejection, reliability
from lann.report._scores import Predictions, class_table, score_table
from lann.tables import LabeledRows, TableModel, TableWarning, apply_columns, fit_baselines, infer_columns

N_RESAMPLES = 1000
N_MISTAKES = 10
# Labels that a message names.
MOST_LISTED = 5


class _TestRows(NamedTuple):
    """Test rows with labels, and what a model predicts for them.

    `used` has the names of the columns that the model uses, `training` is None if the training rows are
    unknown, `explain` returns sentences about rows by their numbers, and `missing_weights` names a column of
    weights that only the training rows have.
    """

    labeled: LabeledRows
    probabilities: Floats
    used: list[str]
    training: LabeledRows | None
    explain: Callable[[Indices], list[str]] | None = None
    missing_weights: str | None = None
    certainties: Floats | None = None


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
        Sample weights, or for a TableModel the name of a column. None is the column of the training table,
        if `X` has it.
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
    <Evaluation of LANN on 169 rows: accuracy 0.982 (0.949 to 0.994)>
    >>> evaluation.reliability.sentences[0]
    'When it said 99%, it was right in 100% (144 rows).'
    """
    validate("random_state", random_state, Integer(0))
    validate("n_resamples", n_resamples, Integer(0))
    if isinstance(model, NeighborClassifier) and training is None:
        model = TableModel(model)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TableWarning)
        if isinstance(model, TableModel):
            estimator, record = model.classifier, model.record
            rows = _rows_of_table_model(model, _as_frame(X), y, sample_weight, name)
        else:
            estimator, record = model, None
            rows = _rows_of_estimator(model, X, y, sample_weight, training)
    notes = [str(warning.message) for warning in caught if issubclass(warning.category, TableWarning)]
    for warning in caught:
        if not issubclass(warning.category, TableWarning):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    labeled, known = rows.labeled, estimator.classes_
    predictions = Predictions.from_labels(labeled.labels, rows.probabilities, known, labeled.weights)
    truth, predicted, classes = predictions.truth, predictions.predicted, predictions.classes
    if not predictions.is_known.any():
        unknown = _listed(classes[predictions.n_known :])
        raise ValueError(
            f"The model knows none of the labels of {name}: {unknown}; its classes are {_listed(known)}."
        )
    first = "LANN" if type(estimator).__name__ == "LANNClassifier" else type(estimator).__name__
    methods = {first: predictions, **_baselines(rows, predictions)}
    matrix = confusion_matrix(truth, predicted, labels=range(len(classes)), sample_weight=predictions.weights)
    return Evaluation(
        classes=classes,
        labels=classes[truth],
        predictions=classes[predicted],
        probabilities=predictions.probabilities,
        row_numbers=labeled.row_numbers,
        scores=score_table(methods, n_resamples=n_resamples, random_state=random_state),
        by_class=class_table(predictions),
        confusion_matrix=matrix.astype(np.float64),
        reliability=reliability(predictions, random_state),
        rejection=rejection(methods, rows.certainties),
        slices=find_slices(predictions, labeled.values, labeled.columns, rows.used),
        mistakes=_mistakes(rows, predictions),
        notes=(*_notes(rows, predictions), *dict.fromkeys(notes)),
        audit=origin(estimator)
        | {
            "evaluation_random_state": random_state,
            "n_resamples": n_resamples,
            "n_rows": len(predictions),
            "n_columns": len(rows.used),
            "n_train": None if rows.training is None else len(rows.training.labels),
            "data_file": None,
            "model_file": None,
            "trained_on": getattr(record, "data_sha256", None),
            "is_training_file": False,
            "cross_validation": getattr(record, "cross_validation", None),
        },
    )


def _mistakes(rows: _TestRows, predictions: Predictions) -> pd.DataFrame:
    """Return the most confident mistakes, the highest probability first, and why they were made."""
    classes, labeled = predictions.classes.astype(object), rows.labeled
    wrong = np.flatnonzero(~predictions.correct)
    shown = wrong[np.argsort(-predictions.confidences[wrong], kind="stable")][:N_MISTAKES]
    truth, numbers, sentences = predictions.truth[shown], labeled.row_numbers[shown], None
    if rows.explain is not None and len(shown):
        sentences = pd.Series(rows.explain(numbers), dtype=object)
    padded = np.pad(predictions.probabilities[shown], ((0, 0), (0, 1)), constant_values=np.nan)
    return pd.DataFrame(
        {
            "row": numbers,
            "label": classes[truth],
            "prediction": classes[predictions.predicted[shown]],
            "probability": predictions.confidences[shown],
            # NaN of a label that is unknown
            "label_probability": padded[np.arange(len(shown)), np.minimum(truth, predictions.n_known)],
            "id": None if labeled.ids is None else labeled.ids[shown].astype(str),
            "sentence": sentences,
        }
    )


def _rows_of_table_model(
    model: TableModel,
    frame: pd.DataFrame,
    y: str | ArrayLike | None,
    sample_weight: str | ArrayLike | None,
    name: str,
) -> _TestRows:
    """Return the rows of a table with labels, for a model of tables."""
    classifier, record = model.classifier, model.record
    rows = model.labeled_rows(frame, y, sample_weight=sample_weight, name=name)
    index = row_ids(frame)
    if rows.ids is None and index is not None:
        rows = replace(rows, ids=index[rows.row_numbers])
    # A classifier without column names takes exactly its columns.
    has_names = hasattr(classifier, "feature_names_in_")
    features = frame if has_names or not isinstance(y, str) else frame.drop(columns=y)

    def explain(numbers: Indices) -> list[str]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TableWarning)
            # All training rows vote, as in the predictions that are evaluated.
            return model.explain(features, numbers, leave_out=None, name=name).in_words()

    missing_weights = certainties = None
    if record is not None and record.reject is not None:
        certainties = model.reject_option().certainties(rows.X)
    if record is not None and sample_weight is None and rows.weights is None:
        missing_weights = record.sample_weight_column
    fitted = classifier.model_
    training = LabeledRows(
        model.row_numbers, fitted.X, model.training_rows(), model.columns, classifier.classes_[fitted.labels],
        fitted.row_weights, model.ids, 0,
    )  # fmt: skip
    probabilities, used = classifier.predict_proba(rows.X), model.feature_names
    return _TestRows(rows, probabilities, used, training, explain, missing_weights, certainties)


def _rows_of_estimator(
    model: Any,
    X: Any,
    y: str | ArrayLike | None,
    sample_weight: str | ArrayLike | None,
    training: tuple[Any, ArrayLike] | None,
) -> _TestRows:
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
    rows = _labeled_rows(X, y, sample_weight, "X")
    fitted_to = None if training is None else _labeled_rows(*training, None, "the training data")
    probabilities = np.asarray(model.predict_proba(rows.X), dtype=np.float64)
    return _TestRows(rows, probabilities, _as_frame(X).columns.tolist(), fitted_to)


def _labeled_rows(X: Any, y: ArrayLike, sample_weight: Any, name: str) -> LabeledRows:
    """Return the rows of a table or an array that have a label and a weight."""
    labels, frame, ids = np.asarray(y), _as_frame(X), row_ids(X)
    if len(labels) != len(frame):
        raise ValueError(f"There are {len(labels)} labels for the {len(frame)} rows of {name}.")
    weights = np.ones(len(labels)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != labels.shape or not np.all(np.isfinite(weights) & (weights >= 0)):
        raise ValueError(f"sample_weight must have {len(labels)} finite numbers of at least 0.")
    rows = np.flatnonzero(~pd.isna(labels) & (weights > 0))
    if len(rows) == 0:
        raise ValueError(f"There is no row with a label in {name}.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        columns = tuple(column for column in infer_columns(frame)[0] if column.is_used)
    return LabeledRows(
        row_numbers=rows,
        X=take_rows(X if hasattr(X, "shape") else np.asarray(X), rows),
        values=apply_columns(frame, columns).iloc[rows],
        columns=columns,
        labels=labels[rows],
        weights=None if sample_weight is None else weights[rows],
        ids=None if ids is None else ids[rows],
        n_left_out=len(labels) - len(rows),
    )


def _as_frame(X: Any) -> pd.DataFrame:
    """Return rows as a table of pandas; the columns of an array are x0, x1, and so on."""
    frame = X.to_pandas() if hasattr(X, "to_pandas") else X  # polars and pyarrow
    if not isinstance(frame, pd.DataFrame):
        frame = np.asarray(frame)
        if frame.ndim != 2:
            raise ValueError(f"X must have two dimensions, rows and columns; got {frame.ndim}.")
        frame = pd.DataFrame(frame).add_prefix("x")
    return frame.set_axis([str(name) for name in frame.columns], axis=1)


def _baselines(rows: _TestRows, predictions: Predictions) -> Mapping[str, Predictions]:
    """Return the predictions of plain kNN and of a guess; none if the training rows are unknown."""
    if rows.training is None:
        return {}
    training = rows.training
    names = [column.name for column in training.columns]
    baselines = fit_baselines(
        training.values[names], training.labels, training.columns, sample_weight=training.weights
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Found unknown categories")
        return {
            name: predictions.with_probabilities(
                fitted.predict_proba(rows.labeled.values[names]), fitted.classes_
            )
            for name, fitted in baselines.items()
        }


def _notes(rows: _TestRows, predictions: Predictions) -> list[str]:
    """Return what a reader has to know about the test rows, a sentence each."""
    notes, n_rows, labeled = [], len(predictions), rows.labeled
    if n_left_out := labeled.n_left_out:
        what = "no label" if labeled.weights is None else "no label or the weight 0"
        have, are = ("has", "is") if n_left_out == 1 else ("have", "are")
        notes.append(f"{counted(n_left_out, 'row')} {have} {what} and {are} left out.")
    if n_unknown := int((~predictions.is_known).sum()):
        have, count = ("has a label", "counts as a mistake")
        if n_unknown > 1:
            have, count = ("have labels", "count as mistakes")
        notes.append(
            f"{counted(n_unknown, 'row')} {have} that the model does not know, "
            f"{_listed(predictions.classes[predictions.n_known :])}, and {count}; AUC, log-loss and Brier "
            "score are of the other rows."
        )
    if len(np.unique(predictions.truth)) == 1:
        label = predictions.classes[predictions.truth[0]]
        notes.append(f"All test rows have the label {str(label)!r}: there is no AUC.")
    if rows.missing_weights is not None:
        notes.append(
            f"The training rows have weights in the column {rows.missing_weights!r}, which the test rows do "
            "not have: all of them count the same."
        )
    if rows.training is None:
        return notes
    names = [column.name for column in rows.training.columns]
    test, train = (
        pd.util.hash_pandas_object(part.values[names].astype(object), index=False)
        for part in (labeled, rows.training)
    )
    if n_same := int(np.isin(test, train).sum()):
        effect = "If these are the same cases, the figures are optimistic."
        if n_same > n_rows / 2:
            effect = "The model was fitted to most of these rows, it seems, and the figures are optimistic."
        notes.append(
            f"{counted(n_same, 'row')} of {n_rows:,} ({percent(n_same / n_rows)}) "
            f"{'has' if n_same == 1 else 'have'} {SAME_VALUES}. {effect}"
        )
    return notes


def _listed(labels: NDArray[Any]) -> str:
    texts = [repr(str(label)) for label in labels[:MOST_LISTED]]
    more = len(labels) - len(texts)
    return ", ".join(texts) + (f" and {more} more" if more > 0 else "")
