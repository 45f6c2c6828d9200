"""Readings: the votes at training rows, and what they depend on.

At a row x, feature l alone is replaced by values v that occur in the data, and the neighbors vote again:

    a_l(x) = mean over v of ½ Σ_y |P(y | x, x_l = v) − P(y | x)|

is the share of the vote that changes. Where the vote is certain, or features say the same, no feature changes
anything alone. Therefore the features are also replaced one after another, until x has become a row x' of
another class (see `lann.explain._supports`): with the credits φ_yl of feature l,

    c_l(x) = mean over x' of ½ Σ_y |φ_yl|

is the share of the vote that it changes on the way. The relevance is the mean of both.
"""

from __future__ import annotations

import numpy as np

from lann import _native
from lann._support.rows import positions_in, stratified_rows
from lann._support.threads import map_blocks, single_threaded_blas
from lann._support.types import Floats, Indices
from lann.explain._feature_groups import Groups, correlated_features
from lann.explain._landmarks import Landmarks, Readings
from lann.explain._supports import (
    MOST_ALONE,
    are_typical,
    nearest_contrasts,
    nearest_representatives,
    walk_supports,
)
from lann.explain._training_rows import Queries
from lann.model import N_TYPICAL, NeighborModel
from lann.vote import VoteRule

MOST_LANDMARKS = 500
# With more training rows than this, landmarks are those of a sample of this size.
MOST_ROWS, N_SAMPLED = 50_000, 20_000
# Training rows among which the neighbors of changed rows are searched.
MOST_VOTERS = 1000
# Multiplications of all readings of one kind, of which matrix products do SPEEDUP times as many: a second.
WORK, SPEEDUP = 8e8, 8
# Number of neighbors that vote at a landmark: more than for a prediction, so that none decides alone.
N_NEIGHBORS = 20
# Number of rows that represent a class.
N_OF_CLASS = 4
# Contrast rows of a landmark to which walks lead.
FEWEST_WALKS, MOST_WALKS = 2, 4
# Number of values that represent the categories of a feature, if there is time; otherwise as many as of a
# number.
MOST_CATEGORIES = 24
# Features among which correlated ones are searched: all pairs of them are compared.
MOST_CORRELATED = 1000
# Numbers in the changed rows that vote in one call: 32 MB.
CHANGED_AT_ONCE = 2**22


def compute_landmarks(model: NeighborModel, *, n_jobs: int | None = None) -> Landmarks:
    """Compute the readings of up to 500 training rows; fewer where the work would take too long.

    Of a model with many rows, a sample of the rows is read, of every class in proportion to its size.
    """
    if model.n_rows > MOST_ROWS:
        sampled = stratified_rows(model.labels, N_SAMPLED)
        sample = model.subset(sampled, n_jobs=n_jobs)
        if sample is not None:
            of = compute_landmarks(sample, n_jobs=n_jobs)
            ends, others = (
                np.where(found < 0, -1, sampled[found]) for found in (of.contrast_rows, of.representatives)
            )
            return Landmarks(sampled[of.rows], of.readings, ends, others, of.correlated)
    budget = _Budget(model)
    rows = stratified_rows(model.labels, min(model.n_rows, budget.n_landmarks))
    queries, labels = Queries(model, model.X[rows], rows, n_jobs), model.labels[rows]
    representatives = _representative_rows(model, rows, n_jobs)
    # All neighbors vote with 1/d.
    rule = VoteRule(1.0, model.vote_rule.epsilon, model.vote_rule.class_weight)
    votes, alone = _read_alone(queries, rows, rule, budget)
    ends = nearest_contrasts(queries, labels)
    others = nearest_representatives(queries, labels, representatives)
    both = np.stack([ends[:, : others.shape[1]], others], axis=2).reshape(len(rows), -1)  # in turns
    n_votes = model.mean_weight * min(N_NEIGHBORS, model.n_rows - 1)
    _, changes = walk_supports(queries, both[:, : budget.n_contrasts], rule=rule, n_votes=n_votes, wider=1)
    correlated = _correlated(model, np.array(list(budget.categories), np.int64))
    return Landmarks(rows, Readings(votes, alone, changes), ends, representatives, correlated)


