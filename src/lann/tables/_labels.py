"""The labels of a table."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

_WHOLE = re.compile(r"(-?\d+)\.0+")


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


def known_labels(texts: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Return labels of a table as the classes of a model: "1" and "1.0" are the class 1.

    Parameters
    ----------
    texts : ndarray of shape (n_rows,)
        Text, or None where a label is missing.
    classes : ndarray of shape (n_classes,)

    Returns
    -------
    labels : ndarray of shape (n_rows,)
        Of the type of the classes if all are known; otherwise objects, text for a label that is not among
        the classes, and None for a missing one.
    """
    by_text = {_plain_text(label_text(label)): label for label in classes.tolist()}
    known = {text: by_text.get(_plain_text(text), text) for text in set(texts) if text is not None}
    labels = np.array([None, *(known.get(text) for text in texts)], dtype=object)[1:]
    if len(labels) and set(known) == set(texts) and all(text in by_text for text in map(_plain_text, known)):
        return labels.astype(classes.dtype)
    return labels


def _plain_text(text: str) -> str:
    """Return the text of an integer without decimals: files write 1 as 1.0 where other cells are missing."""
    match = _WHOLE.fullmatch(text)
    return text if match is None else match.group(1)


def label_text(label: Any) -> str:
    """Return a label as text; 1.0 is "1", as in a CSV file."""
    if isinstance(label, float | np.floating) and label.is_integer():
        return str(int(label))
    return str(label)
