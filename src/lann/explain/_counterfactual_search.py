"""The search for counterfactuals: toward other rows, one feature at a time, then back as far as possible."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lann._inputs import differ
from lann._types import Floats, Indices

# From rows to the class indices of their predictions, and to probabilities if there are any.
Predictor = Callable[[Floats], tuple[Indices, Floats | None]]

# Bisections of a change: to a 4096th of it.
BISECTIONS = 12
# Of more features than this, so many are tried for a change.
MANY_FEATURES, MOST_TRIED = 200, 100
# The preference for features decides only between steps after which the votes are equal.
TIE = 1e-6


@dataclass(frozen=True)
class Limits:
    """Which changes are allowed, and how large they are.

    Attributes
    ----------
    low, high : (n_features,)
        Range of the data.
    scale : (n_features,)
        Unit of a change.
    free, integer, category : (n_features,)
        Which features may change, which have only integers, and which are categories.
    """

    low: Floats
    high: Floats
    scale: Floats
    free: NDArray[np.bool_]
    integer: NDArray[np.bool_]
    category: NDArray[np.bool_]

    @property
    def n_tried(self) -> int:
        """The number of features that are tried for a change, at most."""
        n_features = len(self.free)
        return n_features if n_features <= MANY_FEATURES else max(int(self.free.sum()), 1)

    def nearest_allowed(self, values: Floats) -> Floats:
        """Return the nearest allowed values: (n_rows, n_features). Categories and gaps stay as they are."""
        inside = np.clip(values, self.low, self.high)
        rounded = np.clip(np.rint(inside), np.ceil(self.low), np.floor(self.high))
        return np.where(self.category, values, np.where(self.integer, rounded, inside))

    def amounts(self, rows: Floats, queries: Floats) -> Floats:
        """Return the size of the change in each feature: (..., n_features).

        Another category, or a value in place of a gap, is a change of size 1.
        """
        amounts = np.abs(rows - queries) / self.scale
        return np.where(self.category | np.isnan(amounts), differ(rows, queries), amounts)

    def sizes(self, rows: Floats, queries: Floats) -> Floats:
        """Return the total size of the changes from queries to rows: (n_rows,)."""
        return self.amounts(rows, queries).sum(axis=-1)


@dataclass(frozen=True)
class Goal:
    """The prediction that is wanted for each query.

    Attributes
    ----------
    origins : (n_queries,)
        Class index of the present prediction.
    targets : (n_queries,)
        Class index that is wanted; -1 where any other class will do.
    """

    origins: Indices
    targets: Indices

    def __getitem__(self, rows: Indices | slice) -> Goal:
        return Goal(self.origins[rows], self.targets[rows])

    def reached(self, labels: Indices) -> NDArray[np.bool_]:
        """Return whether predictions are as wanted: (n_queries,)."""
        return np.where(self.targets >= 0, labels == self.targets, labels != self.origins)

    def progress(self, probabilities: Floats | None) -> Floats:
        """Return how near the votes are to the goal, from -1 to 1; 0 where there are no probabilities."""
        rows = np.arange(len(self.origins))
        if probabilities is None:
            return np.zeros(len(rows))
        wanted = probabilities[rows, self.targets]
        others = probabilities.copy()
        others[rows, self.targets] = -np.inf
        return np.where(self.targets >= 0, wanted - others.max(axis=1), -probabilities[rows, self.origins])


@dataclass(frozen=True)
class Paths:
    """Rows toward which each query is changed.

    Attributes
    ----------
    ends : (n_queries, n_paths, n_features)
        Allowed values, the most promising rows first; NaN where the feature is not changed.
    preferences : (n_queries, n_paths, n_features)
        From 0 to 1: the feature to change first where votes are equal.
    """

    ends: Floats
    preferences: Floats


def follow(
    predictor: Predictor, queries: Floats, paths: Paths, limits: Limits, goal: Goal, *, max_features: int,
    n_kept: int
) -> tuple[Floats, Indices]:  # fmt: skip
    """Replace values of the queries by those of other rows, one feature at a time, until the goal is reached.

    In every step, each path changes the feature after which the votes are nearest to the goal. The first step
    that reaches the goal ends all paths of the query, so that few features change.

    Parameters
    ----------
    queries : (n_queries, n_features)
    max_features : int
        Number of steps.
    n_kept : int
        Number of paths that are continued after the first step, and of results that are kept, per query.

    Returns
    -------
    rows : (n_results, n_features)
        Rows that reach the goal.
    origins : (n_results,)
        Their queries.
    """
    now = np.repeat(queries[:, None, :], paths.ends.shape[1], axis=1)
    possible = limits.free & (paths.ends != now) & ~np.isnan(paths.ends)  # no value becomes a gap
    results, origins = [np.empty((0, queries.shape[1]))], [np.empty(0, np.int64)]
    for _ in range(max_features):
        query, path, feature = np.nonzero(possible)
        if len(query) == 0:
            break
        steps = now[query, path]
        steps[np.arange(len(steps)), feature] = paths.ends[query, path, feature]
        labels, probabilities = predictor(steps)
        step_goal = goal[query]
        there = np.flatnonzero(step_goal.reached(labels))
        cheapest = there[np.lexsort((limits.sizes(steps[there], queries[query[there]]), query[there]))]
        kept = cheapest[_rank_in_group(query[cheapest]) < n_kept]
        results.append(steps[kept])
        origins.append(query[kept])
        possible[query[there]] = False

        progress = np.full(possible.shape, -np.inf)
        preference = paths.preferences[query, path, feature]
        progress[query, path, feature] = step_goal.progress(probabilities) + TIE * preference
        best, reached = progress.argmax(axis=2), progress.max(axis=2)
        # Only the paths nearest to the goal continue.
        order = np.argsort(-reached, axis=1, kind="stable")
        continued = np.zeros(reached.shape, bool)
        np.put_along_axis(continued, order[:, :n_kept], True, axis=1)
        possible &= continued[:, :, None]
        query, path = np.nonzero(continued & np.isfinite(reached))
        now[query, path, best[query, path]] = paths.ends[query, path, best[query, path]]
        possible[query, path, best[query, path]] = False
    return np.concatenate(results), np.concatenate(origins)


def _rank_in_group(groups: Indices) -> Indices:
    """Return the position of each entry within its group; groups are ascending."""
    firsts = np.flatnonzero(np.diff(groups, prepend=-1))
    return np.arange(len(groups)) - np.repeat(firsts, np.diff([*firsts, len(groups)]))


def shrink(predictor: Predictor, queries: Floats, rows: Floats, limits: Limits, goal: Goal) -> Floats:
    """Undo every change that is not needed, and make the others as small as the goal allows.

    Parameters
    ----------
    queries, rows : (n_rows, n_features)
        Before and after the changes.
    goal : Goal
        One per row, reached by all.
    """
    rows, every = rows.copy(), np.arange(len(rows))
    nearest = limits.nearest_allowed(queries)
    n_changed = int(differ(rows, queries).sum(axis=1).max(initial=0))
    largest_first = np.argsort(-limits.amounts(rows, queries), axis=1, kind="stable")

    def still_reached(features: Indices, values: Floats) -> NDArray[np.bool_]:
        trial = rows.copy()
        trial[every, features] = values
        return goal.reached(predictor(trial)[0])

    for features in largest_first[:, :n_changed].T:
        before, far, near = queries[every, features], rows[every, features], nearest[every, features]
        undone = still_reached(features, before)
        integer = limits.integer[features]
        # Nothing lies between two categories, or between a gap and a value.
        whole = limits.category[features] | np.isnan(before)
        for _ in range(BISECTIONS):
            middle = (near + far) / 2
            # Integers next to `near`, so that it is tried itself when nothing lies between.
            middle = np.where(integer, np.where(far > near, np.floor(middle), np.ceil(middle)), middle)
            middle = np.where(whole, far, middle)
            there = still_reached(features, middle)
            near, far = np.where(there, near, middle), np.where(there, middle, far)
        rows[every, features] = np.where(undone, before, far)
    return rows
