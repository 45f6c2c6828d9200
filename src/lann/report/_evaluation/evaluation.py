"""The evaluation of a model on test rows, and where its figures come from."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import sklearn
from numpy.typing import NDArray

from lann import __version__
from lann._support.files import read_content
from lann._support.format import counted, percent, to_plain
from lann._support.types import Floats, Indices
from lann.persist import CrossValidatedMethod
from lann.report._evaluation.findings import COVERAGES, Mistake, Rejection, Reliability, Slice
from lann.report._evaluation.scores import SCORES, ClassScores, MethodScores, Score, count_text

if TYPE_CHECKING:
    import pandas as pd


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


@dataclass(frozen=True)
class Audit:
    """Where the figures of an evaluation come from.

    Attributes
    ----------
    created : str
        Date and time in UTC, in the format of ISO 8601.
    versions : dict of str to str
        Of lann, Python, numpy and scikit-learn.
    model : str
        Name of the class of the model.
    random_state : int or None
        Seed of the model; None if it has no integer.
    evaluation_random_state : int
        Seed of the resamples.
    n_resamples : int
    n_rows : int
        Number of test rows that are evaluated.
    n_columns : int
        Number of columns that the model uses.
    n_train : int or None
        Number of training rows; None if it is unknown.
    data_file, model_file : SourceFile or None
        None if they are unknown.
    trained_on : str or None
        SHA-256 of the training file.
    cross_validation : list of CrossValidatedMethod or None
        The scores of the cross-validation on the training data.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.report import evaluate
    >>> X, y = load_iris(return_X_y=True)
    >>> audit = evaluate(LANNClassifier(random_state=0).fit(X[::2], y[::2]), X[1::2], y[1::2]).audit
    >>> audit.model, audit.random_state, audit.n_train, audit.n_rows, audit.n_columns
    ('LANNClassifier', 0, 75, 75, 4)
    """

    created: str
    versions: dict[str, str]
    model: str
    random_state: int | None
    evaluation_random_state: int
    n_resamples: int
    n_rows: int
    n_columns: int
    n_train: int | None
    data_file: SourceFile | None = None
    model_file: SourceFile | None = None
    trained_on: str | None = None
    cross_validation: list[CrossValidatedMethod] | None = None

    @property
    def is_training_file(self) -> bool:
        """Whether the file with the test rows is that of the training rows."""
        return self.data_file is not None and self.data_file.sha256 == self.trained_on


def now() -> str:
    """Return the date and time in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def versions() -> dict[str, str]:
    """Return the versions of what computes the figures."""
    return {
        "lann": __version__,
        "Python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
    }


def seed_of(estimator: Any) -> int | None:
    """Return the seed of an estimator; None if it has no integer."""
    seed = getattr(estimator, "random_state", None)
    return int(seed) if isinstance(seed, int | np.integer) and not isinstance(seed, bool) else None


