"""Supports: what each feature changes in the vote on the way from a query to rows of other classes.

A *walk* leads from a query x to a training row x': the values of x' replace those of x, feature by feature,
first those that hold most of the squared distance, and once more in the reverse order. What the vote changes
at a step is the credit of its feature. The support of class y by feature l is its mean credit over both
orders and over the contrast rows x'. Supports

- add up to P(y | x) minus the mean of P(y | x') over the contrast rows;
- are 0 for a feature that changes no vote on the way;
- are Shapley values where not more than two features interact: each then is once before and once after any
  other one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from lann._support.threads import map_blocks
from lann._support.types import Floats, Indices
from lann.explain._fitted import Queries
from lann.model import walk_rows
from lann.vote import HUGE, VoteRule

# Features that are replaced one by one, at most: those that hold most of the distance. The others are
# replaced together, and share the credit by what they hold.
MOST_ALONE = 64
# How many times as many neighbors as a vote is based on can vote on the way.
WIDER = 4
# Numbers that are held at once for a block of walks: 8 MB.
HELD = 2**20
# Digits of the shares of the distance that decide on the order: rounding does not.
DIGITS = 9
# Powers up to this one are products.
LARGEST_PRODUCT = 16
# Shares of the vote that differ by less are the same.
ROUNDING = 1e-12


class WalkVote(NamedTuple):
    """How neighbors vote on the way.

    Attributes
    ----------
    rule : VoteRule
    n_votes : float
        Number of votes that are counted.
    wider : int
        How many times as many neighbors as a vote is based on can vote.
    """

    rule: VoteRule
    n_votes: float
    wider: int = WIDER


def walk_supports(
    queries: Queries, ends: Indices, *, probabilities: Floats | None = None, vote: WalkVote | None = None
) -> tuple[Floats, Floats]:
    """Compute the supports of queries by walks to given rows.

    Parameters
    ----------
    queries : Queries
    ends : (n_queries, n_ends)
        Rows of the model; negative for none.
    probabilities : (n_queries, n_classes) or None
        Those of the queries, as predicted. Walks then begin and end with the votes of predictions, so that
        supports add up to these: on the way, more rows can vote than the shortlist of the model has.
    vote : WalkVote or None
        How the neighbors vote; None is as for a prediction.

    Returns
    -------
    supports : (n_queries, n_classes, n_features)
        Mean change of the share of each class, with signs; positive where the query has more.
    changes : (n_queries, n_features)
        Mean share of the vote that changes.
    """
    model, (n_queries, n_features) = queries.model, queries.rows.shape
    supports = np.zeros((n_queries, model.n_classes, n_features))
    changes = np.zeros((n_queries, n_features))
    if n_queries == 0 or not (ends >= 0).any():
        return supports, changes
    if vote is None:
        vote = WalkVote(model.vote_rule, float(model.n_neighbors))
    anchors = None if probabilities is None else _Anchors(queries, probabilities, ends)
    walks = _CandidateVotes(queries, ends, vote) if model.has_training_rows else _FullVotes(queries)
    per_query = ends.shape[1] * 2 * max(walks.n_candidates * (min(n_features, MOST_ALONE) + 2), n_features)

    def compute(part: slice) -> None:
        query, end = np.nonzero(ends[part] >= 0)
        if len(query) == 0:
            return
        rows, query = ends[part][query, end], query + part.start
        credits = _credits(walks, query, rows, anchors) / (1.0 + vote.rule.floor)
        counts = np.maximum((ends[part] >= 0).sum(axis=1), 1)
        np.add.at(supports, query, credits)
        np.add.at(changes, query, 0.5 * np.abs(credits).sum(axis=1))
        supports[part] /= counts[:, None, None]
        changes[part] /= counts[:, None]

    map_blocks(compute, n_queries, max(HELD // per_query, 1), n_jobs=queries.n_jobs)
    return supports, changes


def _credits(
    walks: _CandidateVotes | _FullVotes, query: Indices, rows: Indices, anchors: _Anchors | None
) -> Floats:
    """Return the credits of both orders, averaged: (n_walks, n_classes, n_features)."""
    starts, model = walks.queries.rows[query], walks.queries.model
    n_walks, n_features = starts.shape
    held = np.abs(model.contributions(starts, rows[:, None])[:, 0])  # (n_walks, n_features)
    held = np.nan_to_num(held, nan=0.0, posinf=np.finfo(np.float64).max / n_features)
    total = held.sum(axis=1, keepdims=True)
    shares = np.divide(held, total, out=np.zeros_like(held), where=total > 0)
    order = np.argsort(-np.round(shares, DIGITS), axis=1, kind="stable")
    n_alone = min(n_features, MOST_ALONE)
    bounds = np.arange(n_alone + 1)
    if n_alone < n_features:
        bounds = np.append(bounds, n_features)
    shares_at = walks.at_stops(query, rows, order, bounds)
    if anchors is not None:
        anchors.fix(shares_at, query, rows)
    # By step, what the vote loses with the value of the other row, in the order and in the reverse order.
    steps = shares_at[:, 0, :-1] - shares_at[:, 0, 1:] + shares_at[:, 1, 1:] - shares_at[:, 1, :-1]
    steps *= 0.5
    credits = np.zeros((n_walks, n_features, steps.shape[2]))
    np.put_along_axis(credits, order[:, :n_alone, None], steps[:, :n_alone], axis=1)
    if n_alone < n_features:
        together = np.take_along_axis(shares, order[:, n_alone:], axis=1)
        total = together.sum(axis=1, keepdims=True)
        parts = np.divide(together, total, out=np.full_like(together, 1 / together.shape[1]), where=total > 0)
        np.put_along_axis(credits, order[:, n_alone:, None], parts[:, :, None] * steps[:, n_alone:], axis=1)
    return credits.swapaxes(1, 2)


class _Anchors:
    """The votes where walks begin and end, as the model predicts."""

    def __init__(self, queries: Queries, probabilities: Floats, ends: Indices) -> None:
        model, self.exclude = queries.model, queries.exclude
        self.rows, floor = np.unique(ends[ends >= 0]), model.vote_rule.floor
        votes = model.vote(*Queries(model, model.X[self.rows], n_jobs=queries.n_jobs).voters())
        self.starts, self.ends = (
            found * (1.0 + floor) - floor / model.n_classes for found in (probabilities, votes.probabilities)
        )

    def fix(self, shares_at: Floats, query: Indices, rows: Indices) -> None:
        """Set the votes at the first and the last stops: (n_walks, 2, n_stops, n_classes)."""
        starts, ends = self.starts[query], self.ends[np.searchsorted(self.rows, rows)]
        if self.exclude is not None:  # a row that is left out may have voted on the other one
            ends = np.where(self.exclude[query, None] >= 0, shares_at[:, 0, -1], ends)
        for stop, shares in (((0, 0), starts), ((1, -1), starts), ((0, -1), ends), ((1, 0), ends)):
            found = shares_at[:, stop[0], stop[1]]
            found[:] = np.where(np.abs(found - shares) > ROUNDING, shares, found)  # 0 stays 0


class _CandidateVotes:
    """Votes of the rows near the query and near the other row, for models of training rows."""

    def __init__(self, queries: Queries, ends: Indices, vote: WalkVote) -> None:
        model, exclude, n_jobs = queries.model, queries.exclude, queries.n_jobs
        self.queries, self.vote, n_rows = queries, vote, len(model.X)
        n_near = max(vote.wider * model.wide_neighborhood, model.n_voters)
        n_own = min(n_near, n_rows - (exclude is not None))
        self.own, _ = model.kneighbors(queries.rows, n_own, exclude=exclude, n_jobs=n_jobs)
        self.ends = np.unique(ends[ends >= 0])
        self.theirs, _ = model.kneighbors(model.X[self.ends], min(n_near, n_rows), n_jobs=n_jobs)
        self.n_candidates = self.own.shape[1] + self.theirs.shape[1]
        # Without row weights each row has one vote.
        self.n_voters = max(model.n_voters, int(min(np.ceil(vote.n_votes), n_rows)))
        given = vote.rule.class_weight
        self.class_weight = np.ones(model.n_classes) if given is None else given

    def at_stops(self, query: Indices, rows: Indices, orders: Indices, bounds: Indices) -> Floats:
        """Return the share of each class at every stop: (n_walks, 2, n_stops, n_classes)."""
        model, candidates = self.queries.model, self._candidates(query, rows)
        distances = model.walk_distances(self.queries.rows[query], rows, orders, bounds, candidates)
        known = np.maximum(candidates, 0)
        labels = model.labels[known]
        weights = np.ones(candidates.shape) if model.row_weights is None else model.row_weights[known]
        flat = distances.reshape(len(query), -1, candidates.shape[1])
        # Distances that overflow are equally far; only candidates that do not exist never vote.
        flat[(candidates >= 0)[:, None] & ~(flat < HUGE)] = HUGE
        shares = vote_on_walks(
            flat, labels, weights, self.class_weight, self.n_voters, self.vote.n_votes,
            self.vote.rule.epsilon, float(self.vote.rule.power),
        )  # fmt: skip
        return shares.reshape(len(query), 2, len(bounds), -1)

    def _candidates(self, query: Indices, rows: Indices) -> Indices:
        """Return the neighbors of the queries and of the other rows, each once, by index; -1 for none."""
        found = np.concatenate([self.own[query], self.theirs[np.searchsorted(self.ends, rows)]], axis=1)
        if self.queries.exclude is not None:
            found[found == self.queries.exclude[query, None]] = -1
        found.sort(axis=1)
        found[:, 1:][found[:, 1:] == found[:, :-1]] = -1
        found.sort(axis=1)
        n_kept = int((found >= 0).sum(axis=1).max())
        return np.ascontiguousarray(found[:, -n_kept:])


class _FullVotes:
    """Votes of all rows, for models of few prototypes."""

    def __init__(self, queries: Queries) -> None:
        self.queries, self.n_candidates = queries, len(queries.model.X)

    def at_stops(self, query: Indices, rows: Indices, orders: Indices, bounds: Indices) -> Floats:
        """Return the share of each class at every stop: (n_walks, 2, n_stops, n_classes)."""
        model = self.queries.model
        changed = walk_rows(self.queries.rows[query], model.X[rows], orders, bounds)
        votes = model.vote(*model.voters(changed.reshape(-1, changed.shape[3])))
        return votes.probabilities.reshape(*changed.shape[:3], -1)


@njit(nogil=True, cache=True)
def _insert(keys, slots, i):
    """Move the last of the first i + 1 candidates to its place; equal distances by index."""
    key, slot = keys[i], slots[i]
    while i > 0 and (key < keys[i - 1] or (key == keys[i - 1] and slot < slots[i - 1])):
        keys[i], slots[i] = keys[i - 1], slots[i - 1]
        i -= 1
    keys[i], slots[i] = key, slot


@njit(nogil=True, cache=True)
def find_nearest(distances, k, n_found, keys, slots, is_found):
    """Update the k nearest candidates, and return their number.

    Those found so far are nearly in order if the distances have changed little.

    Parameters
    ----------
    distances : (n_candidates,)
        Infinite for candidates that do not count.
    k, n_found : int
    keys, slots : (n_candidates,)
        Their distances and positions, nearest first, equal distances by index.
    is_found : (n_candidates,)
    """
    for i in range(n_found):
        keys[i] = min(distances[slots[i]], HUGE)
        _insert(keys, slots, i)
    for slot in range(len(distances)):
        key = distances[slot]
        if is_found[slot] or key == np.inf:
            continue
        if n_found == k:
            if key >= keys[k - 1] and (key > keys[k - 1] or slot > slots[k - 1]):
                continue
            is_found[slots[k - 1]] = False
            n_found -= 1
        keys[n_found], slots[n_found], is_found[slot] = min(key, HUGE), slot, True
        _insert(keys, slots, n_found)
        n_found += 1
    return n_found


@njit(nogil=True, cache=True)
def count_votes(keys, slots, n_found, labels, row_weights, class_weight, n_votes, epsilon, power, shares):
    """Set the share of each class in the vote of the nearest candidates: (n_classes,).

    They vote until `n_votes` are counted, as by `NeighborModel.count_votes`.
    """
    exponent = int(power)
    is_product = exponent == power and exponent <= LARGEST_PRODUCT
    nearest, left, total = keys[0] + epsilon, n_votes, 0.0
    shares[:] = 0.0
    for i in range(n_found):
        counted = min(row_weights[slots[i]], left)
        left -= counted
        ratio, support = nearest / (keys[i] + epsilon), 1.0
        if is_product:
            for _ in range(exponent):
                support *= ratio
        else:
            support = ratio**power
        label = labels[slots[i]]
        support *= counted * class_weight[label]
        shares[label] += support
        total += support
    shares /= total


@njit(nogil=True, cache=True)
def vote_on_walks(distances, labels, row_weights, class_weight, k, n_votes, epsilon, power):
    """Return the share of each class in the vote at every stop: (n_walks, n_stops, n_classes).

    The k nearest candidates vote until `n_votes` are counted.

    Parameters
    ----------
    distances : (n_walks, n_stops, n_candidates)
        Squared; infinite for candidates that do not count.
    labels : (n_walks, n_candidates)
        Class indices.
    row_weights : (n_walks, n_candidates)
        Number of votes of each candidate.
    class_weight : (n_classes,)
    k : int
    n_votes, epsilon, power : float
    """
    n_walks, n_stops, n_candidates = distances.shape
    shares = np.empty((n_walks, n_stops, len(class_weight)))
    keys, slots = np.empty(n_candidates), np.empty(n_candidates, np.int64)
    is_found = np.empty(n_candidates, np.bool_)
    k = min(k, n_candidates)
    for walk in range(n_walks):
        n_found = 0
        is_found[:] = False
        for stop in range(n_stops):
            n_found = find_nearest(distances[walk, stop], k, n_found, keys, slots, is_found)
            count_votes(
                keys, slots, n_found, labels[walk], row_weights[walk], class_weight, n_votes, epsilon, power,
                shares[walk, stop],
            )  # fmt: skip
    return shares


@njit(nogil=True, cache=True)
def vote_on_changes(
    distances, slopes, curvatures, changes, labels, row_weights, class_weight, own, k, n_votes, epsilon
):
    """Return the share of each class where a feature is changed: (n_features, n_values, n_classes).

    A change by δ in feature l changes a squared distance by 2 δ s_l + δ² c_l. The k nearest rows vote with
    1/d, until `n_votes` are counted.

    Parameters
    ----------
    distances : (n_rows,)
        Squared.
    slopes, curvatures : (n_features, n_rows)
    changes : (n_features, n_values)
    labels : (n_rows,)
        Class indices.
    row_weights : (n_rows,)
        Number of votes of each row.
    class_weight : (n_classes,)
    own : int
        A row that does not vote; -1 for none.
    k : int
    n_votes, epsilon : float
    """
    n_rows, (n_features, n_values) = len(distances), changes.shape
    shares = np.empty((n_features, n_values, len(class_weight)))
    moved, keys, slots = np.empty(n_rows), np.empty(n_rows), np.empty(n_rows, np.int64)
    is_found = np.zeros(n_rows, np.bool_)
    n_found = 0
    for feature in range(n_features):
        for value in range(n_values):
            change = changes[feature, value]
            for j in range(n_rows):
                key = distances[j] + change * (2.0 * slopes[feature, j] + change * curvatures[feature, j])
                moved[j] = max(key, 0.0)  # rounding may go below 0
            if own >= 0:
                moved[own] = np.inf
            n_found = find_nearest(moved, k, n_found, keys, slots, is_found)
            count_votes(
                keys, slots, n_found, labels, row_weights, class_weight, n_votes, epsilon, 1.0,
                shares[feature, value],
            )  # fmt: skip
    return shares
