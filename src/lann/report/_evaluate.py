"""From a model and test rows to an evaluation."""

from __future__ import annotations

import os
import platform
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import sklearn
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import confusion_matrix

from lann import __version__
from lann._base import NeighborClassifier
from lann._support.files import read_content
from lann._support.format import counted, percent, to_plain
from lann._support.types import Floats, Indices
from lann._support.validation import Integer, validate
from lann.columns.inputs import row_ids, take_rows
from lann.report._findings import (
    COVERAGES,
    Rejection,
    Reliability,
    confident_mistakes,
    find_slices,
    rejection,
    reliability,
)
from lann.report._scores import Predictions, class_table, score_table
from lann.tables import (
    Column,
    LabeledRows,
    TableModel,
    TableWarning,
    apply_columns,
    fit_baselines,
    infer_columns,
)

N_RESAMPLES = 1000
N_MISTAKES = 10
# Labels that a message names.
MOST_LISTED = 5
# Of test rows, in a note.
SAME_VALUES = "the values of a training row in all columns"


class SourceFile(NamedTuple):
    """A file by its name and content.

    Attributes
    ----------
    name : str
    sha256 : str
        SHA-256 of the content, as 64 hexadecimal digits.

    Examples
    --------
    >>> from lann.report import SourceFile
    >>> SourceFile("empty.csv", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855").name
    'empty.csv'
    """

    name: str
    sha256: str

    @classmethod
    def from_path(cls, path: str | os.PathLike[str]) -> SourceFile:
        """Return the name of a file, without its folder, and its hash.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        file : SourceFile

        Raises
        ------
        OSError
            If the file cannot be read.
        """
        return cls(Path(path).name, sha256(read_content(path)).hexdigest())


