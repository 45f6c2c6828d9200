"""Evaluations: how well a model predicts test rows, as tables, JSON and sentences."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import sklearn
from numpy.typing import NDArray

from lann import __version__
from lann._support.files import read_content
from lann._support.format import counted, percent, to_plain
from lann._support.types import Floats, Indices
from lann.report._findings import COVERAGES, Rejection, Reliability

# Of test rows, in a note.
SAME_VALUES = "the values of a training row in all columns"
# Columns of the scores, and of their differences to those of the model.
FIGURES = ("value", "low", "high"), ("difference", "difference_low", "difference_high")


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
    [[25, 0, 0], [0, 24, 1], [0, 2, 23]]
    >>> round(evaluation.scores.loc[("LANN", "accuracy"), "value"], 3), evaluation.n_wrong
    (np.float64(0.96), 3)
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
        are = "are" if n_worse > 1 else "is"
        return f"{n_worse or 'None'} of {slices} {are} worse than the other rows beyond chance."

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
                rows = f"{count_text(wrong[i, j])} {'row' if wrong[i, j] == 1 else 'rows'}"
                pairs.append(f"{rows} of {self.classes[i]} predicted as {self.classes[j]}")
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
            of accepted rows or the slice), ``measure``, ``value``, ``low`` and ``high`` (the 95% interval),
            and ``n_rows``. "difference" is the model minus the method.
        """
        model, n_rows, lines = self.methods[0], len(self), []

        def add(part: str, name: str | None, line: Any, n: int, *measures: str) -> None:
            for measure in measures:
                values = [getattr(line, f"{measure}{end}", np.nan) for end in ("", "_low", "_high")]
                lines.append([part, getattr(line, "method", model), name, measure, *values, n])

        for part, figures in zip(("scores", "difference"), FIGURES, strict=True):
            for (method, score), values in self.scores[list(figures)].iterrows():
                if part == "scores" or method != model:
                    lines.append([part, method, None, score, *values, n_rows])
        for line in self.by_class.itertuples():
            add("class", str(line.label), line, line.n_predicted, "precision")
            add("class", str(line.label), line, line.n_rows, "recall", "f1")
        for i, j in zip(*np.nonzero(self.confusion_matrix), strict=True):
            name, count = f"{self.classes[i]} predicted as {self.classes[j]}", self.confusion_matrix[i, j]
            lines.append(["confusion", model, name, "rows", count, np.nan, np.nan, n_rows])
        for line in self.reliability.bins.itertuples():
            name = f"{line.low:.0%} to {line.high:.0%}"
            add("reliability", name, line, line.n_rows, "accuracy", "mean_probability")
        add("reliability", None, self.reliability, n_rows, "expected_calibration_error")
        for curve in self.rejection.curves:
            add("rejection", None, curve, n_rows, "aurc")
            for coverage in COVERAGES:
                values = [curve.risk_at(coverage), np.nan, np.nan, n_rows]
                lines.append(["rejection", curve.method, f"{coverage:.0%} accepted", "error", *values])
        for line in self.slices.itertuples():
            name = f"{line.column}: {line.values}"
            add("slice", name, line, line.n_rows, "accuracy")
            add("slice", name, line, n_rows - line.n_rows, "accuracy_elsewhere")
            add("slice", name, line, line.n_rows, "p_value")
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
        methods, curves = [], []
        for number, method in enumerate(self.methods):
            scores, differences = (
                self.scores.loc[method, list(names)].set_axis(FIGURES[0], axis=1).to_dict("index")
                for names in FIGURES
            )
            methods.append({"method": method, "scores": scores, "differences": differences if number else {}})
        for curve in self.rejection.curves:
            errors = [{"accepted": share, "error": curve.risk_at(share)} for share in COVERAGES]
            curves.append({"method": curve.method, "aurc": curve.aurc, "errors": errors})
        reliability = self.reliability._asdict() | {"bins": _records(self.reliability.bins)}
        del reliability["verdict"]
        rejection = {"certainty": self.rejection.certainty, "sentence": self.rejection.sentence}
        versions = self.audit["versions"].items()
        versions = {name.lower().replace("-", "_"): version for name, version in versions}
        plain: dict[str, Any] = to_plain(
            {name: getattr(self, name) for name in ("notes", "summary", "n_wrong", "classes")}
            | {
                "audit": self.audit | {"versions": versions},
                "n_rows": len(self),
                "methods": methods,
                "confusion_matrix": self.confusion_matrix,
                "reliability": reliability,
                "rejection": rejection | {"methods": curves},
            }
            | {name: _records(getattr(self, name)) for name in ("by_class", "slices", "mistakes")}
        )
        return plain


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
