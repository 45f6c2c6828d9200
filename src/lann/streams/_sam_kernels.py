"""Kernels of self-adjusting memories: predict a row by both memories, learn it, and pass over a stream."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from lann._support.types import Floats, Indices, Labels
from lann.streams._cleaning import clean_long, same_class_radius
from lann.streams._memory import (
    COMBINED,
    HAS_GAPS,
    LONG,
    N_LONG,
    N_SEEN,
    SHORT,
    START,
    STOP,
    Limits,
    Memories,
)
from lann.streams._moves import limit_sizes, make_room, shrink
from lann.streams._neighbors import (
    extend_nearest,
    has_gaps,
    squared_distances,
    vote,
    vote_weights,
)
from lann.streams._windows import choose_window, count_windows, update_windows

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
