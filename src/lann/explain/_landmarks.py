"""Relevances: what a vote depends on, and landmarks, the training rows at which it is known.

At a row x, feature l alone is replaced by values v that occur in the data, and the neighbors vote again:

    a_l(x) = mean over v of ½ Σ_y |P(y | x, x_l = v) − P(y | x)|

is the share of the vote that changes. Where the vote is certain, or features say the same, no feature changes
anything alone. Therefore the features are also replaced one after another, until x has become a row x' of
another class (see `lann.explain._walks`): with the credits φ_yl of feature l,

    c_l(x) = mean over x' of ½ Σ_y |φ_yl|

is the share of the vote that it changes on the way. The relevance is the mean of both.

The readings at a single row are noisy, as few neighbors vote. Those of a query are therefore the mean over
the landmarks near it, as these measure, which costs a search among a few hundred rows and no further vote.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lann._support.inputs import mean_by_class
from lann._support.rows import positions_in, stratified_rows
from lann._support.threads import map_blocks
from lann._support.types import Floats, Indices
from lann.columns.inputs import read_queries
from lann.explain._contrast import nearest_contrasts, nearest_representatives, representative_rows
from lann.explain._distribution import RowSample, spacing_of
from lann.explain._feature_groups import Groups, correlated_features
from lann.explain._fitted import Queries, model_of
from lann.explain._walks import MOST_ALONE, WalkVote, vote_on_changes, walk_supports
from lann.model import N_TYPICAL, CategoryValues, NeighborModel
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
# Contrast rows of a landmark to which walks lead.
FEWEST_WALKS, MOST_WALKS = 2, 4
# Number of landmarks over which the readings of a query are averaged.
N_NEAR = 10
# Number of values that represent the categories of a feature, if there is time; otherwise as many as of a
# number.
MOST_CATEGORIES = 24
# Features among which correlated ones are searched: all pairs of them are compared.
MOST_CORRELATED = 1000
# Numbers in the changed rows that vote in one call: 32 MB.
CHANGED_AT_ONCE = 2**22


@dataclass(frozen=True)
class Readings:
    """Votes at some rows, and what they depend on.

    Attributes
    ----------
    votes : ndarray of shape (n_rows, n_classes)
        The vote at each row.
    alone : ndarray of shape (n_rows, n_features)
        The share of the vote that changes when the value of a feature alone is replaced.
    contrast : ndarray of shape (n_rows, n_features)
        The share of the vote that a feature changes on the way to rows of other classes.
    """

    votes: Floats
    alone: Floats
    contrast: Floats

    @property
    def relevances(self) -> Floats:
        """The mean of both shares: (n_rows, n_features)."""
        return 0.5 * (self.alone + self.contrast)

    def means(self, near: Indices) -> tuple[Floats, Floats]:
        """Return the mean relevances and votes over some rows for each query.

        Parameters
        ----------
        near : ndarray of shape (n_queries, n_near)
            Positions of the rows.

        Returns
        -------
        relevances : ndarray of shape (n_queries, n_features)
        votes : ndarray of shape (n_queries, n_classes)
        """
        means = []
        for values in (self.relevances, self.votes):
            total = values[near[:, 0]].copy()
            for column in near.T[1:]:  # one at a time to save memory
                total += values[column]
            total /= near.shape[1]
            means.append(total)
        return means[0], means[1]


@dataclass
class Landmarks(RowSample):
    """Training rows with readings.

    Attributes
    ----------
    rows : ndarray of shape (n_landmarks,)
        Positions of the training rows, ascending.
    readings : Readings
    contrast_rows : ndarray of shape (n_landmarks, n_contrasts)
        The nearest typical rows of other classes; -1 where there are fewer.
    representatives : ndarray of shape (n_classes, n_representatives)
        Training rows that represent each class; -1 where there are fewer.
    correlated : tuple of tuple of int
        Groups of features that are correlated in the training data; of more than 1000 features, among the
        1000 with the largest weights.
    """

    readings: Readings
    contrast_rows: Indices
    representatives: Indices
    correlated: Groups

    def near(self, queries: Queries) -> Indices:
        """Return the landmarks nearest to each query.

        Parameters
        ----------
        queries : Queries

        Returns
        -------
        near : ndarray of shape (n_queries, n_near)
            Positions in `rows`.
        """
        n_near = min(len(self.rows), max(3, min(N_NEAR, len(self.rows) // 50)))
        return self.nearest(replace(queries, exclude=None), n_near)

    def pool(self, near: Indices) -> Indices:
        """Return landmarks near queries and their contrast rows: (n_queries, n_pool), -1 for none.

        Parameters
        ----------
        near : ndarray of shape (n_queries, n_near)
            Positions in `rows`.

        Returns
        -------
        pool : ndarray of shape (n_queries, n_pool)
            Positions of training rows.
        """
        return np.concatenate([self.rows[near], self.contrast_rows[near].reshape(len(near), -1)], axis=1)


def landmarks_of(model: NeighborModel, *, n_jobs: int | None = None) -> Landmarks:
    """Return the landmarks of a model; they are computed on first use, and kept and saved with it."""
    if "landmarks" not in model.derived:
        model.derived["landmarks"] = compute_landmarks(model, n_jobs=n_jobs)
    return model.derived["landmarks"]


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
    representatives = representative_rows(model, rows, n_jobs=n_jobs)
    votes, alone = _read_alone(queries, budget)
    ends = nearest_contrasts(queries, labels)
    others = nearest_representatives(queries, labels, representatives)
    both = np.stack([ends[:, : others.shape[1]], others], axis=2).reshape(len(rows), -1)  # in turns
    k = min(N_NEIGHBORS, model.n_rows - 1)
    vote = WalkVote(_even_rule(model), model.mean_weight * k, wider=1)
    _, changes = walk_supports(queries, both[:, : budget.n_contrasts], vote=vote)
    correlated = _correlated(model, budget.categories)
    return Landmarks(rows, Readings(votes, alone, changes), ends, representatives, correlated)


def prepare_explanations(clf: Any) -> None:
    """Compute what explanations of all queries need, so that it is saved with the model.

    The first explanation computes it otherwise. Models without training rows need nothing.

    Parameters
    ----------
    clf : estimator
        A fitted LANNClassifier, or a baseline.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.explain import prepare_explanations
    >>> clf = LANNClassifier(random_state=0).fit(*load_iris(return_X_y=True))
    >>> prepare_explanations(clf)
    >>> sorted(clf.model_.derived)
    ['landmarks', 'spacing']
    """
    if clf.model_.has_training_rows:
        landmarks_of(clf.model_, n_jobs=clf.n_jobs)
        spacing_of(clf.model_, n_jobs=clf.n_jobs)


def _read_alone(queries: Queries, budget: _Budget) -> tuple[Floats, Floats]:
    """Return the votes at some rows, and how much of them changes with each feature alone."""
    model, rows = queries.model, queries.rows
    voters = stratified_rows(model.labels, min(model.n_rows, budget.n_voters))
    k = min(N_NEIGHBORS, len(voters) - 1)
    if k < 1:  # no other row votes
        return np.full((len(rows), model.n_classes), 1.0 / model.n_classes), np.zeros(rows.shape)
    search, rule, n_votes = model.search_among(voters), _even_rule(model), model.mean_weight * k
    assert queries.exclude is not None
    own = positions_in(voters, queries.exclude)

    def votes(changed: Floats, origins: Indices) -> Floats:
        # A landmark does not vote on itself: it would decide alone.
        indices, distances = search.kneighbors(changed, k, exclude=own[origins], n_jobs=queries.n_jobs)
        return model.count_votes(voters[indices], distances, n_votes, rule).probabilities

    before = votes(rows, np.arange(len(rows)))
    alone = _read_changes(votes, before, rows, model.typical_values, budget)
    if len(budget.fast) == 0:
        return before, alone
    labels = model.labels[voters]
    row_weights = np.ones(len(voters)) if model.row_weights is None else model.row_weights[voters]
    class_weight = np.ones(model.n_classes) if rule.class_weight is None else rule.class_weight
    slopes = model.slopes_among(voters)

    def read(part: slice) -> None:
        for i in range(part.start, part.stop):
            changes = vote_on_changes(
                *slopes(rows[i]), labels, row_weights, class_weight, own[i], k, n_votes, rule.epsilon
            )
            alone[i, budget.fast] = 0.5 * np.abs(changes - before[i]).sum(axis=2).mean(axis=1)

    map_blocks(read, len(rows), 16, n_jobs=queries.n_jobs)
    return before, alone


def _read_changes(
    votes: Callable[[Floats, Indices], Floats], before: Floats, rows: Floats, values: Floats, budget: _Budget
) -> Floats:
    """Replace single features of each row by each value, and return how much of the vote changes.

    Parameters
    ----------
    votes : callable
        From rows (n, n_features) and the positions of the rows they were changed from, (n,), to
        probabilities.
    before : (n_rows, n_classes)
        Probabilities at the rows.
    rows : (n_rows, n_features)
    values : (n_values, n_features)
        Values that count alike; those of categories are in the budget.

    Returns
    -------
    changes : (n_rows, n_features)
        0 for features that are not slow.
    """
    n_rows, n_features = rows.shape
    changes = np.zeros((n_rows, n_features))
    even = np.full(len(values), 1 / len(values))
    for feature in budget.slow:
        codes, weights = budget.categories.get(int(feature), (values[:, feature], even))
        block = max(CHANGED_AT_ONCE // (n_features * len(codes)), 1)
        for start in range(0, n_rows, block):
            row = np.arange(start, min(start + block, n_rows))
            changed = np.repeat(rows[row][:, None, :], len(codes), axis=1)
            changed[:, :, feature] = codes
            after = votes(changed.reshape(-1, n_features), np.repeat(row, len(codes)))
            lost = before[row, None, :] - after.reshape(len(row), len(codes), -1)
            changes[row, feature] = 0.5 * np.abs(lost).sum(axis=2) @ weights
    return changes


def _correlated(model: NeighborModel, categories: Mapping[int, CategoryValues]) -> Groups:
    """Return groups of correlated features; of many features, among those with the largest weights."""
    n_features = model.X.shape[1]
    is_category = np.isin(np.arange(n_features), list(categories))
    if n_features <= MOST_CORRELATED:
        return correlated_features(model.X, is_category=is_category)
    weights = model.feature_weights().mean(axis=0)
    used = np.sort(np.argsort(-weights, kind="stable")[:MOST_CORRELATED])
    groups = correlated_features(model.X[:, used], is_category=is_category[used])
    return tuple(tuple(used[list(group)].tolist()) for group in groups)


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
        self.slow = np.setdiff1d(np.arange(n_features), self.fast)
        # Each changed row is transformed, and compared with all voters; a category has several axes.
        per_change = (width * n_axes + MOST_VOTERS * (2 * width + 1)) / SPEEDUP
        per_slope = MOST_VOTERS * (n_axes / SPEEDUP + 6 * N_TYPICAL)
        for n_categories in (MOST_CATEGORIES, N_TYPICAL):
            self.categories = model.category_values(n_categories)
            n_changes = self._n_changes()
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

    def _n_changes(self) -> int:
        """Return the number of changed rows per landmark that are searched."""
        values = (self.categories.get(int(feature)) for feature in self.slow)
        return sum(N_TYPICAL if value is None else len(value.codes) for value in values)


def _even_rule(model: NeighborModel) -> VoteRule:
    """Return the rule by which the neighbors of landmarks vote: with 1/d."""
    return VoteRule(1.0, model.vote_rule.epsilon, model.vote_rule.class_weight)


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
            after = _vote_of_nearest(model, np.maximum(moved, 0.0).reshape(-1, len(everyone)))
            lost = before[part, None, :] - after.reshape(len(steps), len(values), -1)
            alone[part, feature] = 0.5 * np.abs(lost).sum(axis=2).mean(axis=1)
    ends = nearest_contrasts(queries, before.argmax(axis=1))
    return Readings(before, alone, walk_supports(queries, ends)[1])


def _vote_of_nearest(model: NeighborModel, distances: Floats) -> Floats:
    """Return the vote of the nearest row of every class, given the distances to all rows."""
    firsts = np.flatnonzero(np.diff(model.labels, prepend=-1))
    parts = zip(firsts, np.split(distances, firsts[1:], axis=1), strict=True)
    nearest = np.stack([first + part.argmin(axis=1) for first, part in parts], axis=1)
    return model.vote(nearest, np.take_along_axis(distances, nearest, axis=1)).probabilities


def query_relevances(clf: Any, X: ArrayLike | None = None) -> Floats:
    """Return the relevances of many rows: those of `explain`, without the time and memory for the rest.

    Parameters
    ----------
    clf : estimator
        A fitted LANNClassifier, or a baseline with neighbors.
    X : array-like of shape (n_queries, n_features) or None, default=None
        None is the training rows.

    Returns
    -------
    relevances : ndarray of shape (n_queries, n_features)

    Raises
    ------
    ValueError
        If the classifier keeps no training rows, or X does not have the features of the fit.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.explain import query_relevances
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LANNClassifier(random_state=0).fit(X, y)
    >>> bool((query_relevances(clf) == clf.explain(X).relevances).all())
    True
    """
    model = model_of(clf)
    queries = model.X if X is None else read_queries(clf, X)
    landmarks = landmarks_of(model, n_jobs=clf.n_jobs)
    near = landmarks.near(Queries(model, queries, n_jobs=clf.n_jobs))
    relevances, _ = landmarks.readings.means(near)
    return np.where(model.unmeasured(queries), 0.0, relevances)


def class_relevances(clf: Any) -> Floats:
    """Return the mean relevances of up to 500 training rows, by their class.

    Parameters
    ----------
    clf : estimator
        A fitted LANNClassifier, or a baseline with neighbors.

    Returns
    -------
    relevances : ndarray of shape (n_classes, n_features)
        How much the vote on training rows of each class depends on each feature; NaN for a class without
        rows.

    Raises
    ------
    ValueError
        If the classifier keeps no training rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.explain import class_relevances
    >>> X, y = load_iris(return_X_y=True)
    >>> class_relevances(LANNClassifier(random_state=0).fit(X, y)).shape
    (3, 4)
    """
    model = model_of(clf)
    landmarks = landmarks_of(model, n_jobs=clf.n_jobs)
    return mean_by_class(landmarks.readings.relevances, model.labels[landmarks.rows], model.n_classes)
