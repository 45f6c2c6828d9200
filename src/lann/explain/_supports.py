"""Supports: what each feature changes in the vote on the way from a query to rows of other classes.

Near contrast rows show what keeps the query from the other class, but often are similar to it in what matters
most. Therefore half of those that supports are based on are representative of their classes.

A *walk* leads from a query x to a contrast row x': the values of x' replace those of x, feature by feature,
first those that hold most of the squared distance, and once more in the reverse order. What the vote changes
at a step is the credit of its feature. The support of class y by feature l is its mean credit over both
orders and over the contrast rows x'. Supports

- add up to P(y | x) minus the mean of P(y | x') over the contrast rows;
- are 0 for a feature that changes no vote on the way;
- are Shapley values where not more than two features interact: each then is once before and once after any
  other one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lann import _native
from lann._support.threads import map_blocks
from lann._support.types import Floats, Indices, Labels
from lann.explain._training_rows import Queries, scaled
from lann.model import NeighborModel, walk_rows
from lann.search import smallest
from lann.vote import VoteRule

# Number of near contrast rows of a query, and of representative ones.
N_NEAR, N_REPRESENTATIVE = 2, 2
# Number of the nearest typical rows of other classes, and of the rows per wanted one among which these are
# searched.
N_NEAREST, N_SEARCHED = 6, 4
# Numbers that are held at once for a block of queries: contributions, and coordinates of rows; 32 MB.
HELD_CONTRIBUTIONS = HELD_COORDINATES = 2**22
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


def split_distances(queries: Queries, indices: Indices) -> Floats:
    """Return what each feature adds to the squared distances of given rows: (n_queries, k, n_features)."""
    contributions = np.empty((*indices.shape, queries.rows.shape[1]))

    def compute(part: slice) -> None:
        contributions[part] = queries.model.contributions(queries.rows[part], indices[part])

    block = max(HELD_CONTRIBUTIONS // max(contributions[:1].size, 1), 1)
    map_blocks(compute, len(queries), block, n_jobs=queries.n_jobs)
    return contributions


def are_typical(model: NeighborModel, rows: Indices, n_jobs: int | None) -> NDArray[np.bool_]:
    """Return whether the others predict the label of each of some rows; the only row is typical."""
    if len(rows) == 0 or len(model.X) == 1:
        return np.ones(len(rows), bool)
    votes = model.vote(*Queries(model, model.X[rows], rows, n_jobs).voters())
    return votes.probabilities.argmax(axis=1) == model.labels[rows]


def nearest_contrasts(queries: Queries, class_indices: Labels, k: int = N_NEAREST) -> Indices:
    """Return the nearest typical rows of other classes: (n_queries, k).

    A row is typical if the others predict its label: one that is mislabeled says nothing about its class.
    Where there are fewer typical rows, others are taken; -1 where there is none.

    Parameters
    ----------
    queries : Queries
    class_indices : (n_queries,)
        The class of each query.
    k : int
    """
    model, n_jobs = queries.model, queries.n_jobs
    allowed = np.arange(model.n_classes) != class_indices[:, None]
    n_searched = min(N_SEARCHED * k, len(model.X)) if model.has_training_rows else k
    found, _ = model.kneighbors_of_classes(queries.rows, allowed, n_searched, n_jobs=n_jobs)
    if queries.exclude is not None:
        found = np.where(found == queries.exclude[:, None], -1, found)
    rank = np.where(found < 0, 2, 0)
    if model.has_training_rows:
        rows, position = np.unique(found[found >= 0], return_inverse=True)
        rank[found >= 0] = ~are_typical(model, rows, n_jobs)[position]
    first = np.argsort(rank, axis=1, kind="stable")[:, :k]
    return _widened(np.take_along_axis(found, first, axis=1), k)


def nearest_representatives(queries: Queries, class_indices: Labels, representatives: Indices) -> Indices:
    """Return the nearest rows that represent other classes: (n_queries, 2), -1 where there are fewer.

    Parameters
    ----------
    queries, class_indices
        As for `nearest_contrasts`.
    representatives : (n_classes, n_representatives)
        -1 for none.
    """
    model = queries.model
    rows = np.sort(representatives[representatives >= 0])
    candidates = np.tile(rows, (len(queries), 1))
    distances = model.distances(queries.rows, candidates)
    candidates[model.labels[rows] == class_indices[:, None]] = -1
    found, _ = smallest(distances, candidates, min(N_REPRESENTATIVE, len(rows)))
    return _widened(found, N_REPRESENTATIVE)


def _widened(rows: Indices, k: int) -> Indices:
    """Return rows with further columns of -1: (n_queries, k)."""
    return np.pad(rows, ((0, 0), (0, k - rows.shape[1])), constant_values=-1)


def choose_contrasts(
    queries: Queries, class_indices: Labels, pool: Indices | None, representatives: Indices | None
) -> Indices:
    """Choose the rows of other classes with which queries are contrasted: (n_queries, n_contrasts).

    Near ones first, in different directions, then representative ones; -1 for none.

    Parameters
    ----------
    queries, class_indices
        As for `nearest_contrasts`.
    pool : (n_queries, n_pool) or None
        Rows near each query to choose from; None is all rows, and no representative ones.
    representatives
        As for `nearest_representatives`.
    """
    if pool is None or representatives is None:
        return nearest_contrasts(queries, class_indices)
    near = _spread_contrasts(queries, class_indices, pool)
    others = nearest_representatives(queries, class_indices, representatives)
    if queries.exclude is not None:
        others[others == queries.exclude[:, None]] = -1
    is_near = (others[:, :, None] == near[:, None]).any(axis=2)
    return np.concatenate([near, np.where(is_near, -1, others)], axis=1)


def _spread_contrasts(queries: Queries, class_indices: Labels, pool: Indices) -> Indices:
    """Choose the nearest row of other classes, and the one farthest from it on the axes: (n_queries, 2).

    Where the pool has no row of other classes, the nearest typical rows are chosen; -1 for none.
    """
    model, pool, every = queries.model, np.sort(pool, axis=1), np.arange(len(queries))
    usable = (pool >= 0) & (model.labels[np.maximum(pool, 0)] != class_indices[:, None])
    usable[:, 1:] &= pool[:, 1:] != pool[:, :-1]
    if queries.exclude is not None:
        usable &= pool != queries.exclude[:, None]
    chosen = np.full((len(queries), N_NEAR), -1)
    rows, position = np.unique(pool[usable], return_inverse=True)
    positions = np.zeros(pool.shape, np.int64)
    positions[usable] = position
    points = model.transform(model.X[rows]) if len(rows) else np.zeros((1, model.n_axes))

    def choose(part: slice) -> None:
        own, left, row = pool[part], usable[part], every[: part.stop - part.start]
        distances = model.distances(queries.rows[part], np.maximum(own, 0))
        nearest = np.where(left, distances, np.inf).argmin(axis=1)
        chosen[part, 0] = np.where(left.any(axis=1), own[row, nearest], -1)
        left[row, nearest] = False
        own_points = points[positions[part]]  # (n_block, n_pool, n_axes)
        gaps = np.square(own_points - own_points[row, nearest][:, None]).sum(axis=2)
        farthest = np.where(left, gaps, -1.0).argmax(axis=1)
        chosen[part, 1] = np.where(left.any(axis=1), own[row, farthest], -1)

    block = max(HELD_COORDINATES // max(pool.shape[1] * model.n_axes, 1), 1)
    map_blocks(choose, len(queries), block, n_jobs=queries.n_jobs)
    without = np.flatnonzero(chosen[:, 0] < 0)
    if len(without):
        chosen[without] = nearest_contrasts(queries[without], class_indices[without], N_NEAR)
    return chosen


def walk_supports(
    queries: Queries,
    ends: Indices,
    *,
    probabilities: Floats | None = None,
    rule: VoteRule | None = None,
    n_votes: float | None = None,
    wider: int = WIDER,
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
    rule : VoteRule or None
        How the neighbors vote; None is as for a prediction.
    n_votes : float or None
        Number of votes that are counted; None is as for a prediction.
    wider : int
        How many times as many neighbors as a vote is based on can vote.

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
    if not (ends >= 0).any():
        return supports, changes
    rule = rule or model.vote_rule
    walks = _Walks(queries, ends, rule, n_votes or float(model.n_neighbors), wider, probabilities)
    per_query = ends.shape[1] * 2 * max(walks.n_candidates * (min(n_features, MOST_ALONE) + 2), n_features)

    def compute(part: slice) -> None:
        query, end = np.nonzero(ends[part] >= 0)
        if len(query) == 0:
            return
        rows, query = ends[part][query, end], query + part.start
        credits = walks.credits(query, rows) / (1.0 + rule.floor)
        counts = np.maximum((ends[part] >= 0).sum(axis=1), 1)
        np.add.at(supports, query, credits)
        np.add.at(changes, query, 0.5 * np.abs(credits).sum(axis=1))
        supports[part] /= counts[:, None, None]
        changes[part] /= counts[:, None]

    map_blocks(compute, n_queries, max(HELD // per_query, 1), n_jobs=queries.n_jobs)
    return supports, changes


class _Walks:
    """Walks from queries to other rows, and the votes on the way.

    Parameters
    ----------
    queries, ends, rule, n_votes, wider, probabilities
        As for `walk_supports`, all given but the probabilities.
    """

    def __init__(
        self,
        queries: Queries,
        ends: Indices,
        rule: VoteRule,
        n_votes: float,
        wider: int,
        probabilities: Floats | None,
    ) -> None:
        model, exclude, n_jobs = queries.model, queries.exclude, queries.n_jobs
        self.queries, self.rule, self.n_votes, n_rows = queries, rule, n_votes, len(model.X)
        self.ends, self.n_candidates = np.unique(ends[ends >= 0]), n_rows
        self.anchors: tuple[Floats, Floats] | None = None
        if probabilities is not None:  # the votes where walks begin and end, as the model predicts
            at_ends = model.vote(*Queries(model, model.X[self.ends], n_jobs=n_jobs).voters()).probabilities
            floor, n_classes = rule.floor, model.n_classes
            starts, at_ends = (p * (1.0 + floor) - floor / n_classes for p in (probabilities, at_ends))
            self.anchors = starts, at_ends
        if model.has_training_rows:
            n_near = max(wider * model.wide_neighborhood, model.n_voters)
            n_own = min(n_near, n_rows - (exclude is not None))
            self.own, _ = model.kneighbors(queries.rows, n_own, exclude=exclude, n_jobs=n_jobs)
            self.theirs, _ = model.kneighbors(model.X[self.ends], min(n_near, n_rows), n_jobs=n_jobs)
            self.n_candidates = self.own.shape[1] + self.theirs.shape[1]

    def credits(self, query: Indices, rows: Indices) -> Floats:
        """Return the credits of both orders, averaged: (n_walks, n_classes, n_features)."""
        starts, model = self.queries.rows[query], self.queries.model
        n_walks, n_features = starts.shape
        contributions = model.contributions(starts, rows[:, None])[:, 0]
        held = scaled(np.abs(contributions), 1 / n_features)  # (n_walks, n_features)
        order = np.argsort(-np.round(held, DIGITS), axis=1, kind="stable")
        n_alone = min(n_features, MOST_ALONE)
        bounds = np.unique([*range(n_alone + 1), n_features])
        shares = self._shares_at(query, rows, order, bounds)
        if self.anchors is not None:
            covered = np.zeros((n_walks, n_features + 1))
            np.cumsum(np.take_along_axis(held, order, axis=1), axis=1, out=covered[:, 1:])
            self._fix(*self.anchors, shares, query, rows, covered[:, bounds, None])
        # By step, what the vote loses with the value of the other row, in the order and in the reverse order.
        steps = shares[:, 0, :-1] - shares[:, 0, 1:] + shares[:, 1, 1:] - shares[:, 1, :-1]
        steps *= 0.5
        credits = np.zeros((n_walks, n_features, steps.shape[2]))
        np.put_along_axis(credits, order[:, :n_alone, None], steps[:, :n_alone], axis=1)
        if n_alone < n_features:
            together = order[:, n_alone:]
            parts = scaled(np.take_along_axis(held, together, axis=1), 1 / together.shape[1])
            np.put_along_axis(credits, together[:, :, None], parts[:, :, None] * steps[:, n_alone:], axis=1)
        return credits.swapaxes(1, 2)

    def _shares_at(self, query: Indices, rows: Indices, orders: Indices, bounds: Indices) -> Floats:
        """Return the share of each class at every stop: (n_walks, 2, n_stops, n_classes)."""
        model = self.queries.model
        if model.has_training_rows:
            shares = self._votes_of_candidates(query, rows, orders, bounds)
        else:  # all of the few prototypes vote
            changed = walk_rows(self.queries.rows[query], model.X[rows], orders, bounds)
            votes = model.vote(*model.voters(changed.reshape(-1, changed.shape[3])))
            shares = votes.probabilities.reshape(*changed.shape[:3], -1)
        return shares

    def _fix(
        self, starts: Floats, ends: Floats, shares: Floats, query: Indices, rows: Indices, covered: Floats
    ) -> None:
        """Let votes begin and end as the model predicts: on the way, only some rows can vote.

        What is missing is spread by the share of the distance that is `covered` so far, (n_walks, n_stops,
        1): a feature that does not change the distance gets no credit.
        """
        exclude = self.queries.exclude
        missing = starts[query] - shares[:, 0, 0]
        left = ends[np.searchsorted(self.ends, rows)] - shares[:, 0, -1]
        if exclude is not None:  # a row that is left out may have voted on the other one
            left = np.where(exclude[query, None] >= 0, 0.0, left)
        missing, left = (np.where(np.abs(r) > ROUNDING, r, 0.0)[:, None] for r in (missing, left))
        shares[:, 0] += (1.0 - covered) * missing + covered * left
        shares[:, 1] += covered * missing + (1.0 - covered) * left

    def _votes_of_candidates(self, query: Indices, rows: Indices, orders: Indices, bounds: Indices) -> Floats:
        """Return the shares in votes of the rows near the query and near the other row."""
        model, rule, exclude = self.queries.model, self.rule, self.queries.exclude
        # Each once, by index; -1 for none.
        found = np.concatenate([self.own[query], self.theirs[np.searchsorted(self.ends, rows)]], axis=1)
        if exclude is not None:
            found[found == exclude[query, None]] = -1
        found.sort(axis=1)
        found[:, 1:][found[:, 1:] == found[:, :-1]] = -1
        found.sort(axis=1)
        candidates = np.ascontiguousarray(found[:, -int((found >= 0).sum(axis=1).max()) :])
        distances = model.walk_distances(self.queries.rows[query], rows, orders, bounds, candidates)
        flat, known = distances.reshape(len(query), -1, candidates.shape[1]), np.maximum(candidates, 0)
        weights = np.ones(candidates.shape) if model.row_weights is None else model.row_weights[known]
        class_weight = np.ones(model.n_classes) if rule.class_weight is None else rule.class_weight
        # Without row weights each row has one vote.
        n_voters = max(model.n_voters, int(min(np.ceil(self.n_votes), len(model.X))))
        shares = np.empty((*flat.shape[:2], model.n_classes))
        _native.vote_on_walks(
            flat, model.labels[known], weights, class_weight, n_voters, rule.votes(self.n_votes),
            rule.epsilon, shares,
        )  # fmt: skip
        return shares.reshape(len(query), 2, len(bounds), -1)
