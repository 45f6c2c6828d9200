"""Which rows a model keeps, and which rows of a large table it learns from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_array, check_consistent_length, column_or_1d

from lann._support.inputs import check_one_type, check_sample_weight, check_two_classes, class_indices
from lann._support.types import Indices, Labels
from lann.columns.inputs import take_rows

RECENT, RESERVOIR, BALANCED = ("recent", "reservoir", "balanced")
# Rows that are ranked at once.
BLOCK_ROWS = 1 << 18
# The increment of SplitMix64.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
# Beside the rows that a model keeps, it learns from as many others, and at least from this many.
FEWEST_OTHERS = 10_000
# Numbers of an array that are validated at once: 8 MB.
BLOCK_NUMBERS = 1 << 20
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


def blocks(n_rows: int, most: int) -> Iterator[slice]:
    """Yield consecutive parts of rows, of about equal size and with at most `most` rows.

    >>> [part.stop - part.start for part in blocks(10, 4)]
    [3, 3, 4]
    """
    n_blocks = -(-n_rows // most)
    for i in range(n_blocks):
        yield slice(i * n_rows // n_blocks, (i + 1) * n_rows // n_blocks)


def rows_to_forget(policy: str, labels: Labels, arrivals: Indices, n_kept: int, *, seed: int = 0) -> Indices:
    """Return the rows to forget, so that `n_kept` remain.

    Parameters
    ----------
    policy : {"recent", "reservoir", "balanced"}
        "recent" keeps the last rows. "reservoir" keeps a uniform sample of all rows that have arrived so far:
        every row has a random rank, which depends on `seed` and its arrival only, and the highest ranks are
        kept. "balanced" keeps a sample of each class, of sizes that are as equal as possible.
    labels : ndarray of shape (n_rows,)
        Class indices.
    arrivals : ndarray of shape (n_rows,)
        The number of each row in the order of their arrival, ascending.
    n_kept : int
        Number of rows to keep.
    seed : int, default=0

    Returns
    -------
    rows : ndarray of shape (n_rows - n_kept,)
        Ascending; empty if there are no more rows than that.

    Examples
    --------
    >>> import numpy as np
    >>> from lann._row_draw import rows_to_forget
    >>> labels, arrivals = np.array([0, 0, 0, 1]), np.arange(4)
    >>> rows_to_forget("recent", labels, arrivals, 2)
    array([0, 1])
    >>> forgotten = rows_to_forget("balanced", labels, arrivals, 2)
    >>> labels[forgotten]
    array([0, 0])
    """
    n_forgotten = max(len(labels) - n_kept, 0)
    if policy == RECENT or n_forgotten == 0:
        return np.arange(n_forgotten)
    ranks = random_ranks(arrivals, seed)
    if policy == RESERVOIR:
        return np.sort(np.argpartition(ranks, n_forgotten - 1)[:n_forgotten])
    forgotten = []
    for label, n_lost in enumerate(_excess(np.bincount(labels), n_forgotten)):
        if n_lost > 0:
            members = np.flatnonzero(labels == label)
            forgotten.append(members[np.argpartition(ranks[members], n_lost - 1)[:n_lost]])
    return np.sort(np.concatenate(forgotten))


def rows_to_learn_from(
    policy: str,
    labels_of: Callable[[slice], Labels],
    n_rows: int,
    n_kept: int,
    n_others: int,
    *,
    seed: int = 0,
) -> Indices:
    """Return the rows that a model keeps, as `rows_to_forget` chooses them, and a uniform sample of others.

    Memory is needed for these rows and a block of labels only.

    Parameters
    ----------
    policy : {"recent", "reservoir", "balanced"}
    labels_of : callable
        Returns the class indices of a slice of the rows.
    n_rows : int
        Number of all rows, more than are kept. Their arrivals are 0, 1, …
    n_kept, n_others : int
    seed : int, default=0

    Returns
    -------
    rows : ndarray of shape (at most n_kept + n_others,)
        Ascending.

    Examples
    --------
    >>> import numpy as np
    >>> from lann._row_draw import rows_to_learn_from
    >>> labels = np.repeat([0, 1], [999_997, 3])
    >>> rows = rows_to_learn_from("balanced", lambda part: labels[part], len(labels), 10, 20)
    >>> len(rows), rows[-3:].tolist()
    (30, [999997, 999998, 999999])
    """
    parts = [slice(start, min(start + BLOCK_ROWS, n_rows)) for start in range(0, n_rows, BLOCK_ROWS)]
    kept: Indices = np.empty(0, np.int64)
    if policy == RECENT:
        kept = np.arange(n_rows - n_kept, n_rows)
    elif policy == BALANCED:
        counts = np.zeros(0, np.int64)
        for part in parts:
            own = np.bincount(labels_of(part), minlength=len(counts))
            counts = own + np.pad(counts, (0, len(own) - len(counts)))
        sizes = counts - _excess(counts, n_rows - n_kept)
        by_class = [HighestRanks(int(size)) for size in sizes]
        for part in parts:
            labels = labels_of(part)
            for label, highest in enumerate(by_class):
                highest.add(part.start + np.flatnonzero(labels == label), seed)
        kept = np.concatenate([highest.rows for highest in by_class])
    # The best of the others are among this many of all rows, independent of which are kept.
    highest = HighestRanks(n_kept + n_others)
    for part in parts:
        highest.add(np.arange(part.start, part.stop), seed)
    others = highest.descending()
    others = others[~np.isin(others, kept)][: n_kept + n_others - len(kept)]
    return np.sort(np.concatenate([kept, others]))


class HighestRanks:
    """The rows with the highest random ranks, a uniform sample of rows that are added block by block.

    Parameters
    ----------
    n_rows : int
        Number of rows that are kept.

    Attributes
    ----------
    rows : ndarray of shape (at most n_rows,)

    Examples
    --------
    >>> import numpy as np
    >>> from lann._row_draw import HighestRanks
    >>> sample = HighestRanks(3)
    >>> for start in range(0, 1_000_000, 100_000):
    ...     sample.add(np.arange(start, start + 100_000), seed=0)
    >>> len(sample.rows)
    3
    """

    def __init__(self, n_rows: int) -> None:
        self._n_rows = n_rows
        self.rows: Indices = np.empty(0, np.int64)
        self._ranks = np.empty(0, np.uint64)

    def add(self, rows: Indices, seed: int) -> None:
        """Add rows, by the numbers of their arrival."""
        ranks = random_ranks(rows, seed)
        if len(self.rows) == self._n_rows > 0:
            is_higher = ranks > self._ranks.min()
            rows, ranks = rows[is_higher], ranks[is_higher]
        self.rows, self._ranks = np.concatenate([self.rows, rows]), np.concatenate([self._ranks, ranks])
        n_lost = len(self.rows) - self._n_rows
        if n_lost > 0:
            highest = np.argpartition(self._ranks, n_lost)[n_lost:] if self._n_rows else slice(0)
            self.rows, self._ranks = self.rows[highest], self._ranks[highest]

    def descending(self) -> Indices:
        """Return the rows with the highest ranks first."""
        return self.rows[np.argsort(self._ranks)[::-1]]


def _excess(counts: Indices, n_forgotten: int) -> Indices:
    """Return how many rows each class loses, if they are taken one by one from the largest class."""
    order = np.argsort(-counts, kind="stable")
    sizes = counts[order]
    # The largest `n` classes come down to the size of the next one, until that takes away enough.
    n_largest = np.arange(1, len(sizes) + 1)
    taken = np.cumsum(sizes) - n_largest * np.append(sizes[1:], 0)
    n = int(np.searchsorted(taken, n_forgotten)) + 1
    total = int(sizes[:n].sum()) - n_forgotten  # of these classes, afterwards
    lost = np.zeros(len(counts), np.int64)
    # Of sizes that differ by one, the smaller ones are those of the first classes.
    largest = np.sort(order[:n])
    lost[largest] = counts[largest] - (total + np.arange(n)) // n
    return lost


def random_ranks(arrivals: Indices, seed: int) -> NDArray[np.uint64]:
    """Return a random number for each row that depends on its arrival and the seed only: (n_rows,)."""
    start = _mixed(np.array([seed], np.uint64) + GOLDEN)
    return _mixed(start + arrivals.astype(np.uint64) * GOLDEN)


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return numbers all of whose bits depend on all bits of given ones: those of SplitMix64."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