def origin(model: Any) -> dict[str, Any]:
    """Return the date, the versions, and the class and the seed of a model."""
    seed = getattr(model, "random_state", None)
    return {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {
            "lann": __version__,
            "Python": platform.python_version(),
            "numpy": np.__version__,
            "scikit-learn": sklearn.__version__,
        },
        "model": type(model).__name__,
        "random_state": int(seed) if isinstance(seed, int | np.integer) else None,
    }


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How well a model predicts test rows; `evaluate` returns it.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        Those of the model, and after them labels of test rows that it does not know.
    labels, predictions : ndarray of shape (n_rows,)
    probabilities : ndarray of shape (n_rows, n_known_classes)
        Of the classes that the model knows.
    row_numbers : ndarray of shape (n_rows,)
        Positions of the rows in the table.
    scores : DataFrame
        A line for each method and score, the model first and, if the training rows are known, kNN and a guess
        of the largest class ("majority"): ``value``, ``low`` and ``high`` (its 95% interval),
        ``difference``, ``difference_low`` and ``difference_high`` (the model minus the method), and
        ``verdict`` ("better" or "worse" if the model is, beyond the interval of the difference).
    by_class : DataFrame
        A line for each class: ``label``, ``precision`` and ``recall`` with their intervals in
        ``precision_low`` and so on, ``f1``, ``n_rows``, ``n_predicted`` and ``is_known`` (to the model).
    confusion_matrix : ndarray of shape (n_classes, n_classes)
        How many rows with each label (a row of the matrix) are predicted as each class (a column).
    reliability : Reliability
    rejection : Rejection
        The error if the least certain predictions are rejected.
    slices : DataFrame
        All slices that were looked at; those that are least likely by chance first: ``column``, ``values``,
        ``n_rows``, ``n_wrong``, ``accuracy``, ``accuracy_low``, ``accuracy_high``, ``accuracy_elsewhere`` (of
        all other rows), ``mean_probability`` (what the model expects its accuracy to be), ``is_used`` (by the
        model), ``p_value`` (of an accuracy as low by chance, corrected for the number of slices) and
        ``is_worse`` (it is below 5%).
    mistakes : DataFrame
        The mistakes with the highest probabilities, up to ten: ``row``, ``id``, ``label``, ``prediction``,
        ``probability``, ``label_probability`` and ``sentence`` (the explanation; None if there is none).
    notes : tuple of str
        What a reader has to know, a sentence each.
    audit : dict
        Where the figures come from: ``created`` (date and time in UTC), ``versions``, ``model`` (its class),
        ``random_state`` (its seed), ``evaluation_random_state`` and ``n_resamples``, ``n_rows``,
        ``n_columns``, ``n_train``, ``data_file`` and ``model_file`` (a `SourceFile` each), ``trained_on``
        (SHA-256 of the training file), ``is_training_file`` (whether the test rows are in it) and
        ``cross_validation`` (a list of CrossValidatedMethod). None is unknown.

    See Also
    --------
    save_evaluation : A page about an evaluation.
    sklearn.metrics.ConfusionMatrixDisplay : Plot `confusion_matrix`.
    sklearn.calibration.CalibrationDisplay : Plot the calibration of the probabilities of a class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.report import evaluate
    >>> X, y = load_iris(return_X_y=True)
    >>> evaluation = evaluate(LANNClassifier(random_state=0).fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> evaluation.confusion_matrix.astype(int).tolist()
    [[25, 0, 0], [0, 23, 2], [0, 2, 23]]
    >>> round(evaluation.scores.loc[("LANN", "accuracy"), "value"], 3), evaluation.n_wrong
    (np.float64(0.947), 4)
    """

    classes: NDArray[Any]
    labels: NDArray[Any]
    predictions: NDArray[Any]
    probabilities: Floats
    row_numbers: Indices
    scores: pd.DataFrame
    by_class: pd.DataFrame
    confusion_matrix: Floats
    reliability: Reliability
    rejection: Rejection
    slices: pd.DataFrame
    mistakes: pd.DataFrame
    notes: tuple[str, ...]
    audit: dict[str, Any]

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        accuracy = self.scores.iloc[0]
        text = f"accuracy {accuracy.value:.3f} ({accuracy.low:.3f} to {accuracy.high:.3f})"
        return f"<Evaluation of {self.methods[0]} on {counted(len(self), 'row')}: {text}>"

    @property
    def methods(self) -> list[str]:
        """The names of the methods, the model first."""
        return list(self.scores.index.unique("method"))

    @property
    def n_wrong(self) -> int:
        """Number of rows that are predicted wrongly."""
        return int(np.sum(self.labels != self.predictions))

    @property
    def summary(self) -> str:
        """The accuracy, beside that of kNN and of the largest class, in a sentence or two."""
        model, *others = self.scores.xs("accuracy", level="score").itertuples()
        text = (
            f"{len(self) - self.n_wrong:,} of {counted(len(self), 'row')} are predicted correctly: accuracy "
            f"{percent(model.value, 1)} ({percent(model.low)} to {percent(model.high)})."
        )
        if others:
            knn, majority = (percent(method.value, 1) for method in others)
            text += f" kNN has {knn}, the largest class {majority}."
        return text

    @property
    def worst_slices(self) -> pd.DataFrame:
        """The slices with a lower accuracy than elsewhere, those that are least likely by chance first."""
        return self.slices[self.slices["accuracy"] < self.slices["accuracy_elsewhere"]]

    @property
    def slice_verdict(self) -> str:
        """How many slices are worse beyond chance, in a sentence."""
        if len(self.slices) == 0:
            return "No value of a column has enough rows to look at."
        n_worse, slices = int(self.slices["is_worse"].sum()), counted(len(self.slices), "slice")
        which = (
            f"{n_worse} of {slices} {'is' if n_worse == 1 else 'are'}" if n_worse else f"None of {slices} is"
        )
        return f"{which} worse than the other rows beyond chance."

    def confused_pairs(self, n_pairs: int = 8) -> list[str]:
        """Return the most frequent confusions as text, such as "7 rows of A predicted as B".

        Parameters
        ----------
        n_pairs : int, default=8
            Number of confusions, at most.

        Returns
        -------
        pairs : list of str
        """
        wrong = self.confusion_matrix - np.diag(np.diag(self.confusion_matrix))
        order = np.argsort(-wrong, axis=None, kind="stable")[:n_pairs]
        pairs = []
        for i, j in zip(*np.unravel_index(order, wrong.shape), strict=True):
            if wrong[i, j] > 0:
                rows = "row" if wrong[i, j] == 1 else "rows"
                text = f"{rows} of {self.classes[i]} predicted as {self.classes[j]}"
                pairs.append(f"{count_text(wrong[i, j])} {text}")
        return pairs

    def with_files(
        self,
        *,
        model: str | os.PathLike[str] | SourceFile | None = None,
        data: str | os.PathLike[str] | SourceFile | None = None,
        notes: Sequence[str] = (),
    ) -> Evaluation:
        """Return the evaluation with the names and hashes of the files that it is about.

        If the file with the test rows is that of the training rows, a note says so.

        Parameters
        ----------
        model : str, path-like, SourceFile or None, default=None
            The model file.
        data : str, path-like, SourceFile or None, default=None
            The file with the test rows.
        notes : sequence of str, default=()
            Further notes, such as what was detected in the file.

        Returns
        -------
        evaluation : Evaluation

        Raises
        ------
        OSError
            If a file cannot be read.
        """
        model_file, data_file = (
            file if file is None or isinstance(file, SourceFile) else SourceFile.from_path(file)
            for file in (model, data)
        )
        is_training_file = data_file is not None and data_file.sha256 == self.audit["trained_on"]
        files = {"model_file": model_file, "data_file": data_file, "is_training_file": is_training_file}
        every = [*self.notes, *notes]
        if is_training_file:
            fair = " The cross-validation is a fair estimate." if self.audit["cross_validation"] else ""
            first = "The test file is the training file: the model was fitted to these rows, and the figures "
            every = [f"{first}are optimistic.{fair}", *(text for text in every if SAME_VALUES not in text)]
        return replace(self, audit=self.audit | files, notes=tuple(every))

    def to_frame(self) -> pd.DataFrame:
        """Return all figures as one table.

        Returns
        -------
        frame : DataFrame
            With the columns ``part`` ("scores", "difference", "class", "confusion", "reliability",
            "rejection" or "slice"), ``method``, ``name`` (of the class, the range of probabilities, the share
            of accepted rows or the slice),
            ``measure``, ``value``, ``low`` and ``high`` (the 95% interval), and ``n_rows``. "difference" is
            the model minus the method.
        """
        model, n_rows, lines = self.methods[0], len(self), []

        def add(part: str, method: str, name: str | None, line: Any, n: int, *measures: str) -> None:
            for measure in measures:
                values = [getattr(line, f"{measure}{end}", np.nan) for end in ("", "_low", "_high")]
                lines.append([part, method, name, measure, *values, n])

        for part, figures in zip(("scores", "difference"), FIGURES, strict=True):
            for (method, score), line in self.scores[list(figures)].iterrows():
                if part == "scores" or method != model:
                    lines.append([part, method, None, score, *line, n_rows])
        for line in self.by_class.itertuples():
            add("class", model, str(line.label), line, line.n_predicted, "precision")
            add("class", model, str(line.label), line, line.n_rows, "recall", "f1")
        for i, j in zip(*np.nonzero(self.confusion_matrix), strict=True):
            name = f"{self.classes[i]} predicted as {self.classes[j]}"
            count = self.confusion_matrix[i, j]
            lines.append(["confusion", model, name, "rows", count, np.nan, np.nan, n_rows])
        for line in self.reliability.bins.itertuples():
            name = f"{line.low:.0%} to {line.high:.0%}"
            add("reliability", model, name, line, line.n_rows, "accuracy", "mean_probability")
        add("reliability", model, None, self.reliability, n_rows, "expected_calibration_error")
        for curve in self.rejection.curves:
            add("rejection", curve.method, None, curve, n_rows, "aurc")
            for coverage in COVERAGES:
                name, error = f"{coverage:.0%} accepted", curve.risk_at(coverage)
                lines.append(["rejection", curve.method, name, "error", error, np.nan, np.nan, n_rows])
        for line in self.slices.itertuples():
            name = f"{line.column}: {line.values}"
            add("slice", model, name, line, line.n_rows, "accuracy")
            add("slice", model, name, line, n_rows - line.n_rows, "accuracy_elsewhere")
            add("slice", model, name, line, line.n_rows, "p_value")
        columns = ["part", "method", "name", "measure", "value", "low", "high", "n_rows"]
        return pd.DataFrame(lines, columns=columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the evaluation as a dictionary that JSON can express: None in place of NaN.

        Returns
        -------
        evaluation : dict
            With ``audit``, ``notes``, ``summary``, ``n_rows``, ``n_wrong``, ``classes``, ``methods`` (scores
            with ``value``, ``low`` and ``high``, and differences to the model), ``by_class``,
            ``confusion_matrix``, ``reliability``, ``rejection`` (of each method its ``aurc`` and the error by
            the share of accepted rows), ``slices`` and ``mistakes``.
        """
        versions = self.audit["versions"].items()
        audit = self.audit | {
            "versions": {name.lower().replace("-", "_"): version for name, version in versions}
        }
        methods = []
        for number, method in enumerate(self.methods):
            scores, differences = (
                self.scores.loc[method, list(names)].set_axis(FIGURES[0], axis=1).to_dict("index")
                for names in FIGURES
            )
            methods.append({"method": method, "scores": scores, "differences": differences if number else {}})
        curves = []
        for curve in self.rejection.curves:
            errors = [{"accepted": share, "error": curve.risk_at(share)} for share in COVERAGES]
            curves.append({"method": curve.method, "aurc": curve.aurc, "errors": errors})
        reliability = self.reliability._asdict() | {"bins": _records(self.reliability.bins)}
        del reliability["verdict"]
        plain: dict[str, Any] = to_plain(
            {
                "audit": audit,
                "notes": self.notes,
                "summary": self.summary,
                "n_rows": len(self),
                "n_wrong": self.n_wrong,
                "classes": self.classes,
                "methods": methods,
                "by_class": _records(self.by_class),
                "confusion_matrix": self.confusion_matrix,
                "reliability": reliability,
                "rejection": {
                    "certainty": self.rejection.certainty,
                    "sentence": self.rejection.sentence,
                    "methods": curves,
                },
                "slices": _records(self.slices),
                "mistakes": _records(self.mistakes),
            }
        )
        return plain


# Columns of the scores, and of their differences to those of the model.
FIGURES = ("value", "low", "high"), ("difference", "difference_low", "difference_high")


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the lines of a table as dictionaries; a figure with an interval is a dictionary, too."""
    records = table.to_dict("records")
    for record in records:
        for name in [name.removesuffix("_low") for name in record if name.endswith("_low")]:
            low, high = record.pop(f"{name}_low"), record.pop(f"{name}_high")
            record[name] = {"value": record[name], "low": low, "high": high}
    return records


def count_text(amount: float) -> str:
    """Return a number of rows, which has decimals if rows have weights.

    >>> count_text(12.0), count_text(3.25)
    ('12', '3.2')
    """
    return f"{amount:,.0f}" if float(amount).is_integer() else f"{amount:,.1f}"


class _TrainingRows(NamedTuple):
    """The rows to which a model was fitted."""

    values: pd.DataFrame
    labels: NDArray[Any]
    columns: tuple[Column, ...]
    weights: Floats | None = None


class _TestRows(NamedTuple):
    """Test rows with labels, and what a model predicts for them.

    `used` has the names of the columns that the model uses, `training` is None if the training rows are
    unknown, `explain` returns sentences about rows by their numbers, and `missing_weights` names a column of
    weights that only the training rows have.
    """

    labeled: LabeledRows
    probabilities: Floats
    used: list[str]
    training: _TrainingRows | None
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
    <Evaluation of LANN on 169 rows: accuracy 0.976 (0.941 to 0.991)>
    >>> evaluation.reliability.sentences[0]
    'When it said 99%, it was right in 99% (155 rows).'
    """
    validate("random_state", random_state, Integer(0))
    validate("n_resamples", n_resamples, Integer(0))
    if isinstance(model, NeighborClassifier) and training is None:
        model = TableModel(model)
    notes = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TableWarning)
        if isinstance(model, TableModel):
            estimator, record = model.classifier, model.record
            rows = _rows_of_table_model(model, _as_frame(X), y, sample_weight, name)
        else:
            estimator, record = model, None
            rows = _rows_of_estimator(model, X, y, sample_weight, training)
    for warning in caught:
        if issubclass(warning.category, TableWarning):
            notes.append(str(warning.message))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    predictions = Predictions.from_labels(
        rows.labeled.labels, rows.probabilities, estimator.classes_, rows.labeled.weights
    )
    truth, predicted, classes = predictions.truth, predictions.predicted, predictions.classes
    if not predictions.is_known.any():
        unknown, known = _listed(classes[predictions.n_known :]), _listed(estimator.classes_)
        raise ValueError(f"The model knows none of the labels of {name}: {unknown}; its classes are {known}.")
    first = "LANN" if type(estimator).__name__ == "LANNClassifier" else type(estimator).__name__
    methods = {first: predictions, **_baselines(rows, predictions)}
    matrix = confusion_matrix(truth, predicted, labels=range(len(classes)), sample_weight=predictions.weights)
    audit = origin(estimator) | {
        "evaluation_random_state": random_state,
        "n_resamples": n_resamples,
        "n_rows": len(predictions),
        "n_columns": len(rows.used),
        "n_train": None if rows.training is None else len(rows.training.labels),
        "data_file": None,
        "model_file": None,
        "trained_on": None if record is None else record.data_sha256,
        "is_training_file": False,
        "cross_validation": None if record is None else record.cross_validation,
    }
    return Evaluation(
        classes=classes,
        labels=classes[truth],
        predictions=classes[predicted],
        probabilities=predictions.probabilities,
        row_numbers=rows.labeled.row_numbers,
        scores=score_table(methods, n_resamples=n_resamples, random_state=random_state),
        by_class=class_table(predictions),
        confusion_matrix=matrix.astype(np.float64),
        reliability=reliability(predictions, random_state),
        rejection=rejection(methods, rows.certainties),
        slices=find_slices(predictions, rows.labeled.values, rows.labeled.columns, rows.used),
        mistakes=_mistakes(rows, predictions),
        notes=(*_notes(rows, predictions), *dict.fromkeys(notes)),
        audit=audit,
    )


