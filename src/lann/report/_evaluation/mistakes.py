"""The mistakes with the highest probabilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann._types import Indices
from lann.report._evaluation.predictions import Predictions


@dataclass(frozen=True)
class Mistake:
    """A test row whose prediction is wrong.

    Attributes
    ----------
    row : int
        Its row number in the table.
    id : str or None
        Its name.
    label, prediction : object
    probability : float
        Probability of the prediction.
    label_probability : float
        Probability of the label; NaN if the model does not know it.
    sentence : str or None
        The explanation of the prediction in a sentence; None if the model has none.

    Examples
    --------
    >>> from lann.report import Mistake
    >>> mistake = Mistake(3, None, "benign", "malignant", 0.9, 0.1, None)
    >>> mistake.title
    'Row 3'
    """

    row: int
    id: str | None
    label: Any
    prediction: Any
    probability: float
    label_probability: float
    sentence: str | None

    @property
    def title(self) -> str:
        """How the row is named, such as "Row 3" or "Row 3: Jane"."""
        return f"Row {self.row}" if self.id is None else f"Row {self.row}: {self.id}"


def confident_mistakes(
    rows: Predictions,
    n_mistakes: int,
    row_numbers: Indices,
    ids: NDArray[Any] | None,
    explain: Callable[[Indices], list[str]] | None,
) -> list[Mistake]:
    """Return the mistakes with the highest probabilities, the highest first.

    Parameters
    ----------
    rows : Predictions
    n_mistakes : int
        Number of mistakes, at most.
    row_numbers : (n_rows,)
    ids : (n_rows,) or None
    explain : callable or None
        From positions of rows to a sentence for each.
    """
    classes = rows.classes.tolist()
    wrong = np.flatnonzero(~rows.correct)
    shown = wrong[np.argsort(-rows.confidences[wrong], kind="stable")][:n_mistakes]
    sentences = [None] * len(shown) if explain is None or len(shown) == 0 else explain(shown)
    return [
        Mistake(
            row=int(row_numbers[i]),
            id=None if ids is None else str(ids[i]),
            label=classes[rows.truth[i]],
            prediction=classes[rows.predicted[i]],
            probability=float(rows.confidences[i]),
            label_probability=(
                float(rows.probabilities[i, rows.truth[i]]) if rows.is_known[i] else float("nan")
            ),
            sentence=sentence,
        )
        for i, sentence in zip(shown, sentences, strict=True)
    ]
