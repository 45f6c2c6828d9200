"""Supports: what the value of each feature adds to the probability of each class.

A query x is compared with *reference rows*. Their values are those of the training rows, each feature by
itself: reference row r has the quantile (π_l(r) + ½) / n of feature l, where π_l is a fixed permutation of
the n reference rows. A plan with these permutations and the orders of the walks depends on the numbers of
features alone. It is the same for every model and query, so that supports differ between models only as far
as these do.

On a *walk* from x to a reference row, the features take its values one after another, in a fixed order, and
once more in the reverse order. What the probability of a class changes at a step is the credit of the
feature. The support of class y by feature l is its mean credit over all walks. Supports

- add up to P(y | x) minus the base value, the mean of P(y | r) over the reference rows;
- are 0 for a feature that changes no vote on the way;
- estimate Shapley values of P where the features are drawn independently of each other.

The *standard error* says how far the mean over many more walks may be. The reference values of a feature are
spread evenly, which makes the mean more accurate than that of as many independent walks: of walks that are
sorted by them, adjacent credits differ by the rest alone. It is therefore estimated from these differences,
and enlarged for few walks, so that an interval of two standard errors to both sides has 95%.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._support.rows import positions_in, stratified_rows
from lann._support.threads import map_blocks
from lann._support.types import Floats, Indices
from lann.explain._training_rows import Queries, scaled
from lann.model import NeighborModel

# Numbers of steps of all walks together, and the bounds of the number of walks.
N_STEPS, FEWEST_WALKS, MOST_WALKS = 480, 24, 40
# Features that take their values one by one, at most: the most relevant ones. The others do together, and
# share the credit by their relevance.
MOST_ALONE = 40
# The least standard error: what is shown is rounded.
LEAST_ERROR = 5e-4
# With more training rows than this, a sample of this size votes on the way.
MOST_VOTERS = 4000
# Numbers that are held at once for a block of queries: contributions, and rows on walks; 32 MB.
HELD = 2**22
# A row on a walk counts as so many numbers, at least: its neighbors are held, too.
FEWEST_HELD = 256

# From rows, (n, n_features), and the training rows that do not vote on them, (n,) or None, to outputs:
# probabilities, or a value, (n, n_outputs).
Vote = Callable[[Floats, Indices | None], Floats]


class WalkPlan(NamedTuple):
    """The walks that are the same for all models.

    Attributes
    ----------
    ranks : (n_walks, n_features)
        Rank of the value of each reference row among the values of the feature.
    positions : (n_walks, n_units)
        Position of each unit in the order of the walk: a feature, or those that take their values together.
    """

    ranks: Indices
    positions: Indices


class Supports(NamedTuple):
    """What walks say about queries.

    Attributes
    ----------
    supports, errors : (n_queries, n_outputs, n_features)
        Mean credits, and their standard errors; an output is the probability of a class, or the value.
    changes : (n_queries, n_features)
        Mean share of the vote that changes at the step of the feature; half the change of a value.
    """

    supports: Floats
    errors: Floats
    changes: Floats


def split_distances(
    model: NeighborModel, queries: Floats, indices: Indices, *, n_jobs: int | None = None
) -> Floats:
    """Return what each feature adds to the squared distances of given rows.

    Parameters
    ----------
    model : NeighborModel
    queries : ndarray of shape (n_queries, n_features)
    indices : ndarray of shape (n_queries, k)
        Positions of rows of the model.
    n_jobs : int or None, default=None
        Number of threads.

    Returns
    -------
    contributions : ndarray of shape (n_queries, k, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from lann import LANNClassifier
    >>> from lann.explain import split_distances
    >>> clf = LANNClassifier(1, max_iter=0).fit([[0.0, 0.0], [3.0, 4.0]], [0, 1])
    >>> split_distances(clf.model_, np.array([[0.0, 0.0]]), np.array([[1]]))[0].tolist()
    [[9.0, 16.0]]
    """
    contributions = np.empty((*indices.shape, queries.shape[1]))

    def compute(part: slice) -> None:
        contributions[part] = model.contributions(queries[part], indices[part])

    map_blocks(compute, len(queries), max(HELD // max(contributions[:1].size, 1), 1), n_jobs=n_jobs)
    return contributions


def walk_plan(n_features: int, n_walks: int | None = None, seed: int = 0) -> WalkPlan:
    """Return the plan of the walks for some number of features.

    Parameters
    ----------
    n_features : int
    n_walks : int or None, default=None
        None is as many as explanations have: from 24 to 40, fewer for more features.
    seed : int, default=0
        Other seeds give other plans; that of explanations is 0.

    Returns
    -------
    plan : WalkPlan

    Examples
    --------
    >>> from lann.explain import walk_plan
    >>> plan = walk_plan(3)
    >>> plan.ranks.shape, sorted(plan.positions[0].tolist())
    ((40, 3), [0, 1, 2])
    """
    if n_walks is None:
        n_walks = min(max(N_STEPS // n_features, FEWEST_WALKS), MOST_WALKS)
    return _make_plan(n_features, n_walks, seed)


@cache
def _make_plan(n_features: int, n_walks: int, seed: int) -> WalkPlan:
    rng = np.random.default_rng([seed, n_features])
    ranks = rng.random((n_walks, n_features)).argsort(axis=0)
    positions = rng.random((n_walks, min(n_features, MOST_ALONE + 1))).argsort(axis=1)
    return WalkPlan(ranks, positions)


def reference_rows(model: NeighborModel, plan: WalkPlan | None = None) -> Floats:
    """Return the rows with which every query is compared.

    Parameters
    ----------
    model : NeighborModel
    plan : WalkPlan or None, default=None
        None is that of explanations.

    Returns
    -------
    rows : ndarray of shape (n_walks, n_features)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.explain import reference_rows
    >>> clf = LANNClassifier(random_state=0).fit(*load_iris(return_X_y=True))
    >>> reference_rows(clf.model_).shape
    (40, 4)
    """
    X = model.X if model.has_training_rows else model.typical_values
    weights = np.ones(len(X)) if len(X) != model.n_rows or model.row_weights is None else model.row_weights
    ranks = walk_plan(X.shape[1]).ranks if plan is None else plan.ranks
    rows = np.empty(ranks.shape)
    for feature, column in enumerate(X.T):
        order = np.argsort(column, kind="stable")  # gaps are last
        total = np.cumsum(weights[order])
        at = np.searchsorted(total, (ranks[:, feature] + 0.5) / len(ranks) * total[-1])
        rows[:, feature] = column[order[at]]
    return rows


def walk_supports(clf: Any, X: ArrayLike, *, n_walks: int | None = None, seed: int = 0) -> Supports:
    """Compute supports by other walks than those of explanations, or by more of them.

    Parameters
    ----------
    clf : estimator
        A fitted LANNClassifier, or a baseline.
    X : array-like of shape (n_queries, n_features)
    n_walks : int or None, default=None
        Number of walks; None is as many as explanations have.
    seed : int, default=0
        Seed of the walks; 0 is those of explanations.

    Returns
    -------
    supports : Supports
        With ``supports``, ``errors`` and ``changes``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.explain import walk_supports
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LANNClassifier(random_state=0).fit(X, y)
    >>> few, many = (walk_supports(clf, X[:1] + 0.01, n_walks=n) for n in (40, 400))
    >>> bool(many.errors.mean() < few.errors.mean())
    True
    """
    explanation = clf.explain(X)
    queries = explanation._asked
    plan = walk_plan(queries.rows.shape[1], n_walks, seed)
    references = reference_rows(clf.model_, plan)
    return explained_supports(queries, references, explanation.relevances, plan)


def explained_supports(
    queries: Queries, references: Floats, relevances: Floats, plan: WalkPlan | None = None
) -> Supports:
    """Compute the supports of queries from the votes on the walks.

    Of a model with many rows, a sample votes on the way. What its vote on the query differs from that of the
    model is then shared by how much the features change.

    Parameters
    ----------
    queries : Queries
    references : (n_walks, n_features)
    relevances : (n_queries, n_features)
        Of many features, the most relevant ones take their values one by one.
    plan : WalkPlan or None
        None is that of explanations.

    Returns
    -------
    supports : Supports
    """
    model, exclude, n_jobs = queries.model, queries.exclude, queries.n_jobs
    sampled, sample = _sample(model, n_jobs)
    if sample is not model and exclude is not None:
        exclude = positions_in(sampled, exclude)
    found = walk(
        Queries(sample, queries.rows, exclude, n_jobs), references, _vote_of(sample, n_jobs), relevances, plan
    )
    if sample is model:
        return found
    vote = _vote_of(model, n_jobs)
    missing = vote(queries.rows, queries.exclude) - vote(references, None).mean(axis=0)
    missing -= found.supports.sum(axis=2)
    return found._replace(supports=found.supports + missing[:, :, None] * scaled(found.changes)[:, None])


def _vote_of(model: NeighborModel, n_jobs: int | None) -> Vote:
    """Return how the rows of a model vote on a prediction."""

    def vote(rows: Floats, exclude: Indices | None) -> Floats:
        return model.outputs(rows, *model.voters(rows, exclude=exclude, n_jobs=n_jobs), n_jobs=n_jobs)

    return vote


def _sample(model: NeighborModel, n_jobs: int | None) -> tuple[Indices, NeighborModel]:
    """Return the rows that vote on walks, and their model: all rows unless there are many."""
    if model.n_rows <= MOST_VOTERS:
        return np.arange(model.n_rows), model
    if "sample" not in model.derived:
        rows = stratified_rows(model.labels, MOST_VOTERS)
        model.derived["sample"] = rows, model.subset(rows, n_jobs=n_jobs) or model
    return model.derived["sample"]


def walk(
    queries: Queries,
    references: Floats,
    vote: Vote,
    relevances: Floats,
    plan: WalkPlan | None = None,
    walks: Indices | None = None,
) -> Supports:
    """Compute supports from the votes of any rows.

    Parameters
    ----------
    queries, references, relevances, plan
        As for `explained_supports`.
    vote : callable
        From rows and the training rows that do not vote on them to probabilities.
    walks : (n_queries, n_chosen) or None
        The walks of each query; None is all.
    """
    n_queries, n_features = queries.rows.shape
    plan = walk_plan(n_features) if plan is None else plan
    (n_walks, n_units), by_value = plan.positions.shape, np.argsort(plan.ranks, axis=0)
    chosen = np.broadcast_to(np.arange(n_walks), (n_queries, n_walks)) if walks is None else walks
    parts_found: list[Supports] = []
    gaps = queries.model.unmeasured(queries.rows)
    block = max(HELD // (2 * chosen.shape[1] * n_units * max(n_features, FEWEST_HELD)), 1)
    for start in range(0, n_queries, block):
        part = slice(start, start + block)
        units, parts = _units(relevances[part], n_units)
        # Without what no training row is without, the distance is measured from beginning to end.
        ends = np.where(gaps[part, None], np.nan, references[chosen[part]])  # (n, n_chosen, n_features)
        by_unit = _credits(queries[part], ends, plan.positions[chosen[part]], units, vote)
        credits = np.take_along_axis(by_unit, units[:, None, :, None], axis=2) * parts[:, None, :, None]
        supports = np.ascontiguousarray(credits.mean(axis=1).swapaxes(1, 2))
        errors, changes = np.full(supports.shape, np.nan), 0.5 * np.abs(credits).sum(axis=3).mean(axis=1)
        if walks is None:
            ordered = np.take_along_axis(credits, by_value[None, :, :, None], axis=1)
            squares = np.square(np.diff(ordered, axis=1)).sum(axis=1) / (2 * n_walks * (n_walks - 1))
            least = LEAST_ERROR * queries.model.output_scale
            errors = (np.sqrt(squares + least**2) * _enlargement(n_walks)).swapaxes(1, 2)
        parts_found.append(Supports(supports, errors, changes))
    if not parts_found:
        nothing = np.empty((0, queries.model.n_outputs, n_features))
        return Supports(nothing, nothing, queries.rows)
    return Supports(*(np.concatenate(found) for found in zip(*parts_found, strict=True)))


@cache
def _enlargement(n_walks: int) -> float:
    """Return Student's quantile over the normal one: n differences count as 2 n / 3 independent ones."""
    from scipy.stats import norm, t

    return float(t.ppf(0.975, 2 / 3 * (n_walks - 1)) / norm.ppf(0.975))


def _units(relevances: Floats, n_units: int) -> tuple[Indices, Floats]:
    """Return the unit of each feature, and its part of the credit of the unit: (n_queries, n_features)."""
    n_features = relevances.shape[1]
    if n_features == n_units:
        return np.broadcast_to(np.arange(n_units), relevances.shape), np.ones(relevances.shape)
    ranks = np.argsort(np.argsort(-relevances, axis=1, kind="stable"), axis=1)
    is_alone = ranks < n_units - 1
    together = scaled(np.where(is_alone, 0.0, relevances), 0.0)
    together[together.sum(axis=1) == 0] = 1 / (n_features - n_units + 1)
    return np.minimum(ranks, n_units - 1), np.where(is_alone, 1.0, together)


def _credits(queries: Queries, ends: Floats, positions: Indices, units: Indices, vote: Vote) -> Floats:
    """Return the mean credits of both orders of each walk: (n_queries, n_walks, n_units, n_classes).

    With D_s the vote at stop s of the order, less that on the row in which all other features are replaced,
    the credits of both orders at the step after it are D_s − D_{s+1} together.
    """
    rows, (n_queries, n_walks, n_units) = queries.rows, positions.shape
    stops = np.arange(1, n_units)
    of_features = np.take_along_axis(positions, np.repeat(units[:, None], n_walks, axis=1), axis=2)
    replaced: NDArray[np.bool_] = of_features[:, :, None] < stops[:, None]
    replaced = np.stack([replaced, ~replaced], axis=2)  # (n_queries, n_walks, 2, n_stops, n_features)
    between = np.where(replaced, ends[:, :, None, None], rows[:, None, None, None])

    def votes(changed: Floats) -> Floats:
        flat = changed.reshape(-1, changed.shape[-1])
        own = None if queries.exclude is None else np.repeat(queries.exclude, len(flat) // n_queries)
        found = vote(flat, own)
        return found.reshape(*changed.shape[:-1], found.shape[1])

    shares, last = votes(between), votes(ends)
    first = np.broadcast_to(votes(rows)[:, None], last.shape) - last
    differences = np.concatenate(
        [first[:, :, None], shares[:, :, 0] - shares[:, :, 1], -first[:, :, None]], axis=2
    )
    steps = -0.5 * np.diff(differences, axis=2)
    return np.take_along_axis(steps, positions[:, :, :, None], axis=2)
