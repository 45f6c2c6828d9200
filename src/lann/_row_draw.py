"""Which rows of a large table are learned from, drawn before they are read into memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_consistent_length, column_or_1d

from lann._support.inputs import (
    check_array,
    check_one_type,
    check_sample_weight,
    check_two_classes,
    class_indices,
)
from lann._support.types import Indices, Labels
from lann.columns.inputs import take_rows

# Beside the rows that a model keeps, it learns from as many others, and at least from so many.
FEWEST_OTHERS = 10_000
# Numbers of an array that are validated at once: 8 MB.
BLOCK_NUMBERS = 1 << 20
# Queries of an array that are read and searched at once.
BLOCK_QUERIES = 1 << 14
# Labels that are read at once.
BLOCK_LABELS = 1 << 18


class DrawnRows(NamedTuple):
    """The rows that a model learns from.

    Attributes
    ----------
    X : array or table
        As it was given; only these rows.
    y : ndarray of shape (n_drawn,)
    sample_weight : ndarray of shape (n_drawn,) or None
    classes : ndarray of shape (n_classes,)
        Those of all rows.
    arrivals : ndarray of shape (n_drawn,)
        The number of each row among all rows whose weight is not 0, ascending.
    n_arrived : int
        Number of all these rows.
    """

    X: Any
    y: NDArray[Any]
    sample_weight: NDArray[Any] | None
    classes: NDArray[Any]
    arrivals: Indices
    n_arrived: int

    @property
    def arrived(self) -> tuple[Indices, int]:
        """The arrivals and the number of all rows."""
        return self.arrivals, self.n_arrived


def n_rows_to_learn_from(n_kept: int) -> int:
    """Return from how many rows a model learns that keeps `n_kept` of them."""
    return n_kept + max(n_kept, FEWEST_OTHERS)


def draw_training_rows(
    X: Any, y: ArrayLike, sample_weight: ArrayLike | None, *, policy: str, n_kept: int, seed: int
) -> DrawnRows | None:
    """Draw the rows that a model keeps and as many others, of which it learns, too.

    Labels and arrays of numbers are validated block by block, so that memory is needed for the drawn rows
    and a block only; X can be mapped from a file.

    Parameters
    ----------
    X : array-like or table of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
    sample_weight : array-like of shape (n_rows,) or None
        Rows of weight 0 do not count.
    policy : {"recent", "reservoir", "balanced"}
    n_kept : int
        How many rows the model keeps.
    seed : int

    Returns
    -------
    drawn : DrawnRows or None
        None if there are so few rows that all are learned from, or X is no array or table with rows.
    """
    from lann.model import rows_to_learn_from  # numba is imported on first use

    n_rows, n_learned = _count_rows(X), n_rows_to_learn_from(n_kept)
    if n_rows <= n_learned or y is None:
        return None
    if isinstance(X, np.ndarray) and X.dtype.kind in "fiub":
        _check_numbers(X)
    labels = column_or_1d(y, warn=True)
    check_consistent_length(X, labels)
    weights, counted = None, None
    if sample_weight is not None:
        weights = check_sample_weight(sample_weight, n_rows)
        counted = np.flatnonzero(weights)
        n_rows = len(counted)
        if n_rows <= n_learned:
            return None
    classes = _classes(labels if counted is None else labels[counted])
    check_two_classes(classes)

    def labels_of(part: slice) -> Labels:
        return class_indices(labels[part if counted is None else counted[part]], classes)

    drawn = rows_to_learn_from(policy, labels_of, n_rows, n_kept, n_learned - n_kept, seed=seed)
    rows = drawn if counted is None else counted[drawn]
    own = np.asarray(labels[rows])
    if len(np.unique(own)) < 2:
        raise ValueError(
            f"The {len(own)} rows that are drawn of {n_rows} have one class only, {own[:1].tolist()[0]!r}; "
            "raise max_points, or set forget_policy='balanced'."
        )
    own_weights = None if weights is None else weights[rows]
    return DrawnRows(take_rows(X, rows), own, own_weights, classes, drawn, n_rows)


def _count_rows(X: Any) -> int:
    """Return the number of rows of an array or a table, 0 for other objects."""
    is_table = isinstance(X, np.ndarray) or hasattr(X, "columns")
    shape: tuple[int, ...] = getattr(X, "shape", ())
    is_known = is_table and len(shape) == 2 and isinstance(shape[0], int)  # unlike that of a table of Dask
    return shape[0] if is_known and shape[1] > 0 else 0


def _check_numbers(X: NDArray[Any]) -> None:
    """Raise ValueError if a number is infinite."""
    for part in blocks(len(X), max(BLOCK_NUMBERS // X.shape[1], 1)):
        check_array(X[part], dtype=np.float64, ensure_all_finite="allow-nan", input_name="X")


def _classes(labels: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct labels; raise ValueError if they are no labels of classes."""
    found: list[NDArray[Any]] = []
    for part in blocks(len(labels), BLOCK_LABELS):
        own = np.asarray(labels[part])
        assert_all_finite(own, input_name="y")
        check_one_type("y", own)
        check_classification_targets(own)
        found = [np.unique(np.concatenate([*found, np.unique(own)]))]
    return found[0]


def query_blocks(X: Any) -> list[slice] | None:
    """Return the parts in which an array of queries is read; None is all of it, also for other objects."""
    is_large = isinstance(X, np.ndarray) and X.ndim == 2 and len(X) > BLOCK_QUERIES
    return list(blocks(len(X), BLOCK_QUERIES)) if is_large else None


def blocks(n_rows: int, most: int) -> Iterator[slice]:
    """Yield consecutive parts of rows, of about equal size and with at most `most` rows.

    >>> [part.stop - part.start for part in blocks(10, 4)]
    [3, 3, 4]
    """
    n_blocks = -(-n_rows // most)
    for i in range(n_blocks):
        yield slice(i * n_rows // n_blocks, (i + 1) * n_rows // n_blocks)
