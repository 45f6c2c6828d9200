"""The short-term and the long-term memory of a stream, all in arrays.

Rows are stored feature by feature, so that distances to many rows are computed at once. The short-term rows
are the columns from `start` to `stop` of arrays that are longer than needed: when the end is reached, they
are moved to the beginning.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lann._support.types import Floats, Indices, Labels

# Entries of `Memories.counters`.
START, STOP, N_LONG, N_SEEN, N_DRIFTS, N_COMPRESSIONS, N_BEFORE, HAS_GAPS, SEED = range(9)
N_COUNTERS = 9
# Votes whose recent hits are compared: of the short-term rows, of the long-term rows, and of both.
SHORT, LONG, COMBINED = range(3)
N_VOTES = 3
# How many drifts, and how many rows from before the last drift, are kept.
MAX_DRIFTS, MAX_BEFORE = 1000, 200


class Limits(NamedTuple):
    """The sizes of the memories.

    Attributes
    ----------
    n_neighbors : int
        Number of neighbors that vote.
    total : int
        Largest number of rows in both memories.
    long : int
        Number of long-term rows beyond which they are compressed once both memories are full.
    smallest : int
        Smallest candidate window; more than `n_neighbors`.
    """

    n_neighbors: int
    total: int
    long: int
    smallest: int


class Memories(NamedTuple):
    """Both memories, the record of their votes, and the candidate windows.

    Attributes
    ----------
    short_X : (n_features, capacity)
        Short-term rows, oldest first, in the columns from `counters[START]` to `counters[STOP]`.
    short_labels, short_arrivals : (capacity,)
        Class indices, and the number of rows that were learned before each.
    short_extras : (n_extras, capacity)
        Further values of each row, which follow it into the long-term memory.
    hits : (N_VOTES, capacity)
        1 where a vote was right about a short-term row before it was learned.
    hit_counts : (n_votes,)
        Sums of `hits` over the short-term rows.
    window_hits : (n_windows, capacity)
        1 where the rows before it in a candidate window predict the label of a row.
    window_starts, window_counts : (n_windows,)
        First column of each candidate window, -1 for none, and the sum of its `window_hits`. Window j has the
        newest n // 2^j short-term rows.
    long_X, long_labels, long_extras
        As those of the short-term rows, in the first `counters[N_LONG]` columns.
    long_arrivals : (long_capacity,)
        Mean arrival of the rows that a long-term row stands for.
    long_sizes : (long_capacity,)
        Number of rows that a long-term row stands for.
    known : (n_classes,)
        1 for classes that were announced or learned.
    before_X, before_labels, before_arrivals : (n_features, 200), (200,), (200,)
        Some of the rows that the last drift removed from the short-term memory, oldest first.
    drifts : (1000, 3)
        Arrival of the row that showed it, size before and size after of the last drifts, as a ring.
    counters : (9,)
        See the constants of this module.
    """

    short_X: Floats
    short_labels: Labels
    short_arrivals: Indices
    short_extras: Floats
    hits: NDArray[np.uint8]
    hit_counts: Indices
    window_hits: NDArray[np.uint8]
    window_starts: Indices
    window_counts: Indices
    long_X: Floats
    long_labels: Labels
    long_arrivals: Floats
    long_extras: Floats
    long_sizes: Floats
    known: NDArray[np.uint8]
    before_X: Floats
    before_labels: Labels
    before_arrivals: Indices
    drifts: Indices
    counters: Indices


def new_memories(
    n_features: int, n_classes: int, limits: Limits, seed: int, *, n_extras: int = 0
) -> Memories:
    """Return empty memories.

    Parameters
    ----------
    n_features, n_classes : int
    limits : Limits
    seed : int
        Of the random numbers of the compression.
    n_extras : int
        Number of further values of each row.
    """
    long_capacity = limits.total + 1
    capacity = long_capacity + max(limits.total // 4, 64)
    n_windows = max(int(np.log2(long_capacity / limits.smallest)), 0) + 2
    counters = np.zeros(N_COUNTERS, np.int64)
    counters[SEED] = seed
    return Memories(
        short_X=np.zeros((n_features, capacity)),
        short_labels=np.zeros(capacity, np.int64),
        short_arrivals=np.zeros(capacity, np.int64),
        short_extras=np.zeros((n_extras, capacity)),
        hits=np.zeros((N_VOTES, capacity), np.uint8),
        hit_counts=np.zeros(N_VOTES, np.int64),
        window_hits=np.zeros((n_windows, capacity), np.uint8),
        window_starts=np.full(n_windows, -1, np.int64),
        window_counts=np.zeros(n_windows, np.int64),
        long_X=np.zeros((n_features, long_capacity)),
        long_labels=np.zeros(long_capacity, np.int64),
        long_arrivals=np.zeros(long_capacity),
        long_extras=np.zeros((n_extras, long_capacity)),
        long_sizes=np.zeros(long_capacity),
        known=np.zeros(n_classes, np.uint8),
        before_X=np.zeros((n_features, MAX_BEFORE)),
        before_labels=np.zeros(MAX_BEFORE, np.int64),
        before_arrivals=np.zeros(MAX_BEFORE, np.int64),
        drifts=np.zeros((MAX_DRIFTS, 3), np.int64),
        counters=counters,
    )


def with_classes(memories: Memories, old_positions: Indices, n_classes: int) -> Memories:
    """Return memories with further classes.

    Parameters
    ----------
    memories : Memories
    old_positions : (n_old_classes,)
        The new class index of each class.
    n_classes : int
        New number of classes.
    """
    known = np.zeros(n_classes, np.uint8)
    known[old_positions] = memories.known
    if not len(old_positions):
        return memories._replace(known=known)
    return memories._replace(
        known=known,
        short_labels=old_positions[memories.short_labels],
        long_labels=old_positions[memories.long_labels],
        before_labels=old_positions[memories.before_labels],
    )


def with_feature(memories: Memories, category_of: int | None = None) -> Memories:
    """Return memories whose rows have a further feature at the end.

    Parameters
    ----------
    memories : Memories
    category_of : int or None
        A feature that is another category of the same column: rows with a value there are 0 in the new one.
        None if all rows miss the new feature.
    """
    widened = {
        name: np.vstack([getattr(memories, name), _earlier_values(getattr(memories, name), category_of)])
        for name in ("short_X", "long_X", "before_X")
    }
    if any(np.isnan(X[-1]).any() for X in widened.values()):
        memories.counters[HAS_GAPS] = 1
    return memories._replace(**widened)


def _earlier_values(X: Floats, category_of: int | None) -> Floats:
    return np.full(X.shape[1], np.nan) if category_of is None else X[category_of] * 0.0


# Arrays of the short-term rows, of the long-term rows, and of rows from before the last drift. Their last
# dimension is that of the rows.
_SHORT = ("short_X", "short_labels", "short_arrivals", "short_extras", "hits", "window_hits")
_LONG = ("long_X", "long_labels", "long_arrivals", "long_extras", "long_sizes")
_BEFORE = ("before_X", "before_labels", "before_arrivals")


def trim_memories(memories: Memories, limits: Limits, *, with_older: bool) -> Memories:
    """Return memories without the spare columns of their arrays, as model files have them.

    Parameters
    ----------
    memories : Memories
    limits : Limits
    with_older : bool
        Whether rows that the short-term memory has dropped are kept, as far as they are among the newest
        `limits.total` rows. They come before the column `counters[START]`.
    """
    counters = memories.counters.copy()
    stop = counters[STOP]
    first = max(stop - limits.total, 0) if with_older else counters[START]
    parts = [
        (_SHORT, slice(first, stop)),
        (_LONG, slice(counters[N_LONG])),
        (_BEFORE, slice(counters[N_BEFORE])),
    ]
    arrays = {name: getattr(memories, name)[..., rows].copy() for names, rows in parts for name in names}
    starts = np.where(memories.window_starts < 0, -1, memories.window_starts - first)
    # The first rows of a window are not predicted, and hits outside of windows are never read.
    predicted = np.where(starts < 0, stop, starts + limits.n_neighbors)
    arrays["window_hits"][np.arange(stop - first) < predicted[:, None]] = 0
    arrays["drifts"] = memories.drifts[: counters[N_DRIFTS]]
    counters[[START, STOP]] -= first
    return memories._replace(**arrays, window_starts=starts, counters=counters)


def restore_memories(saved: Memories, limits: Limits, n_extras: int) -> Memories:
    """Return memories that go on as those of which `trim_memories` has made `saved`.

    Parameters
    ----------
    saved : Memories
    limits : Limits
    n_extras : int
        Number of further values of each row.

    Raises
    ------
    ValueError
        If the numbers of rows, windows or further values do not fit the limits.
    """
    (n_features, n_short), n_long = saved.short_X.shape, saved.long_X.shape[1]
    n_older = int(saved.counters[START])
    if n_older > n_short or max(n_short, n_short - n_older + n_long) > limits.total:
        raise ValueError(f"there are more than {limits.total} rows")
    memories = new_memories(n_features, len(saved.known), limits, 0, n_extras=n_extras)
    for name, values in saved._asdict().items():
        array = getattr(memories, name)
        if name in (*_SHORT, *_LONG, *_BEFORE):
            array = array[..., : values.shape[-1]]
        elif name == "drifts":
            array = array[: len(values)]
        array[...] = values
    memories.known[np.concatenate([saved.short_labels, saved.long_labels])] = 1
    counters = memories.counters
    counters[[STOP, N_LONG, N_BEFORE]] = n_short, n_long, saved.before_X.shape[1]
    counters[HAS_GAPS] |= bool(np.isnan(saved.short_X).any() or np.isnan(saved.long_X).any())
    return memories
