"""Kernels of the votes under the learned metric."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from lann._support.types import Floats, Indices, Labels
from lann.streams._memory import HAS_GAPS, N_LONG, N_SEEN, START, STOP, Limits, Memories
from lann.streams._metric import VALUE, Metric
from lann.streams._metric_kernels import oldest_recent, transform_row, weighted_distances
from lann.streams._neighbors import extend_nearest, has_gaps
from lann.streams._sam_kernels import FLOOR, Measured

# Searches: in both memories by the learned metric without and with the age, and by the plain distance; and
# among the newest rows by the learned metric with the age.
TIMELESS, AGED, PLAIN, RECENT = range(4)
N_SEARCHES = 4
# Number of neighbors that are found by each.
N_FEW, N_WIDE = 5, 50
# The votes: search, number of neighbors, and power of the inverse squared distance. Vote 0 is that of the
# self-adjusting memories, by the plain distance.
VOTES = (
    (PLAIN, 0, 0.5),
    (PLAIN, N_WIDE, 0.5),
    (TIMELESS, N_FEW, 2.0),
    (AGED, N_FEW, 2.0),
    (AGED, N_WIDE, 2.0),
    (RECENT, N_FEW, 2.0),
    (RECENT, 20, 1.0),
    (RECENT, N_WIDE, 0.5),
    (RECENT, N_WIDE, 2.0),
)
N_VOTES = len(VOTES)
# Part of the typical squared distance that is added to every squared distance.
GUARD = 1e-3


class Found(NamedTuple):
    """What is computed about one row under the learned metric before it is learned.

    Attributes
    ----------
    axes : (n_features,)
        The transformed row.
    distances : (2, capacity + long_capacity)
        Squared distances without and with the age; those of long-term rows from `capacity` on.
    ages : (capacity + long_capacity,)
        Squared positions of the stored rows on the age axis.
    age_table : (capacity + 1,)
        Squared position of each age.
    columns, lengths, labels : (4, 50)
        Positions in `distances`, squared distances and class indices of the neighbors of each search.
    n_found : (4,)
        How many there are.
    probabilities : (n_votes, n_classes)
        Of each vote.
    slopes : (50,)
        Space for the slopes of the loss.
    """

    axes: Floats
    distances: Floats
    ages: Floats
    age_table: Floats
    columns: Indices
    lengths: Floats
    labels: Labels
    n_found: Indices
    probabilities: Floats
    slopes: Floats


@njit(nogil=True, cache=True)
def write_squared_ages(limits: Limits, out: Floats) -> None:
    """Compute the squared positions of the ages 0, 1, …"""
    for age in range(len(out)):
        out[age] = age_position(float(age), limits) ** 2


@njit(nogil=True, cache=True)
def new_found(memories: Memories, limits: Limits) -> Found:
    """Return space for what is computed about one row."""
    capacity = memories.short_X.shape[1]
    n_positions = capacity + memories.long_X.shape[1]
    age_table = np.empty(capacity + 1)
    write_squared_ages(limits, age_table)
    return Found(
        np.empty(memories.short_X.shape[0]),
        np.empty((2, n_positions)),
        np.empty(n_positions),
        age_table,
        np.empty((N_SEARCHES, N_WIDE), np.int64),
        np.empty((N_SEARCHES, N_WIDE)),
        np.empty((N_SEARCHES, N_WIDE), np.int64),
        np.zeros(N_SEARCHES, np.int64),
        np.zeros((N_VOTES, len(memories.known))),
        np.empty(N_WIDE),
    )


@njit(nogil=True, cache=True)
def age_position(age: float, limits: Limits) -> float:
    """Return the position of an age on its axis: logarithmic, 1 for the age of the largest window."""
    return np.log(1.0 + age) / np.log(1.0 + limits.total)


@njit(nogil=True, cache=True)
def age_weight(metric: Metric) -> float:
    """Return the weight of the age axis: in units of the typical squared distance."""
    return metric.typical[0] * np.exp(2.0 * metric.age[VALUE])


@njit(nogil=True, cache=True)
def find_learned(
    memories: Memories, limits: Limits, metric: Metric, x: Floats, measured: Measured, found: Found
) -> None:
    """Find the neighbors of a row in both memories by every search; `measured` has its plain distances."""
    counters = memories.counters
    start, stop, n_long = counters[START], counters[STOP], counters[N_LONG]
    capacity = memories.short_X.shape[1]
    gaps = counters[HAS_GAPS] != 0 or has_gaps(x)
    transform_row(metric, x, found.axes)
    timeless, aged = found.distances[TIMELESS], found.distances[AGED]
    oldest = oldest_recent(memories, limits)
    weighted_distances(memories.short_extras, oldest, stop, found.axes, gaps, timeless[oldest:stop])
    weighted_distances(memories.long_extras, 0, n_long, found.axes, gaps, timeless[capacity:])
    weight = age_weight(metric)
    for column in range(oldest, stop):
        # The newest rows are in order.
        found.ages[column] = found.age_table[stop - column]
        aged[column] = timeless[column] + weight * found.ages[column]
    for column in range(n_long):
        age = counters[N_SEEN] - memories.long_arrivals[column]
        found.ages[capacity + column] = age_position(age, limits) ** 2
        aged[capacity + column] = timeless[capacity + column] + weight * found.ages[capacity + column]
    _find(memories, timeless, start, found, TIMELESS, N_FEW)
    _find(memories, aged, start, found, AGED, N_WIDE)
    columns, lengths = found.columns[RECENT], found.lengths[RECENT]
    found.n_found[RECENT] = extend_nearest(aged, oldest, stop, columns, lengths, 0)
    for i in range(found.n_found[RECENT]):
        found.labels[RECENT, i] = memories.short_labels[columns[i]]
    aged[start:stop] = measured.short_distances[start:stop]
    aged[capacity : capacity + n_long] = measured.long_distances[:n_long]
    _find(memories, aged, start, found, PLAIN, N_WIDE)


@njit(nogil=True, cache=True)
def _find(
    memories: Memories, distances: Floats, start: int, found: Found, search: int, n_neighbors: int
) -> None:
    """Find the neighbors of a search, by their squared distances."""
    stop, n_long = memories.counters[STOP], memories.counters[N_LONG]
    capacity = memories.short_X.shape[1]
    columns, lengths = found.columns[search, :n_neighbors], found.lengths[search, :n_neighbors]
    n_found = extend_nearest(distances, start, stop, columns, lengths, 0)
    n_found = extend_nearest(distances, capacity, capacity + n_long, columns, lengths, n_found)
    found.n_found[search] = n_found
    for i in range(n_found):
        if columns[i] < capacity:
            found.labels[search, i] = memories.short_labels[columns[i]]
        else:
            found.labels[search, i] = memories.long_labels[columns[i] - capacity]


@njit(nogil=True, cache=True)
def guard_of(metric: Metric, found: Found, search: int) -> float:
    """Return what is added to every squared distance of a search."""
    if search != PLAIN:
        return GUARD * metric.typical[0]
    n_found = found.n_found[PLAIN]
    farthest = found.lengths[PLAIN, n_found - 1]
    return GUARD * farthest if farthest > 0.0 else 1.0


@njit(nogil=True, cache=True)
def vote_probabilities(
    memories: Memories, metric: Metric, found: Found, search: int, vote: tuple[int, float], out: Floats
) -> None:
    """Compute the probabilities of the classes by one vote; they are 0 for unknown classes only.

    Parameters
    ----------
    memories : Memories
    metric : Metric
    found : Found
    search : int
    vote : (int, float)
        Number of neighbors and power.
    out : (n_classes,)
    """
    n_known = 0
    for label in range(len(out)):
        n_known += memories.known[label]
    n_found = min(found.n_found[search], vote[0])
    out[:] = 0.0
    total = 0.0
    if n_found > 0:
        guard = guard_of(metric, found, search)
        nearest = found.lengths[search, 0] + guard
        for i in range(n_found):
            support = (nearest / (found.lengths[search, i] + guard)) ** vote[1]
            out[found.labels[search, i]] += support
            total += support
    for label in range(len(out)):
        if n_known == 0:
            out[label] = 1.0 / len(out)
        elif not memories.known[label]:
            out[label] = 0.0
        elif n_found == 0:
            out[label] = 1.0 / n_known
        else:
            out[label] = (out[label] / total + FLOOR / n_known) / (1.0 + FLOOR)