class _Budget:
    """How many landmarks and voters there are, so that the readings take some seconds.

    Attributes
    ----------
    n_landmarks, n_voters, n_contrasts : int
    categories : dict of int to CategoryValues
    fast, slow : (n_fast,), (n_slow,)
        Features for which the effect of a change is a formula, and those for which changed rows are searched.
    """

    def __init__(self, model: NeighborModel) -> None:
        n_features, n_axes = model.X.shape[1], model.n_axes
        width = max(n_features, n_axes)
        self.fast = model.features_with_slopes
        self.slow = np.setdiff1d(np.arange(n_features), self.fast).tolist()
        # Each changed row is transformed, and compared with all voters; a category has several axes.
        per_change = (width * n_axes + MOST_VOTERS * (2 * width + 1)) / SPEEDUP
        per_slope = MOST_VOTERS * (n_axes / SPEEDUP + 6 * N_TYPICAL)
        for n_categories in (MOST_CATEGORIES, N_TYPICAL):
            self.categories = model.category_values(n_categories)
            n_values = {feature: len(values.codes) for feature, values in self.categories.items()}
            n_changes = sum(n_values.get(feature, N_TYPICAL) for feature in self.slow)
            total = MOST_LANDMARKS * (n_changes * per_change + len(self.fast) * per_slope)
            if total <= WORK:
                break
        # Of many features, walks and the rest take as long as the readings.
        available = WORK if n_features <= MOST_CORRELATED else 0.5 * WORK
        shrink = min(1.0, (available / total) ** 0.5)
        self.n_voters, n_landmarks = int(MOST_VOTERS * shrink), int(MOST_LANDMARKS * shrink)
        if n_changes and n_axes > n_features:  # fewer voters do not make the transform cheaper
            n_landmarks = min(n_landmarks, int(SPEEDUP * WORK / (n_changes * width * n_axes)))
        if model.work_per_query > 0:
            n_landmarks = min(n_landmarks, int(SPEEDUP * WORK / (n_changes * model.work_per_query)))
        self.n_landmarks = max(n_landmarks, 1)
        n_stops = 2 * min(n_features, MOST_ALONE)
        per_walk = n_stops * (model.wide_neighborhood * 2 * n_axes + model.work_per_query)
        self.n_contrasts = int(np.clip(0.5 * WORK / (self.n_landmarks * per_walk), FEWEST_WALKS, MOST_WALKS))


def _representative_rows(model: NeighborModel, rows: Indices, n_jobs: int | None) -> Indices:
    """Choose rows that represent each class: (n_classes, N_OF_CLASS), -1 where there are fewer.

    Of the typical ones, each is the row with which the mean distance of all rows of the class to the nearest
    chosen one becomes smallest, on the axes.
    """
    chosen = np.full((model.n_classes, N_OF_CLASS), -1)
    is_typical = are_typical(model, rows, n_jobs)
    for label in np.unique(model.labels[rows]):
        is_own = model.labels[rows] == label
        own = rows[is_own]
        usable = is_typical[is_own] if is_typical[is_own].any() else np.ones(len(own), bool)
        points = model.transform(model.X[own])
        with single_threaded_blas():  # the same bits for any number of threads
            sizes = np.einsum("ia,ia->i", points, points)
            squared = sizes[:, None] + sizes - 2.0 * points @ points.T
        gaps = np.sqrt(np.maximum(squared, 0.0))  # (n_own, n_own)
        nearest = np.full(len(own), np.inf)
        for number in range(min(N_OF_CLASS, int(usable.sum()))):
            totals = np.minimum(nearest[:, None], gaps).sum(axis=0)
            best = int(np.where(usable, totals, np.inf).argmin())
            chosen[label, number], usable[best] = own[best], False
            nearest = np.minimum(nearest, gaps[:, best])
    return chosen