def _mistakes(rows: _TestRows, predictions: Predictions) -> pd.DataFrame:
    """Return the most confident mistakes with the names and the explanations of their rows."""
    mistakes = confident_mistakes(predictions, N_MISTAKES)
    positions = mistakes["row"].to_numpy(dtype=np.int64)
    numbers, sentences = rows.labeled.row_numbers[positions], None
    if rows.explain is not None and len(numbers):
        sentences = pd.Series(rows.explain(numbers), dtype=object)
    ids = None if rows.labeled.ids is None else rows.labeled.ids[positions].astype(str)
    return mistakes.assign(row=numbers, id=ids, sentence=sentences)


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
    if rows.ids is None:
        rows = replace(rows, ids=_index_names(frame, rows.row_numbers))
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
    labels = classifier.classes_[fitted.labels]
    training = _TrainingRows(model.training_rows(), labels, model.columns, fitted.row_weights)
    probabilities = classifier.predict_proba(rows.X)
    return _TestRows(
        rows, probabilities, model.feature_names, training, explain, missing_weights, certainties
    )


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
    labels, frame = np.asarray(y), _as_frame(X)
    _check_length(labels, frame, "X")
    weights = np.ones(len(labels)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != labels.shape or not np.all(np.isfinite(weights) & (weights >= 0)):
        raise ValueError(f"sample_weight must have {len(labels)} finite numbers of at least 0.")
    rows = np.flatnonzero(~pd.isna(labels) & (weights > 0))
    if len(rows) == 0:
        raise ValueError("There is no row with a label in X.")
    columns, values = _typed(frame)
    labeled = LabeledRows(
        row_numbers=rows,
        X=take_rows(X if hasattr(X, "shape") else np.asarray(X), rows),
        values=values.iloc[rows],
        columns=columns,
        labels=labels[rows],
        weights=None if sample_weight is None else weights[rows],
        ids=_index_names(frame, rows),
        n_left_out=len(labels) - len(rows),
    )
    fitted_to = None
    if training is not None:
        train_columns, train_values = _typed(_as_frame(training[0]))
        train_labels = np.asarray(training[1])
        _check_length(train_labels, train_values, "the training data")
        fitted_to = _TrainingRows(train_values, train_labels, train_columns)
    probabilities = np.asarray(model.predict_proba(labeled.X), dtype=np.float64)
    return _TestRows(labeled, probabilities, list(frame.columns), fitted_to)


def _check_length(labels: NDArray[Any], frame: pd.DataFrame, name: str) -> None:
    if len(labels) != len(frame):
        raise ValueError(f"There are {len(labels)} labels for the {len(frame)} rows of {name}.")


def _as_frame(X: Any) -> pd.DataFrame:
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
    """Return what the columns of a table hold, and their values."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        columns = tuple(column for column in infer_columns(frame)[0] if column.is_used)
    return columns, apply_columns(frame, columns)


def _index_names(frame: pd.DataFrame, rows: Indices) -> NDArray[Any] | None:
    ids = row_ids(frame)
    return None if ids is None else ids[rows]


def _baselines(rows: _TestRows, predictions: Predictions) -> Mapping[str, Predictions]:
    """Return the predictions of plain kNN and of a guess; none if the training rows are unknown."""
    training = rows.training
    if training is None:
        return {}
    names = [column.name for column in training.columns]
    baselines = fit_baselines(
        training.values[names], training.labels, training.columns, sample_weight=training.weights
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Found unknown categories")
        return {
            name: predictions.with_probabilities(
                baseline.predict_proba(rows.labeled.values[names]), baseline.classes_
            )
            for name, baseline in baselines.items()
        }


def _notes(rows: _TestRows, predictions: Predictions) -> list[str]:
    """Return what a reader has to know about the test rows, a sentence each."""
    notes, n_rows = [], len(predictions)
    if rows.labeled.n_left_out:
        what = "no label" if rows.labeled.weights is None else "no label or the weight 0"
        have, are = ("has", "is") if rows.labeled.n_left_out == 1 else ("have", "are")
        notes.append(f"{counted(rows.labeled.n_left_out, 'row')} {have} {what} and {are} left out.")
    if n_unknown := int((~predictions.is_known).sum()):
        have, count = "have labels", "count as mistakes"
        if n_unknown == 1:
            have, count = "has a label", "counts as a mistake"
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
    n_same = 0
    if rows.training is not None:
        names = [column.name for column in rows.training.columns]
        test, train = (
            pd.util.hash_pandas_object(frame[names].astype(object), index=False)
            for frame in (rows.labeled.values, rows.training.values)
        )
        n_same = int(np.isin(test, train).sum())
    if n_same:
        effect = "If these are the same cases, the figures are optimistic."
        if n_same > n_rows / 2:
            effect = "The model was fitted to most of these rows, it seems, and the figures are optimistic."
        notes.append(
            f"{counted(n_same, 'row')} of {n_rows:,} ({percent(n_same / n_rows)}) "
            f"{'has' if n_same == 1 else 'have'} {SAME_VALUES}. {effect}"
        )
    return notes


def _listed(labels: Any) -> str:
    texts = [repr(str(label)) for label in labels[:MOST_LISTED]]
    more = len(labels) - len(texts)
    return ", ".join(texts) + (f" and {more} more" if more > 0 else "")
