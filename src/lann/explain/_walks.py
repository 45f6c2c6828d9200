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

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lann._support.threads import map_blocks
from lann._support.types import Floats, Indices
from lann.explain._kernels import vote_on_walks
from lann.model import walk_rows
from lann.vote import HUGE

if TYPE_CHECKING:
    from lann.model import NeighborModel
    from lann.vote import VoteRule

# Features that are replaced one by one, at most: those that hold most of the distance. The others are
# replaced together, and share the credit by what they hold.
MOST_ALONE = 64
# How many times as many neighbors as a vote is based on can vote on the way.
WIDER = 4
# Numbers that are held at once for a block of walks: 8 MB.
HELD = 2**20
# Digits of the shares of the distance that decide on the order: rounding does not.
DIGITS = 9
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


class Supports(NamedTuple):
    """What features change on the way to other rows.

    Attributes
    ----------
    supports : (n_queries, n_classes, n_features)
        Mean change of the share of each class, with signs; positive where the query has more.
    changes : (n_queries, n_features)
        Mean share of the vote that changes.
    """

    supports: Floats
    changes: Floats


def walk_supports(
    model: NeighborModel,
    queries: Floats,
    ends: Indices,
    *,
    probabilities: Floats | None = None,
    exclude: Indices | None = None,
    vote: WalkVote | None = None,
    n_jobs: int | None = None,
) -> Supports:
    """Compute the supports of queries by walks to given rows.

    Parameters
    ----------
    model : NeighborModel
    queries : (n_queries, n_features)
    ends : (n_queries, n_ends)
        Rows of the model; negative for none.
    probabilities : (n_queries, n_classes) or None
        Those of the queries, as predicted. Walks then begin and end with the votes of predictions, so that
        supports add up to these: on the way, more rows can vote than the shortlist of the model has.
    exclude : (n_queries,) or None
        For each query a row that does not vote; -1 for none.
    vote : WalkVote or None
        How the neighbors vote; None is as for a prediction.
    n_jobs : int or None
        Number of threads.
    """
    n_queries, n_features = queries.shape
    supports = np.zeros((n_queries, model.n_classes, n_features))
    changes = np.zeros((n_queries, n_features))
    if n_queries == 0 or not (ends >= 0).any():
        return Supports(supports, changes)
    if vote is None:
        vote = WalkVote(model.vote_rule, float(model.n_neighbors))
    anchors = None if probabilities is None else _Anchors(model, probabilities, ends, exclude, n_jobs)
    walks = (
        _CandidateVotes(model, queries, ends, exclude, vote, n_jobs)
        if model.has_training_rows
        else _FullVotes(model)
    )
    per_query = ends.shape[1] * 2 * max(walks.n_candidates * (min(n_features, MOST_ALONE) + 2), n_features)

    def compute(part: slice) -> None:
        query, end = np.nonzero(ends[part] >= 0)
        if len(query) == 0:
            return
        rows, query = ends[part][query, end], query + part.start
        credits = _credits(model, walks, queries, query, rows, anchors) / (1.0 + vote.rule.floor)
        counts = np.maximum((ends[part] >= 0).sum(axis=1), 1)
        np.add.at(supports, query, credits)
        np.add.at(changes, query, 0.5 * np.abs(credits).sum(axis=1))
        supports[part] /= counts[:, None, None]
        changes[part] /= counts[:, None]

    map_blocks(compute, n_queries, max(HELD // per_query, 1), n_jobs=n_jobs)
    return Supports(supports, changes)


def _credits(
    model: NeighborModel,
    walks: _CandidateVotes | _FullVotes,
    queries: Floats,
    query: Indices,
    rows: Indices,
    anchors: _Anchors | None,
) -> Floats:
    """Return the credits of both orders, averaged: (n_walks, n_classes, n_features)."""
    n_walks, n_features = len(query), queries.shape[1]
    held = np.abs(model.contributions(queries[query], rows[:, None])[:, 0])  # (n_walks, n_features)
    held = np.nan_to_num(held, nan=0.0, posinf=np.finfo(np.float64).max / n_features)
    total = held.sum(axis=1, keepdims=True)
    shares = np.divide(held, total, out=np.zeros_like(held), where=total > 0)
    order = np.argsort(-np.round(shares, DIGITS), axis=1, kind="stable")
    n_alone = min(n_features, MOST_ALONE)
    bounds = np.arange(n_alone + 1)
    if n_alone < n_features:
        bounds = np.append(bounds, n_features)
    shares_at = walks.at_stops(queries, query, rows, order, bounds)
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

    def __init__(
        self,
        model: NeighborModel,
        probabilities: Floats,
        ends: Indices,
        exclude: Indices | None,
        n_jobs: int | None,
    ) -> None:
        self.rows, self.exclude, floor = np.unique(ends[ends >= 0]), exclude, model.vote_rule.floor
        votes = model.vote(*model.voters(model.X[self.rows], n_jobs=n_jobs))
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

    def __init__(
        self,
        model: NeighborModel,
        queries: Floats,
        ends: Indices,
        exclude: Indices | None,
        vote: WalkVote,
        n_jobs: int | None,
    ) -> None:
        self.model, self.exclude, self.vote = model, exclude, vote
        n_rows = len(model.X)
        n_near = max(vote.wider * model.wide_neighborhood, model.n_voters)
        self.own, _ = model.kneighbors(
            queries, min(n_near, n_rows - (exclude is not None)), exclude=exclude, n_jobs=n_jobs
        )
        self.ends = np.unique(ends[ends >= 0])
        self.theirs, _ = model.kneighbors(model.X[self.ends], min(n_near, n_rows), n_jobs=n_jobs)
        self.n_candidates = self.own.shape[1] + self.theirs.shape[1]
        # Without row weights each row has one vote.
        self.n_voters = max(model.n_voters, int(min(np.ceil(vote.n_votes), n_rows)))
        given = vote.rule.class_weight
        self.class_weight = np.ones(model.n_classes) if given is None else given

    def at_stops(
        self, queries: Floats, query: Indices, rows: Indices, orders: Indices, bounds: Indices
    ) -> Floats:
        """Return the share of each class at every stop: (n_walks, 2, n_stops, n_classes)."""
        model, candidates = self.model, self._candidates(query, rows)
        distances = model.walk_distances(queries[query], rows, orders, bounds, candidates)
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
        if self.exclude is not None:
            found[found == self.exclude[query, None]] = -1
        found.sort(axis=1)
        found[:, 1:][found[:, 1:] == found[:, :-1]] = -1
        found.sort(axis=1)
        n_kept = int((found >= 0).sum(axis=1).max())
        return np.ascontiguousarray(found[:, -n_kept:])


class _FullVotes:
    """Votes of all rows, for models of few prototypes."""

    def __init__(self, model: NeighborModel) -> None:
        self.model, self.n_candidates = model, len(model.X)

    def at_stops(
        self, queries: Floats, query: Indices, rows: Indices, orders: Indices, bounds: Indices
    ) -> Floats:
        """Return the share of each class at every stop: (n_walks, 2, n_stops, n_classes)."""
        changed = walk_rows(queries[query], self.model.X[rows], orders, bounds)
        votes = self.model.vote(*self.model.voters(changed.reshape(-1, changed.shape[3])))
        return votes.probabilities.reshape(*changed.shape[:3], -1)
