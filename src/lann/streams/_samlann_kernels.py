"""Kernels of self-adjusting memories with a learned metric: predict a row, learn it, pass over a stream."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from lann._support.types import Floats, Labels
from lann.streams._memory import N_SEEN, START, STOP, Limits, Memories
from lann.streams._metric import Metric
from lann.streams._metric_kernels import refresh, store_extras, update_moments
from lann.streams._metric_steps import (
    Gradients,
    add_row,
    clear_gradients,
    new_gradients,
    step_point,
    step_shared,
)
from lann.streams._metric_votes import (
    GUARD,
    N_VOTES,
    RECENT,
    TIMELESS,
    VOTES,
    Found,
    age_weight,
    find_learned,
    new_found,
    vote_probabilities,
)
from lann.streams._moves import make_room
from lann.streams._sam_kernels import (
    Measured,
    deciding_vote,
    learn,
    measure,
    new_measured,
    probabilities_of,
)
from lann.vote import HUGE, share_loss

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
