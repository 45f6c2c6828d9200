"""Where the figures of an evaluation come from: date, versions, files, seeds, and the training."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn

from lann import __version__
from lann._files import read_content
from lann.persist import CrossValidatedMethod


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