def _read_alone(
    queries: Queries, landmarks: Indices, rule: VoteRule, budget: _Budget
) -> tuple[Floats, Floats]:
    """Return the votes at landmarks, and how much of them changes with each feature alone."""
    model, rows = queries.model, queries.rows
    n_rows, n_features = rows.shape
    voters = stratified_rows(model.labels, min(model.n_rows, budget.n_voters))
    k, alone = min(N_NEIGHBORS, len(voters) - 1), np.zeros(rows.shape)
    if k < 1:  # no other row votes
        return np.full((n_rows, model.n_classes), 1.0 / model.n_classes), alone
    # A landmark does not vote on itself: it would decide alone.
    search, own, n_votes = model.search_among(voters), positions_in(voters, landmarks), model.mean_weight * k

    def votes(changed: Floats, origins: Indices) -> Floats:
        indices, distances = search(changed, k, exclude=own[origins], n_jobs=queries.n_jobs)
        return model.count_votes(voters[indices], distances, n_votes, rule).probabilities

    before, typical = votes(rows, np.arange(n_rows)), model.typical_values
    even = np.full(len(typical), 1 / len(typical))
    for feature in budget.slow:
        codes, weights = budget.categories.get(feature, (typical[:, feature], even))
        block = max(CHANGED_AT_ONCE // (n_features * len(codes)), 1)
        for start in range(0, n_rows, block):
            row = np.arange(start, min(start + block, n_rows))
            changed = np.repeat(rows[row][:, None, :], len(codes), axis=1)
            changed[:, :, feature] = codes
            after = votes(changed.reshape(-1, n_features), np.repeat(row, len(codes)))
            lost = before[row, None, :] - after.reshape(len(row), len(codes), -1)
            alone[row, feature] = 0.5 * np.abs(lost).sum(axis=2) @ weights
    if len(budget.fast) == 0:
        return before, alone
    labels = model.labels[voters]
    row_weights = np.ones(len(voters)) if model.row_weights is None else model.row_weights[voters]
    class_weight = np.ones(model.n_classes) if rule.class_weight is None else rule.class_weight
    slopes = model.slopes_among(voters)

    def read(part: slice) -> None:
        for i in range(part.start, part.stop):
            distances, by_feature, curvatures, changes = slopes(rows[i])
            shares = np.empty((*changes.shape, model.n_classes))
            _native.vote_on_changes(
                distances, by_feature, curvatures, changes, labels, row_weights, class_weight,
                own[i], k, n_votes, rule.epsilon, shares,
            )  # fmt: skip
            alone[i, budget.fast] = 0.5 * np.abs(shares - before[i]).sum(axis=2).mean(axis=1)

    map_blocks(read, n_rows, 16, n_jobs=queries.n_jobs)
    return before, alone


def _correlated(model: NeighborModel, categories: Indices) -> Groups:
    """Return groups of correlated features; of many features, among those with the largest weights."""
    used = np.arange(model.X.shape[1])
    if len(used) > MOST_CORRELATED:
        weights = model.feature_weights().mean(axis=0)
        used = np.sort(np.argsort(-weights, kind="stable")[:MOST_CORRELATED])
    groups = correlated_features(model.X[:, used], is_category=np.isin(used, categories))
    return tuple(tuple(used[list(group)].tolist()) for group in groups)


def read_prototypes(queries: Queries) -> Readings:
    """Compute the readings of a model with few rows at the queries themselves.

    Where one feature changes by δ, the squared distance to a row changes by 2 δ (Λ(x − p))_l + δ² Λ_ll: no
    further matrix product is needed, and the cost is that of some predictions.

    Parameters
    ----------
    queries : Queries
        Of a model with one constant metric matrix per row.
    """
    model, rows = queries.model, queries.rows
    n_queries, n_features = rows.shape
    everyone = np.arange(len(model.X))
    by_class = np.split(everyone, np.flatnonzero(np.diff(model.labels)) + 1)  # the nearest of each votes
    matrices = model.local_matrices(everyone)  # (n_rows, n_features, n_features)
    diagonals = np.einsum("pff->pf", matrices)
    values = model.typical_values  # (n_values, n_features)
    before = model.vote(*queries.voters()).probabilities
    alone = np.empty((n_queries, n_features))
    block = max(CHANGED_AT_ONCE // (len(values) * n_features * len(everyone)), 1)
    for start in range(0, n_queries, block):
        part = slice(start, start + block)
        steps = rows[part, None, :] - model.X  # (n, n_rows, n_features)
        slopes = 2.0 * np.einsum("qpf,pfg->qpg", steps, matrices)
        distances = model.distances(rows[part], np.tile(everyone, (len(steps), 1)))
        for feature in range(n_features):
            change = values[:, feature] - rows[part, feature, None]  # (n, n_values)
            moved = distances[:, None, :] + change[:, :, None] * slopes[:, None, :, feature]
            moved += np.square(change)[:, :, None] * diagonals[:, feature]
            moved = np.maximum(moved, 0.0).reshape(-1, len(everyone))
            nearest = np.stack([own[0] + moved[:, own].argmin(axis=1) for own in by_class], axis=1)
            after = model.vote(nearest, np.take_along_axis(moved, nearest, axis=1)).probabilities
            lost = before[part, None, :] - after.reshape(len(steps), len(values), -1)
            alone[part, feature] = 0.5 * np.abs(lost).sum(axis=2).mean(axis=1)
    ends = nearest_contrasts(queries, before.argmax(axis=1))
    return Readings(before, alone, walk_supports(queries, ends)[1])
