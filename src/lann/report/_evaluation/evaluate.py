"""From a model and test rows to an evaluation, in one call."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from lann._format import counted, percent
from lann._neighbor_classifier import NeighborClassifier
from lann._validation import Integer, validate
from lann.report._evaluation.audit import Audit, now, seed_of, versions
from lann.report._evaluation.by_class import class_scores, confusions
from lann.report._evaluation.evaluation import SAME_VALUES, Evaluation
from lann.report._evaluation.inputs import EvaluatedRows, as_frame, rows_of_estimator, rows_of_table_model
from lann.report._evaluation.mistakes import confident_mistakes
from lann.report._evaluation.predictions import Predictions
from lann.report._evaluation.rejection import rejection
from lann.report._evaluation.reliability import reliability
from lann.report._evaluation.scores import score_methods
from lann.report._evaluation.slices import find_slices
from lann.tables import TableModel, TableWarning, fit_baselines

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
    >>> from lann.tables import fit_table
    >>> frame = load_breast_cancer(as_frame=True).frame
    >>> evaluation = evaluate(fit_table(frame[:400], "target"), frame[400:])
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
