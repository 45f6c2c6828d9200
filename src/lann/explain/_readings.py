"""Readings: the votes at training rows, and what they depend on.

At a row x, feature l alone is replaced by values v that occur in the data, and the neighbors vote again:

    a_l(x) = mean over v of ½ Σ_y |P(y | x, x_l = v) − P(y | x)|

is the share of the vote that changes. Where the vote is certain, or features say the same, no feature changes
anything alone. Therefore the features are also replaced one after another, until x has become a reference row
(see `lann.explain._supports`): with the credits φ_yl of feature l,

    c_l(x) = mean over walks of ½ Σ_y |φ_yl|

is the share of the vote that it changes on the way. The relevance is the mean of both.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lann import _native
from lann._support.rows import positions_in, stratified_rows
from lann._support.threads import map_blocks
from lann._support.types import Floats, Indices
from lann.explain._feature_groups import Groups, correlated_features
from lann.explain._landmarks import Landmarks, Readings
from lann.explain._supports import MOST_ALONE, Vote, explained_supports, reference_rows, walk
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
# Walks from a landmark.
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
            return replace(of, rows=sampled[of.rows])
    budget = _Budget(model)
    rows = stratified_rows(model.labels, min(model.n_rows, budget.n_landmarks))
    readings, references = _read(Queries(model, model.X[rows], rows, n_jobs), budget)
    correlated = _correlated(model, np.array(list(budget.categories), np.int64))
    return Landmarks(rows, readings, references, correlated)


class _Budget:
    """How many landmarks and voters there are, so that the readings take some seconds.

    Attributes
    ----------
    n_landmarks, n_voters, n_walks : int
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
        per_walk = (
            2 * min(n_features, MOST_ALONE) * (width * n_axes + MOST_VOTERS * (2 * width + 1)) / SPEEDUP
        )
        self.n_walks = int(np.clip(0.5 * WORK / (self.n_landmarks * per_walk), FEWEST_WALKS, MOST_WALKS))


def _read(landmarks: Queries, budget: _Budget) -> tuple[Readings, Floats]:
    """Return the readings of landmarks, and the reference rows."""
    model, rows, own_rows = landmarks.model, landmarks.rows, landmarks.exclude
    assert own_rows is not None
    n_rows, references = len(rows), reference_rows(model)
    # All neighbors vote with 1/d.
    rule = VoteRule(1.0, model.vote_rule.epsilon, model.vote_rule.class_weight)
    voters = stratified_rows(model.labels, min(model.n_rows, budget.n_voters))
    k = min(N_NEIGHBORS, len(voters) - 1)
    if k < 1:  # no other row votes
        nothing = np.zeros(rows.shape)
        return Readings(
            np.full((n_rows, model.n_classes), 1.0 / model.n_classes), nothing, nothing
        ), references
    # A landmark does not vote on itself: it would decide alone.
    search, n_votes = model.search_among(voters), model.mean_weight * k

    def vote(changed: Floats, exclude: Indices | None) -> Floats:
        indices, distances = search(changed, k, exclude=exclude, n_jobs=landmarks.n_jobs)
        return model.count_votes(voters[indices], distances, n_votes, rule).probabilities

    queries = Queries(model, rows, positions_in(voters, own_rows), landmarks.n_jobs)
    before = vote(rows, queries.exclude)
    alone = _read_alone(queries, before, vote, budget)
    if len(budget.fast):
        _read_slopes(queries, before, alone, budget, voters, rule)
    walks = (np.arange(n_rows * budget.n_walks) % len(references)).reshape(n_rows, -1)
    return Readings(before, alone, walk(queries, references, vote, alone, walks=walks).changes), references


def _read_alone(queries: Queries, before: Floats, vote: Vote, budget: _Budget) -> Floats:
    """Return how much of the votes at landmarks changes with each feature alone, as far as rows are searched.

    (n_rows, n_features)
    """
    rows, typical, own = queries.rows, queries.model.typical_values, queries.exclude
    assert own is not None
    (n_rows, n_features), alone = rows.shape, np.zeros(rows.shape)
    even = np.full(len(typical), 1 / len(typical))
    for feature in budget.slow:
        codes, weights = budget.categories.get(feature, (typical[:, feature], even))
        block = max(CHANGED_AT_ONCE // (n_features * len(codes)), 1)
        for start in range(0, n_rows, block):
            row = np.arange(start, min(start + block, n_rows))
            changed = np.repeat(rows[row][:, None, :], len(codes), axis=1)
            changed[:, :, feature] = codes
            after = vote(changed.reshape(-1, n_features), np.repeat(own[row], len(codes)))
            lost = before[row, None, :] - after.reshape(len(row), len(codes), -1)
            alone[row, feature] = 0.5 * np.abs(lost).sum(axis=2) @ weights
    return alone


def _read_slopes(
    queries: Queries, before: Floats, alone: Floats, budget: _Budget, voters: Indices, rule: VoteRule
) -> None:
    """Set how much of the votes changes with each feature alone, where a formula has the distances."""
    model, rows, own = queries.model, queries.rows, queries.exclude
    assert own is not None
    k, labels = min(N_NEIGHBORS, len(voters) - 1), model.labels[voters]
    row_weights = np.ones(len(voters)) if model.row_weights is None else model.row_weights[voters]
    class_weight = np.ones(model.n_classes) if rule.class_weight is None else rule.class_weight
    slopes = model.slopes_among(voters)

    def read(part: slice) -> None:
        for i in range(part.start, part.stop):
            distances, by_feature, curvatures, changes = slopes(rows[i])
            shares = np.empty((*changes.shape, model.n_classes))
            _native.vote_on_changes(
                distances, by_feature, curvatures, changes, labels, row_weights, class_weight,
                own[i], k, model.mean_weight * k, rule.epsilon, shares,
            )  # fmt: skip
            alone[i, budget.fast] = 0.5 * np.abs(shares - before[i]).sum(axis=2).mean(axis=1)

    map_blocks(read, len(rows), 16, n_jobs=queries.n_jobs)


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
    return Readings(before, alone, explained_supports(queries, reference_rows(model), alone).changes)
