"""The target column: labels, and which rows have one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd


def labels_of(column: pd.Series) -> NDArray[Any]:
    """Labels as whole numbers if they all are, so that 10 comes after 9; as text otherwise."""
    from lann.cli.columns import as_text

    text = as_text(column).to_numpy(dtype=str)
    try:
        numbers = text.astype(np.int64)
    except (ValueError, OverflowError):
        return text
    # "007" is a name.
    return numbers if np.array_equal(numbers.astype(str), text) else text


def check_labels(labels: NDArray[Any], target: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The classes and how many rows each has; raises if they are no classes."""
    classes, counts = np.unique(labels, return_counts=True)
    if len(classes) < 2:
        raise ValueError(
            f"The target {target!r} has one class only, {str(classes[0])!r}; at least two are needed."
        )
    if len(classes) > max(2, len(labels) / 2):
        raise ValueError(
            f"The target {target!r} has {len(classes)} different values in {len(labels)} rows; "
            "lann predicts classes of which there are several rows each."
        )
    return classes, counts
