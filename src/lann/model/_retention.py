"""Which rows a model with bounded memory forgets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lann._compile import njit
from lann._types import Indices, Labels

RECENT, RESERVOIR, BALANCED = POLICIES = ("recent", "reservoir", "balanced")
# Rows that are ranked at once.
BLOCK_ROWS = 1 << 18


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
    >>> from lann.model import rows_to_forget
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
    ranks = random_ranks(arrivals, np.uint64(seed))
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
    >>> from lann.model import rows_to_learn_from
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
    # The best of the others are among so many of all rows, whichever are kept.
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
    >>> from lann.model import HighestRanks
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
        ranks = random_ranks(rows, np.uint64(seed))
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


@njit(nogil=True, cache=True)
def random_ranks(arrivals, seed):
    """Return a random number for each row that depends on its arrival and the seed only: (n_rows,) uint64."""
    ranks = np.empty(arrivals.shape[0], np.uint64)
    start = _mixed(seed + np.uint64(0x9E3779B97F4A7C15))
    for i in range(arrivals.shape[0]):
        ranks[i] = _mixed(start + np.uint64(arrivals[i]) * np.uint64(0x9E3779B97F4A7C15))
    return ranks


@njit(nogil=True, cache=True)
def _mixed(value):
    """Return a number all of whose bits depend on all bits of a given one."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))
