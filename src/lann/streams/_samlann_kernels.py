"""Kernels of self-adjusting memories with a learned metric: vote, learn a row, pass over a stream."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from lann._support.types import Floats, Indices, Labels
from lann.streams._memory import HAS_GAPS, N_LONG, N_SEEN, START, STOP, Limits, Memories
from lann.streams._metric import (
    VALUE,
    Gradients,
    Metric,
    add_row,
    clear_gradients,
    new_gradients,
    oldest_recent,
    refresh,
    step_point,
    step_shared,
    store_extras,
    transform_row,
    update_moments,
    weighted_distances,
)
from lann.streams._neighbors import extend_nearest, has_gaps
from lann.streams._sam_kernels import (
    FLOOR,
    Measured,
    deciding_vote,
    learn,
    make_room,
    measure,
    new_measured,
    probabilities_of,
)
from lann.vote import HUGE, share_loss

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


# The loss of a row: power of the inverse squared distance, and η.
LOSS_POWER, LOSS_FLOOR = 3.0, 0.02
# Smallest number of neighbors from which something is learned.
SMALLEST_VOTE = 6
# Records of the votes forget at this rate per row; so does the typical distance.
RECORD_DECAY, TYPICAL_RATE = 0.995, 0.005
# Weights of the votes: how much a log-loss counts, and the share that is always spread over all.
MIX_RATE, MIX_SHARE = 0.5, 0.01
SMALLEST_PROBABILITY = 1e-9
# Part of the vote with the best record in the probabilities; that of SAMKNN decides alone where it leads the
# mixture by this much.
BEST_SHARE, CLEAR_LEAD = 0.5, 0.03
SAM_VOTE = 0


class Votes(NamedTuple):
    """The recent record of the votes.

    Attributes
    ----------
    weights : (n_votes,)
        Of the votes in the mixture, by their recent log-loss.
    hits : (n_votes + 1,)
        Recent hits of each vote, and of the mixture.
    """

    weights: Floats
    hits: Floats


def new_votes() -> Votes:
    """Return the record before anything was predicted: all votes count alike."""
    return Votes(np.full(N_VOTES, 1.0 / N_VOTES), np.zeros(N_VOTES + 1))


class Learned(NamedTuple):
    """What self-adjusting memories with a learned metric consist of."""

    memories: Memories
    metric: Metric
    votes: Votes


class Space(NamedTuple):
    """Space for what is computed about one row."""

    measured: Measured
    found: Found
    gradients: Gradients
    mixture: Floats


@njit(nogil=True, cache=True)
def new_space(learned: Learned, limits: Limits) -> Space:
    """Return space for what is computed about one row."""
    return Space(
        new_measured(learned.memories, limits),
        new_found(learned.memories, limits),
        new_gradients(learned.metric),
        np.zeros(len(learned.memories.known)),
    )


@njit(nogil=True, cache=True)
def predict_one(learned: Learned, limits: Limits, x: Floats, space: Space) -> None:
    """Compute the probabilities of one row by every vote, and by their mixture."""
    memories, metric, votes = learned
    measured, found, mixture = space.measured, space.found, space.mixture
    measure(memories, limits, x, measured)
    find_learned(memories, limits, metric, x, measured, found)
    probabilities_of(memories, measured, deciding_vote(memories, limits), found.probabilities[0])
    for number in range(1, N_VOTES):
        search, n_neighbors, power = VOTES[number]
        vote_probabilities(memories, metric, found, search, (n_neighbors, power), found.probabilities[number])
    best = best_vote(votes)
    share = 1.0 if sam_leads(votes) else BEST_SHARE
    for label in range(len(mixture)):
        total = 0.0
        for number in range(N_VOTES):
            total += votes.weights[number] * found.probabilities[number, label]
        mixture[label] = (1.0 - share) * total + share * found.probabilities[best, label]


@njit(nogil=True, cache=True)
def sam_leads(votes: Votes) -> bool:
    """Return whether the vote of SAMKNN was clearly more often right than the mixture of late."""
    return votes.hits[SAM_VOTE] > votes.hits[N_VOTES] + CLEAR_LEAD


@njit(nogil=True, cache=True)
def best_vote(votes: Votes) -> int:
    """Return the vote with the most recent hits; the first of those that are equal.

    That of SAMKNN decides where it is clearly better than the mixture, and not only than each other vote.
    """
    if sam_leads(votes):
        return SAM_VOTE
    best = SAM_VOTE
    for number in range(1, N_VOTES):
        if votes.hits[number] > votes.hits[best]:
            best = number
    return best


@njit(nogil=True, cache=True)
def record(votes: Votes, found: Found, mixture: Floats, label: int) -> None:
    """Update the record of the votes by the label of a row that was predicted."""
    total = 0.0
    for number in range(N_VOTES):
        probabilities = found.probabilities[number]
        hit = np.argmax(probabilities) == label
        votes.hits[number] = RECORD_DECAY * votes.hits[number] + (1.0 - RECORD_DECAY) * hit
        votes.weights[number] *= max(probabilities[label], SMALLEST_PROBABILITY) ** MIX_RATE
        total += votes.weights[number]
    hit = np.argmax(mixture) == label
    votes.hits[N_VOTES] = RECORD_DECAY * votes.hits[N_VOTES] + (1.0 - RECORD_DECAY) * hit
    for number in range(N_VOTES):
        votes.weights[number] = (1.0 - MIX_SHARE) * votes.weights[number] / total + MIX_SHARE / N_VOTES


@njit(nogil=True, cache=True)
def learn_one(learned: Learned, limits: Limits, x: Floats, label: int, space: Space) -> None:
    """Learn a row that was predicted, with `make_room` before."""
    memories, metric, votes = learned
    measured, found = space.measured, space.found
    record(votes, found, space.mixture, label)
    update_typical(metric, memories, found)
    learn_metric(memories, metric, x, label, space)
    store_extras(metric, memories.short_extras, memories.counters[STOP], found.axes, label)
    learn(memories, limits, x, label, measured)
    update_moments(metric, x)
    refresh(metric, memories, limits)


@njit(nogil=True, cache=True)
def update_typical(metric: Metric, memories: Memories, found: Found) -> None:
    """Update the typical squared distance by that to the farthest of a few neighbors."""
    n_found = found.n_found[TIMELESS]
    if n_found == 0 or not found.lengths[TIMELESS, n_found - 1] < HUGE:
        return
    rate = max(TYPICAL_RATE, 1.0 / (1.0 + memories.counters[N_SEEN]))
    length = max(found.lengths[TIMELESS, n_found - 1], 1e-12)
    metric.typical[0] += rate * (length - metric.typical[0])


@njit(nogil=True, cache=True)
def learn_metric(memories: Memories, metric: Metric, x: Floats, label: int, space: Space) -> None:
    """Take a gradient step on the loss of a row among the neighbors that were found for it."""
    found, gradients = space.found, space.gradients
    n_found = found.n_found[RECENT]
    if n_found < SMALLEST_VOTE:
        return
    lengths, labels, slopes = found.lengths[RECENT], found.labels[RECENT], found.slopes
    guard = GUARD * metric.typical[0]
    for i in range(n_found):
        lengths[i] += guard
    share_loss(lengths, labels, label, n_found, LOSS_POWER, LOSS_FLOOR, slopes)
    clear_gradients(gradients)
    weight, capacity = age_weight(metric), memories.short_X.shape[1]
    for i in range(n_found):
        column = found.columns[RECENT, i]
        gradients.age[0] += 2.0 * slopes[i] * weight * found.ages[column]
        if column < capacity:
            X, extras = memories.short_X, memories.short_extras
        else:
            X, extras, column = memories.long_X, memories.long_extras, column - capacity
        add_row(metric, x, X[:, column], extras[:, column], labels[i], slopes[i], gradients)
        step_point(extras, column, gradients.point)
    step_shared(metric, gradients)


@njit(nogil=True, cache=True)
def make_room_keeping(memories: Memories, limits: Limits) -> None:
    """Move the newest rows to the first columns if there is no column for another row."""
    counters = memories.counters
    start, stop = counters[START], counters[STOP]
    if stop < memories.short_X.shape[1]:
        return
    # Rows before the short-term memory move with it.
    n_older = max(start - (stop - limits.total), 0)
    counters[START] = start - n_older
    make_room(memories)
    counters[START] += n_older


@njit(nogil=True, cache=True)
def predict_rows(learned: Learned, limits: Limits, X: Floats, out: Floats) -> None:
    """Compute the probabilities of the classes: X (n_rows, n_features), out (n_rows, n_classes)."""
    space = new_space(learned, limits)
    for row in range(len(X)):
        predict_one(learned, limits, X[row], space)
        out[row] = space.mixture


@njit(nogil=True, cache=True)
def learn_rows(learned: Learned, limits: Limits, X: Floats, labels: Labels, out: Floats) -> None:
    """Learn rows one after the other, and compute the probabilities of each before it is learned.

    Parameters
    ----------
    learned : Learned
    limits : Limits
    X : (n_rows, n_features)
    labels : (n_rows,)
        Class indices.
    out : (n_rows, n_classes)
        Without rows, no probabilities are computed.
    """
    space = new_space(learned, limits)
    for row in range(len(X)):
        make_room_keeping(learned.memories, limits)
        predict_one(learned, limits, X[row], space)
        if len(out):
            out[row] = space.mixture
        learn_one(learned, limits, X[row], labels[row], space)
