"""Kernels of self-adjusting memories: predict a row, learn it, choose the window, clean and shrink memories.

Candidate window j has the newest n // 2^j short-term rows. A row of a window is predicted by the rows before
it in the window; windows are compared by the accuracy over all but their first k rows. When a window loses
its oldest row, its other rows keep their record: it is computed anew only if it could shrink the memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lann._support.types import Floats, Indices, Labels
from lann.streams._compression import compress
from lann.streams._memory import (
    COMBINED,
    HAS_GAPS,
    LONG,
    MAX_BEFORE,
    MAX_DRIFTS,
    N_BEFORE,
    N_DRIFTS,
    N_LONG,
    N_SEEN,
    SHORT,
    START,
    STOP,
    Limits,
    Memories,
)
from lann.streams._neighbors import (
    extend_nearest,
    has_gaps,
    insert_nearest,
    squared_distances,
    vote,
    vote_weights,
)

# η of the vote: see lann.vote.
FLOOR = 0.02


class Measured(NamedTuple):
    """What is computed about one row before it is learned.

    Attributes
    ----------
    short_distances, long_distances : (capacity,), (long_capacity,)
        Squared, by column.
    columns, lengths, labels : (3, k)
        Columns, squared distances and class indices of the neighbors in the short-term memory, in the
        long-term memory, and in both, nearest first. In both, −1 − column is a long-term row.
    n_found : (3,)
        How many there are.
    predicted : (3,)
        Class index that each of the three votes predicts, -1 for none.
    window_predicted : (n_windows,)
        Class index that the short-term rows of each candidate window predict.
    weights : (k,)
        Space for the weights of neighbors.
    support : (n_classes,)
        All 0.
    """

    short_distances: Floats
    long_distances: Floats
    columns: Indices
    lengths: Floats
    labels: Labels
    n_found: Indices
    predicted: Labels
    window_predicted: Labels
    weights: Floats
    support: Floats


@njit(nogil=True, cache=True)
def new_measured(memories: Memories, limits: Limits) -> Measured:
    """Return space for what is computed about one row."""
    k = limits.n_neighbors
    return Measured(
        np.empty(memories.short_X.shape[1]),
        np.empty(memories.long_X.shape[1]),
        np.empty((3, k), np.int64),
        np.empty((3, k)),
        np.empty((3, k), np.int64),
        np.zeros(3, np.int64),
        np.empty(3, np.int64),
        np.empty(len(memories.window_starts), np.int64),
        np.empty(k),
        np.zeros(len(memories.known)),
    )


@njit(nogil=True, cache=True)
def measure(memories: Memories, limits: Limits, x: Floats, measured: Measured) -> None:
    """Find the neighbors of a row in each memory, and what they and those in each window predict.

    One pass from the newest to the oldest short-term row has the neighbors in every candidate window: those
    of the window that ends with the row itself, as if it had been learned.
    """
    counters = memories.counters
    start, stop, n_long = counters[START], counters[STOP], counters[N_LONG]
    gaps = counters[HAS_GAPS] != 0 or has_gaps(x)
    squared_distances(memories.short_X, start, stop, x, gaps, measured.short_distances)
    squared_distances(memories.long_X, 0, n_long, x, gaps, measured.long_distances)
    columns, lengths, labels = measured.columns[SHORT], measured.lengths[SHORT], measured.labels[SHORT]
    n_rows, n_found, high = stop - start + 1, 0, stop
    for window in range(count_windows(n_rows, limits.smallest) - 1, -1, -1):
        low = stop + 1 - (n_rows >> window)
        n_found = extend_nearest(measured.short_distances, low, high, columns, lengths, n_found)
        for i in range(n_found):
            labels[i] = memories.short_labels[columns[i]]
        measured.window_predicted[window] = vote(labels, lengths, n_found, measured.weights, measured.support)
        high = low
    measured.n_found[SHORT] = n_found
    columns, lengths, labels = measured.columns[LONG], measured.lengths[LONG], measured.labels[LONG]
    n_found = extend_nearest(measured.long_distances, 0, n_long, columns, lengths, 0)
    for i in range(n_found):
        labels[i] = memories.long_labels[columns[i]]
    measured.n_found[LONG] = n_found
    _combine(measured)
    for number in range(3):
        measured.predicted[number] = vote(
            measured.labels[number],
            measured.lengths[number],
            measured.n_found[number],
            measured.weights,
            measured.support,
        )


@njit(nogil=True, cache=True)
def _combine(measured: Measured) -> None:
    """Merge the neighbors of both memories; at the same distance, short-term rows come first."""
    columns, lengths, labels = measured.columns, measured.lengths, measured.labels
    short, long, n_found = 0, 0, 0
    while n_found < len(measured.weights):
        has_short, has_long = short < measured.n_found[SHORT], long < measured.n_found[LONG]
        if has_short and (not has_long or lengths[SHORT, short] <= lengths[LONG, long]):
            columns[COMBINED, n_found] = columns[SHORT, short]
            lengths[COMBINED, n_found], labels[COMBINED, n_found] = (
                lengths[SHORT, short],
                labels[SHORT, short],
            )
            short += 1
        elif has_long:
            columns[COMBINED, n_found] = -1 - columns[LONG, long]
            lengths[COMBINED, n_found], labels[COMBINED, n_found] = lengths[LONG, long], labels[LONG, long]
            long += 1
        else:
            break
        n_found += 1
    measured.n_found[COMBINED] = n_found


@njit(nogil=True, cache=True)
def deciding_vote(memories: Memories, limits: Limits) -> int:
    """Return the vote with the most recent hits; that of the short-term rows if few others are there."""
    if memories.counters[N_LONG] < limits.n_neighbors:
        return SHORT
    best = SHORT
    for number in range(1, 3):
        if memories.hit_counts[number] > memories.hit_counts[best]:
            best = number
    return best


@njit(nogil=True, cache=True)
def probabilities_of(memories: Memories, measured: Measured, number: int, out: Floats) -> None:
    """Compute the probabilities of the classes by one vote; they are 0 for unknown classes only.

    Parameters
    ----------
    memories : Memories
    measured : Measured
    number : int
        The vote.
    out : (n_classes,)
    """
    n_known = 0
    for label in range(len(out)):
        n_known += memories.known[label]
    n_found, labels = measured.n_found[number], measured.labels[number]
    if n_known == 0 or n_found == 0:
        for label in range(len(out)):
            out[label] = 1.0 / len(out) if n_known == 0 else memories.known[label] / n_known
        return
    vote_weights(measured.lengths[number], n_found, measured.weights)
    out[:] = 0.0
    for i in range(n_found):
        out[labels[i]] += measured.weights[i]
    total = 0.0
    for label in range(len(out)):
        total += out[label]
    for label in range(len(out)):
        if memories.known[label]:
            out[label] = (out[label] / total + FLOOR / n_known) / (1.0 + FLOOR)


@njit(nogil=True, cache=True)
def count_windows(n_rows: int, smallest: int) -> int:
    """Return the number of candidate windows of the short-term rows; at least 1."""
    n_windows = 1
    while n_rows >> n_windows >= smallest:
        n_windows += 1
    return n_windows


@njit(nogil=True, cache=True)
def replay_window(memories: Memories, limits: Limits, window: int, low: int) -> None:
    """Predict every row of a window by the rows before it, and set its record.

    Parameters
    ----------
    memories : Memories
    limits : Limits
    window : int
    low : int
        First column of the window.
    """
    k, stop = limits.n_neighbors, memories.counters[STOP]
    gaps = memories.counters[HAS_GAPS] != 0
    distances = np.empty(stop)
    nearest, labels = np.empty(k, np.int64), np.empty(k, np.int64)
    lengths, weights, support = np.empty(k), np.empty(k), np.zeros(len(memories.known))
    count = 0
    for column in range(low + k, stop):
        x = memories.short_X[:, column].copy()
        squared_distances(memories.short_X, low, column, x, gaps, distances)
        n_found = extend_nearest(distances, low, column, nearest, lengths, 0)
        for i in range(n_found):
            labels[i] = memories.short_labels[nearest[i]]
        predicted = vote(labels, lengths, n_found, weights, support)
        hit = predicted == memories.short_labels[column]
        memories.window_hits[window, column] = hit
        count += hit
    memories.window_starts[window], memories.window_counts[window] = low, count


@njit(nogil=True, cache=True)
def update_windows(memories: Memories, limits: Limits) -> None:
    """Bring the record of every window up to the newest row, whose hits are set already."""
    k, stop = limits.n_neighbors, memories.counters[STOP]
    n_rows = stop - memories.counters[START]
    n_windows = count_windows(n_rows, limits.smallest)
    starts, counts, hits = memories.window_starts, memories.window_counts, memories.window_hits
    for window in range(len(starts)):
        low = stop - (n_rows >> window)
        if window >= n_windows:
            starts[window] = -1
        elif starts[window] < 0 or low > starts[window] + 1:
            replay_window(memories, limits, window, low)
        else:
            if low == starts[window] + 1:
                counts[window] -= hits[window, low + k - 1]
                starts[window] = low
            if stop - 1 >= low + k:
                counts[window] += hits[window, stop - 1]


@njit(nogil=True, cache=True)
def best_window(memories: Memories, limits: Limits, accuracies: Floats) -> int:
    """Return the most accurate window: the largest of those within rounding.

    Parameters
    ----------
    memories : Memories
    limits : Limits
    accuracies : (n_windows,)
        Set, in rounded ten thousandths.
    """
    k, stop = limits.n_neighbors, memories.counters[STOP]
    n_windows = count_windows(stop - memories.counters[START], limits.smallest)
    best = 0
    for window in range(n_windows):
        n_predicted = stop - memories.window_starts[window] - k
        share = memories.window_counts[window] / n_predicted if n_predicted > 0 else 0.0
        accuracies[window] = np.rint(share * 1e4)
        if accuracies[window] > accuracies[best]:
            best = window
    return best


@njit(nogil=True, cache=True)
def choose_window(memories: Memories, limits: Limits) -> int:
    """Return the window that becomes the short-term memory; records in favor of fewer rows are checked."""
    accuracies = np.empty(len(memories.window_starts))
    best = best_window(memories, limits, accuracies)
    if best == 0:
        return 0
    n_windows = count_windows(memories.counters[STOP] - memories.counters[START], limits.smallest)
    for window in range(1, n_windows):
        if accuracies[window] > accuracies[0]:
            replay_window(memories, limits, window, memories.window_starts[window])
    return best_window(memories, limits, accuracies)


@njit(nogil=True, cache=True)
def same_class_radius(label: int, labels: Labels, nearest: Indices, lengths: Floats, n_found: int) -> float:
    """Return the largest squared distance to a neighbor with the label; -1 if there is none."""
    radius = -1.0
    for i in range(n_found):
        if labels[nearest[i]] == label:
            radius = max(radius, lengths[i])
    return radius


@njit(nogil=True, cache=True)
def remove_long(memories: Memories, removed: NDArray[np.bool_]) -> None:
    """Remove long-term rows; the others keep their order."""
    counters = memories.counters
    kept = 0
    for column in range(counters[N_LONG]):
        if removed[column]:
            continue
        if kept < column:
            memories.long_X[:, kept] = memories.long_X[:, column]
            memories.long_extras[:, kept] = memories.long_extras[:, column]
            memories.long_labels[kept] = memories.long_labels[column]
            memories.long_arrivals[kept] = memories.long_arrivals[column]
            memories.long_sizes[kept] = memories.long_sizes[column]
        kept += 1
    counters[N_LONG] = kept


@njit(nogil=True, cache=True)
def clean_long(
    memories: Memories, label: int, radius: float, nearest: Indices, lengths: Floats, n_found: int
) -> None:
    """Remove the nearest long-term rows that have another label and are within the radius.

    Parameters
    ----------
    memories : Memories
    label : int
        Class index of the newest row.
    radius : float
        Squared.
    nearest, lengths : (k,)
        The long-term rows nearest to the newest row.
    n_found : int
        How many there are.
    """
    removed = np.zeros(0, np.bool_)
    for i in range(n_found):
        if lengths[i] <= radius and memories.long_labels[nearest[i]] != label:
            if len(removed) == 0:
                removed = np.zeros(memories.counters[N_LONG], np.bool_)
            removed[nearest[i]] = True
    if len(removed):
        remove_long(memories, removed)


@njit(nogil=True, cache=True)
def contradicted(memories: Memories, limits: Limits, low: int) -> NDArray[np.bool_]:
    """Return which short-term rows before the column `low` are removed by the rows from `low` on.

    Each of these rows, oldest first, removes among the k nearest that are left those that have another label
    and are not farther than its own farthest same-class neighbor among its k nearest from `low` on.

    Parameters
    ----------
    memories : Memories
    limits : Limits
    low : int

    Returns
    -------
    removed : (n_columns,)
        By column; False from `low` on.
    """
    k = limits.n_neighbors
    start, stop = memories.counters[START], memories.counters[STOP]
    gaps = memories.counters[HAS_GAPS] != 0
    removed = np.zeros(stop, np.bool_)
    if stop - low <= k:
        return removed
    labels, X = memories.short_labels, memories.short_X
    distances = np.empty(stop)
    nearest, lengths = np.empty(k, np.int64), np.empty(k)
    for column in range(low, stop):
        x = X[:, column].copy()
        squared_distances(X, start, stop, x, gaps, distances)
        n_found = extend_nearest(distances, column + 1, stop, nearest, lengths, 0)
        n_found = extend_nearest(distances, low, column, nearest, lengths, n_found)
        radius = same_class_radius(labels[column], labels, nearest, lengths, n_found)
        if radius < 0.0:
            continue
        n_found = 0
        for other in range(low - 1, start - 1, -1):
            if not removed[other] and (n_found < k or distances[other] <= lengths[k - 1]):
                n_found = insert_nearest(other, distances[other], nearest, lengths, n_found)
        for i in range(n_found):
            if lengths[i] <= radius and labels[nearest[i]] != labels[column]:
                removed[nearest[i]] = True
    return removed


@njit(nogil=True, cache=True)
def make_room(memories: Memories) -> None:
    """Move the short-term rows to the first columns if there is no column for another row."""
    counters = memories.counters
    start, stop = counters[START], counters[STOP]
    if stop < memories.short_X.shape[1]:
        return
    n_rows = stop - start
    # Column by column upward: a row is read before it is overwritten.
    for feature in range(memories.short_X.shape[0]):
        for i in range(n_rows):
            memories.short_X[feature, i] = memories.short_X[feature, start + i]
    for extra in range(memories.short_extras.shape[0]):
        for i in range(n_rows):
            memories.short_extras[extra, i] = memories.short_extras[extra, start + i]
    for i in range(n_rows):
        memories.short_labels[i] = memories.short_labels[start + i]
        memories.short_arrivals[i] = memories.short_arrivals[start + i]
        memories.hits[:, i] = memories.hits[:, start + i]
        memories.window_hits[:, i] = memories.window_hits[:, start + i]
    for window in range(len(memories.window_starts)):
        if memories.window_starts[window] >= 0:
            memories.window_starts[window] -= start
    counters[START], counters[STOP] = 0, n_rows


@njit(nogil=True, cache=True)
def append_long(memories: Memories, column: int) -> None:
    """Append a short-term row to the long-term memory."""
    last = memories.counters[N_LONG]
    memories.long_X[:, last] = memories.short_X[:, column]
    memories.long_extras[:, last] = memories.short_extras[:, column]
    memories.long_labels[last] = memories.short_labels[column]
    memories.long_arrivals[last] = memories.short_arrivals[column]
    memories.long_sizes[last] = 1.0
    memories.counters[N_LONG] = last + 1


@njit(nogil=True, cache=True)
def forget_short(memories: Memories, n_rows: int) -> None:
    """Remove the oldest short-term rows, and the hits of the votes about them."""
    start = memories.counters[START]
    for number in range(len(memories.hit_counts)):
        for column in range(start, start + n_rows):
            memories.hit_counts[number] -= memories.hits[number, column]
    memories.counters[START] = start + n_rows


@njit(nogil=True, cache=True)
def limit_sizes(memories: Memories, limits: Limits) -> bool:
    """Compress the long-term memory if both are full; return whether something has changed.

    Unless it is beyond its limit, it first takes over this number of the oldest short-term rows.
    """
    counters = memories.counters
    n_short, n_long = counters[STOP] - counters[START], counters[N_LONG]
    if n_short + n_long <= limits.total:
        return False
    if n_long <= limits.long:
        n_moved = limits.long - n_long + 1
        for column in range(counters[START], counters[START] + n_moved):
            append_long(memories, column)
        forget_short(memories, n_moved)
        memories.window_starts[:] = -1
    compress(memories)
    # With as many classes as rows, compression removes none.
    surplus = counters[STOP] - counters[START] + counters[N_LONG] - limits.total
    if surplus > 0:
        removed = np.zeros(counters[N_LONG], np.bool_)
        for column in np.argsort(memories.long_arrivals[: counters[N_LONG]], kind="mergesort")[:surplus]:
            removed[column] = True
        remove_long(memories, removed)
    return True


@njit(nogil=True, cache=True)
def shrink(memories: Memories, limits: Limits, best: int) -> None:
    """Make a candidate window the short-term memory; older rows go to the long-term memory, cleaned."""
    counters = memories.counters
    start, stop, low = counters[START], counters[STOP], memories.window_starts[best]
    _keep_some(memories, start, low)
    removed = contradicted(memories, limits, low)
    for column in range(start, low):
        if not removed[column]:
            append_long(memories, column)
    forget_short(memories, low - start)
    n_windows = len(memories.window_starts)
    for window in range(n_windows):
        other = window + best
        if other < n_windows:
            memories.window_starts[window] = memories.window_starts[other]
            memories.window_counts[window] = memories.window_counts[other]
            memories.window_hits[window, low:stop] = memories.window_hits[other, low:stop]
        else:
            memories.window_starts[window] = -1
    drift = memories.drifts[counters[N_DRIFTS] % MAX_DRIFTS]
    drift[0], drift[1], drift[2] = counters[N_SEEN] - 1, stop - start, stop - low
    counters[N_DRIFTS] += 1


@njit(nogil=True, cache=True)
def _keep_some(memories: Memories, start: int, stop: int) -> None:
    """Keep some of the rows that a drift removes, evenly spaced, with the newest of them."""
    n_kept = min(stop - start, MAX_BEFORE)
    for i in range(n_kept):
        column = start + ((i + 1) * (stop - start)) // n_kept - 1
        memories.before_X[:, i] = memories.short_X[:, column]
        memories.before_labels[i] = memories.short_labels[column]
        memories.before_arrivals[i] = memories.short_arrivals[column]
    memories.counters[N_BEFORE] = n_kept


@njit(nogil=True, cache=True)
def learn(memories: Memories, limits: Limits, x: Floats, label: int, measured: Measured) -> None:
    """Learn a row that was measured, with `make_room` before."""
    counters = memories.counters
    column = counters[STOP]
    memories.short_X[:, column] = x
    memories.short_labels[column] = label
    memories.short_arrivals[column] = counters[N_SEEN]
    memories.known[label] = 1
    if has_gaps(x):
        counters[HAS_GAPS] = 1
    # A long-term memory that cannot decide has no hits.
    for number in range(3):
        hit = measured.predicted[number] == label
        if number == LONG and counters[N_LONG] < limits.n_neighbors:
            hit = False
        memories.hits[number, column] = hit
        memories.hit_counts[number] += hit
    n_windows = count_windows(column + 1 - counters[START], limits.smallest)
    for window in range(len(memories.window_starts)):
        memories.window_hits[window, column] = (
            window < n_windows and measured.window_predicted[window] == label
        )
    counters[STOP] += 1
    counters[N_SEEN] += 1
    if limit_sizes(memories, limits):
        measure_again(memories, limits, x, measured)
    if counters[STOP] - counters[START] > limits.n_neighbors:
        radius = same_class_radius(
            label,
            memories.short_labels,
            measured.columns[SHORT],
            measured.lengths[SHORT],
            measured.n_found[SHORT],
        )
        clean_long(
            memories, label, radius, measured.columns[LONG], measured.lengths[LONG], measured.n_found[LONG]
        )
    update_windows(memories, limits)
    best = choose_window(memories, limits)
    if best > 0:
        shrink(memories, limits, best)


@njit(nogil=True, cache=True)
def measure_again(memories: Memories, limits: Limits, x: Floats, measured: Measured) -> None:
    """Find the neighbors of the newest row in each memory, after their sizes were limited."""
    counters = memories.counters
    gaps = counters[HAS_GAPS] != 0
    squared_distances(memories.long_X, 0, counters[N_LONG], x, gaps, measured.long_distances)
    measured.n_found[LONG] = extend_nearest(
        measured.long_distances, 0, counters[N_LONG], measured.columns[LONG], measured.lengths[LONG], 0
    )
    measured.n_found[SHORT] = extend_nearest(
        measured.short_distances,
        counters[START],
        counters[STOP] - 1,
        measured.columns[SHORT],
        measured.lengths[SHORT],
        0,
    )


@njit(nogil=True, cache=True)
def predict_rows(memories: Memories, limits: Limits, X: Floats, out: Floats) -> None:
    """Compute the probabilities of the classes: X (n_rows, n_features), out (n_rows, n_classes)."""
    measured = new_measured(memories, limits)
    number = deciding_vote(memories, limits)
    for row in range(len(X)):
        measure(memories, limits, X[row], measured)
        probabilities_of(memories, measured, number, out[row])


@njit(nogil=True, cache=True)
def learn_rows(memories: Memories, limits: Limits, X: Floats, labels: Labels, out: Floats) -> None:
    """Learn rows one after the other, and compute the probabilities of each before it is learned.

    Parameters
    ----------
    memories : Memories
    limits : Limits
    X : (n_rows, n_features)
    labels : (n_rows,)
        Class indices.
    out : (n_rows, n_classes)
        Without rows, no probabilities are computed.
    """
    measured = new_measured(memories, limits)
    for row in range(len(X)):
        make_room(memories)
        measure(memories, limits, X[row], measured)
        if len(out):
            probabilities_of(memories, measured, deciding_vote(memories, limits), out[row])
        learn(memories, limits, X[row], labels[row], measured)