# Of test rows, in a note.
SAME_VALUES = "the values of a training row in all columns"
File = str | os.PathLike[str] | SourceFile | None


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
    methods : list of MethodScores
        The scores of the model and, if the training rows are known, of kNN and of a guess of the largest
        class.
    by_class : list of ClassScores
    confusion_matrix : ndarray of shape (n_classes, n_classes)
        How many rows with each label (a row of the matrix) are predicted as each class (a column).
    reliability : Reliability
    rejection : Rejection
        The error if the least certain predictions are rejected.
    slices : list of Slice
        All slices that were looked at; those that are least likely by chance first.
    mistakes : list of Mistake
        The mistakes with the highest probabilities, up to ten.
    notes : tuple of str
        What a reader has to know, a sentence each.
    audit : Audit

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
    >>> round(evaluation.scores["accuracy"].value, 3), evaluation.n_wrong
    (0.947, 4)
    """

    classes: NDArray[Any]
    labels: NDArray[Any]
    predictions: NDArray[Any]
    probabilities: Floats
    row_numbers: Indices
    methods: list[MethodScores]
    by_class: list[ClassScores]
    confusion_matrix: Floats
    reliability: Reliability
    rejection: Rejection
    slices: list[Slice]
    mistakes: list[Mistake]
    notes: tuple[str, ...]
    audit: Audit

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        value, low, high = self.scores["accuracy"]
        name = f"{self.methods[0].method} on {counted(len(self), 'row')}"
        return f"<Evaluation of {name}: accuracy {value:.3f} ({low:.3f} to {high:.3f})>"

    @property
    def scores(self) -> dict[str, Score]:
        """The scores of the model, by their names."""
        return self.methods[0].scores

    @property
    def n_wrong(self) -> int:
        """Number of rows that are predicted wrongly."""
        return int(np.sum(self.labels != self.predictions))

    @property
    def summary(self) -> str:
        """The accuracy, beside that of kNN and of the largest class, in a sentence or two."""
        value, low, high = self.scores["accuracy"]
        others = [method.scores["accuracy"].value for method in self.methods[1:]]
        text = (
            f"{len(self) - self.n_wrong:,} of {counted(len(self), 'row')} are predicted correctly: accuracy "
            f"{percent(value, 1)} ({percent(low)} to {percent(high)})."
        )
        if others:
            text += f" kNN has {percent(others[0], 1)}, the largest class {percent(others[1], 1)}."
        return text

    @property
    def worst_slices(self) -> list[Slice]:
        """The slices with a lower accuracy than elsewhere, those that are least likely by chance first."""
        return [part for part in self.slices if part.accuracy.value < part.accuracy_elsewhere]

    @property
    def slice_verdict(self) -> str:
        """How many slices are worse beyond chance, in a sentence."""
        if not self.slices:
            return "No value of a column has enough rows to look at."
        n_worse, slices = sum(part.is_worse for part in self.slices), counted(len(self.slices), "slice")
        if n_worse == 0:
            return f"None of {slices} is worse than the other rows beyond chance."
        are = "is" if n_worse == 1 else "are"
        return f"{n_worse} of {slices} {are} worse than the other rows beyond chance."

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
        found = []
        for i, j in zip(*np.unravel_index(order, wrong.shape), strict=True):
            if wrong[i, j] > 0:
                rows = f"{count_text(wrong[i, j])} {'row' if wrong[i, j] == 1 else 'rows'}"
                found.append(f"{rows} of {self.classes[i]} predicted as {self.classes[j]}")
        return found

    def with_files(self, *, model: File = None, data: File = None, notes: Sequence[str] = ()) -> Evaluation:
        """Return the evaluation with the names and hashes of the files that it is about.

        If the file with the test rows is that of the training rows, a note says so.

        Parameters
        ----------
        model : str, path-like, SourceFile or None, default=None
            The model file.
        data : str, path-like, SourceFile or None, default=None
            The file with the test rows.
        notes : sequence of str, default=()
            Further notes, such as what was found about the file.

        Returns
        -------
        evaluation : Evaluation

        Raises
        ------
        OSError
            If a file cannot be read.
        """
        files = [
            file if file is None or isinstance(file, SourceFile) else SourceFile.from_path(file)
            for file in (model, data)
        ]
        audit = replace(self.audit, model_file=files[0], data_file=files[1])
        every = [*self.notes, *notes]
        if audit.is_training_file:
            fair = "" if audit.cross_validation is None else " The cross-validation is a fair estimate."
            first = "The test file is the training file: the model was fitted to these rows, and the figures "
            every = [text for text in every if SAME_VALUES not in text]
            every.insert(0, f"{first}are too good.{fair}")
        return replace(self, audit=audit, notes=tuple(every))

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
        import pandas as pd

        columns = ["part", "method", "name", "measure", "value", "low", "high", "n_rows"]
        return pd.DataFrame(
            [dict(zip(columns, line, strict=True)) for line in self._lines()], columns=columns
        )

    def _lines(self) -> list[tuple[Any, ...]]:
        model, n_rows = self.methods[0].method, len(self)
        lines: list[tuple[Any, ...]] = []
        for method in self.methods:
            lines += [("scores", method.method, None, s, *method.scores[s], n_rows) for s in SCORES]
        for method in self.methods[1:]:
            lines += [("difference", method.method, None, s, *method.differences[s], n_rows) for s in SCORES]
        for own in self.by_class:
            name = str(own.label)
            lines.append(("class", model, name, "precision", *own.precision, own.n_predicted))
            lines.append(("class", model, name, "recall", *own.recall, own.n_rows))
            lines.append(("class", model, name, "f1", *Score(own.f1), own.n_rows))
        for i, j in zip(*np.nonzero(self.confusion_matrix), strict=True):
            name = f"{self.classes[i]} predicted as {self.classes[j]}"
            lines.append(("confusion", model, name, "rows", *Score(self.confusion_matrix[i, j]), n_rows))
        found = self.reliability
        for part in found.bins:
            name = f"{part.low:.0%} to {part.high:.0%}"
            lines.append(("reliability", model, name, "accuracy", *part.accuracy, part.n_rows))
            mean = Score(part.mean_probability)
            lines.append(("reliability", model, name, "mean_probability", *mean, part.n_rows))
        error = Score(found.expected_calibration_error)
        lines.append(("reliability", model, None, "expected_calibration_error", *error, n_rows))
        for curve in self.rejection.curves:
            lines.append(("rejection", curve.method, None, "aurc", *Score(curve.aurc), n_rows))
            for coverage in COVERAGES:
                risk = Score(curve.risk_at(coverage))
                lines.append(("rejection", curve.method, f"{coverage:.0%} accepted", "error", *risk, n_rows))
        for piece in self.slices:
            lines.append(("slice", model, piece.name, "accuracy", *piece.accuracy, piece.n_rows))
            elsewhere = Score(piece.accuracy_elsewhere)
            n_others = n_rows - piece.n_rows
            lines.append(("slice", model, piece.name, "accuracy_elsewhere", *elsewhere, n_others))
            lines.append(("slice", model, piece.name, "p_value", *Score(piece.p_value), piece.n_rows))
        return lines

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
        audit = asdict(self.audit)
        versions = self.audit.versions.items()
        audit["versions"] = {name.lower().replace("-", "_"): version for name, version in versions}
        audit["is_training_file"] = self.audit.is_training_file
        reliability = asdict(self.reliability) | {
            "bins": [asdict(part) | {"is_off": part.is_off} for part in self.reliability.bins],
            "is_calibrated": self.reliability.is_calibrated,
            "sentences": [*self.reliability.sentences, self.reliability.share_of_mistakes],
        }
        found = {
            "audit": audit,
            "notes": list(self.notes),
            "summary": self.summary,
            "n_rows": len(self),
            "n_wrong": self.n_wrong,
            "classes": list(self.classes),
            "methods": [
                {"method": m.method, "scores": m.scores, "differences": m.differences} for m in self.methods
            ],
            "by_class": [vars(scores) for scores in self.by_class],
            "confusion_matrix": self.confusion_matrix,
            "reliability": reliability,
            "rejection": {
                "certainty": self.rejection.certainty,
                "sentence": self.rejection.sentence,
                "methods": [
                    {
                        "method": curve.method,
                        "aurc": curve.aurc,
                        "errors": [{"accepted": c, "error": curve.risk_at(c)} for c in COVERAGES],
                    }
                    for curve in self.rejection.curves
                ],
            },
            "slices": [vars(part) | {"is_worse": part.is_worse} for part in self.slices],
            "mistakes": [vars(mistake) for mistake in self.mistakes],
        }
        plain: dict[str, Any] = to_plain(found)
        return plain
