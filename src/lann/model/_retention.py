"""Which rows a model with bounded memory forgets."""

from __future__ import annotations

import numpy as np
from numba import njit

from lann._types import Indices, Labels

RECENT, RESERVOIR, BALANCED = POLICIES = ("recent", "reservoir", "balanced")


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
