"""The labels of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def labels_of(texts: NDArray[Any]) -> NDArray[Any]:
    """Return labels as integers if all are, so that 10 comes after 9; otherwise as text."""
    text = texts.astype(str)
    try:
        numbers = text.astype(np.int64)
    except (ValueError, OverflowError):
        return text
    # "007" is a name.
    return numbers if np.array_equal(numbers.astype(str), text) else text


def check_labels(labels: NDArray[Any], target: str) -> None:
    """Raise ValueError unless the labels are those of several classes with several rows each."""
    classes = np.unique(labels)
    if len(classes) < 2:
        raise ValueError(
            f"The target {target!r} has one class only, {str(classes[0])!r}; at least two are needed."
        )
    if len(classes) > max(2, len(labels) / 2):
        raise ValueError(
            f"The target {target!r} has {len(classes)} different values in {len(labels)} rows; its values "
            "must be classes with several rows each."
        )


def label_text(label: Any) -> str:
    """Return a label as text; 1.0 is "1", as in a CSV file."""
    if isinstance(label, float | np.floating) and label.is_integer():
        return str(int(label))
    return str(label)
