"""The predictions of a model for test rows, and the truth beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann._types import Floats, Labels


@dataclass(frozen=True, eq=False)
class Predictions:
    """Test rows with the probabilities of a model; class indices are positions in `classes`.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        Those of the model, and after them labels that the model does not know.
    n_known : int
        Number of the classes that the model knows.
    truth : ndarray of shape (n_rows,)
        Class indices of the labels.
    probabilities : ndarray of shape (n_rows, n_known)
    weights : ndarray of shape (n_rows,)
        As how many rows each row counts.
    """

    classes: NDArray[Any]
    n_known: int
    truth: Labels
    probabilities: Floats
    weights: Floats

    @classmethod
    def from_labels(
        cls, labels: NDArray[Any], probabilities: Floats, classes: NDArray[Any], weights: Floats | None
    ) -> Predictions:
        """Return the predictions for rows with labels; unknown labels are appended to the classes."""
        known = {label: index for index, label in enumerate(classes.tolist())}
        unknown = sorted({label for label in labels.tolist() if label not in known}, key=str)
        indices = known | {label: len(classes) + index for index, label in enumerate(unknown)}
        every = np.array([*classes.tolist(), *unknown], dtype=object if unknown else classes.dtype)
        return cls(
            every,
            len(classes),
            np.array([indices[label] for label in labels.tolist()], dtype=np.int64),
            probabilities,
            np.ones(len(labels)) if weights is None else weights,
        )

    def with_probabilities(self, probabilities: Floats, classes: NDArray[Any]) -> Predictions:
        """Return the same rows with the probabilities of another model, whose classes may be fewer."""
        aligned = np.zeros_like(self.probabilities)
        positions = {label: index for index, label in enumerate(self.classes[: self.n_known].tolist())}
        aligned[:, [positions[label] for label in classes.tolist()]] = probabilities
        return Predictions(self.classes, self.n_known, self.truth, aligned, self.weights)

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def predicted(self) -> Labels:
        """Class indices of the predictions: (n_rows,)."""
        return self.probabilities.argmax(axis=1)

    @property
    def confidences(self) -> Floats:
        """Probabilities of the predictions: (n_rows,)."""
        return self.probabilities.max(axis=1)

    @property
    def correct(self) -> NDArray[np.bool_]:
        """Whether the predictions are correct: (n_rows,)."""
        return self.predicted == self.truth

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """Whether the model knows the labels: (n_rows,)."""
        return self.truth < self.n_known
