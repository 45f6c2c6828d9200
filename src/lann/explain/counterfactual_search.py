"""The search for counterfactuals: toward other points, feature by feature, then back as far as it goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lann._types import Floats, Indices

# From rows to the places of their labels among the classes, and the shares of the classes if there are any.
Ask = Callable[[Floats], tuple[Indices, Floats | None]]

# The way back is halved so many times: to a 4096th of the way.
HALVINGS = 12
# What pulls toward a point decides only between steps after which the votes are equal.
TIE = 1e-6


@dataclass(frozen=True)
class Limits:
    """Which changes are allowed, and how large they are.

    Parameters
    ----------
    low, high : (n_features,) the data's range
    scale : (n_features,) the unit of a change
    free, whole : (n_features,) which features may change, and which have only integers
    """

    low: Floats
    high: Floats
    scale: Floats
    free: NDArray[np.bool_]
    whole: NDArray[np.bool_]

    def settle(self, values: Floats) -> Floats:
        """Rows of allowed values near `values`: (n_rows, n_features)."""
        inside = np.clip(values, self.low, self.high)
        rounded = np.clip(np.rint(inside), np.ceil(self.low), np.floor(self.high))
        return np.where(self.whole, rounded, inside)

    def sizes(self, rows: Floats, queries: Floats) -> Floats:
        """How large the changes from queries to rows are, in all: (n_rows,)."""
        return (np.abs(rows - queries) / self.scale).sum(axis=-1)


@dataclass(frozen=True)
class Goal:
    """What each query's label shall become.

    Parameters
    ----------
    origins : (n_queries,) the label that it has
    targets : (n_queries,) the label that is wanted; -1 where any other will do
    """

    origins: Indices
    targets: Indices

    def __getitem__(self, rows: Indices | slice) -> Goal:
        return Goal(self.origins[rows], self.targets[rows])

    def reached(self, labels: Indices) -> NDArray[np.bool_]:
        return np.where(self.targets >= 0, labels == self.targets, labels != self.origins)

    def nearness(self, shares: Floats | None) -> Floats:
        """How near the votes are to the goal, from -1 to 1; 0 where there are no votes to tell."""
        rows = np.arange(len(self.origins))
        if shares is None:
            return np.zeros(len(rows))
        wanted = shares[rows, self.targets]
        others = shares.copy()
        others[rows, self.targets] = -np.inf
        return np.where(self.targets >= 0, wanted - others.max(axis=1), -shares[rows, self.origins])


def walk(
    ask: Ask, queries: Floats, toward: Floats, pulls: Floats, limits: Limits, goal: Goal, *,
    max_features: int, n_kept: int,
) -> tuple[Floats, Indices]:  # fmt: skip
    """Take over values of other rows, one feature after the other, until the goal is reached.

    Every query walks toward several rows at once. In each step each walk takes over the feature after which
    the votes are nearest to the goal. The first step that reaches the goal ends all walks of the query: few
    features come first.

    Parameters
    ----------
    queries : (n_queries, n_features)
    toward : (n_queries, n_rows, n_features) allowed values, most promising rows first
    pulls : (n_queries, n_rows, n_features) in [0, 1], which feature to prefer where votes are equal
    n_kept
        How many walks go on after the first step, and how many ends are kept, for each query.

    Returns
    -------
    ends : (n_ends, n_features) rows that reach the goal
    starts : (n_ends,) their queries
    """
    now = np.repeat(queries[:, None, :], toward.shape[1], axis=1)
    possible = limits.free & (toward != now)
    ends, starts = [np.empty((0, queries.shape[1]))], [np.empty(0, np.int64)]
    for _ in range(max_features):
        query, row, feature = np.nonzero(possible)
        if len(query) == 0:
            break
        steps = now[query, row]
        steps[np.arange(len(steps)), feature] = toward[query, row, feature]
        labels, shares = ask(steps)
        asking = goal[query]
        there = np.flatnonzero(asking.reached(labels))
        cheapest = there[np.lexsort((limits.sizes(steps[there], queries[query[there]]), query[there]))]
        kept = cheapest[_rank_in_group(query[cheapest]) < n_kept]
        ends.append(steps[kept])
        starts.append(query[kept])
        possible[query[there]] = False

        height = np.full(possible.shape, -np.inf)
        height[query, row, feature] = asking.nearness(shares) + TIE * pulls[query, row, feature]
        best, reached = height.argmax(axis=2), height.max(axis=2)
        # The walks that are farthest from the goal end here.
        order = np.argsort(-reached, axis=1, kind="stable")
        going = np.zeros(reached.shape, bool)
        np.put_along_axis(going, order[:, :n_kept], True, axis=1)
        possible &= going[:, :, None]
        query, row = np.nonzero(going & np.isfinite(reached))
        now[query, row, best[query, row]] = toward[query, row, best[query, row]]
        possible[query, row, best[query, row]] = False
    return np.concatenate(ends), np.concatenate(starts)


def _rank_in_group(groups: Indices) -> Indices:
    """The place of each entry within its group; groups are ascending."""
    firsts = np.flatnonzero(np.diff(groups, prepend=-1))
    return np.arange(len(groups)) - np.repeat(firsts, np.diff([*firsts, len(groups)]))


def shrink(ask: Ask, queries: Floats, rows: Floats, limits: Limits, goal: Goal) -> Floats:
    """Undo every change that is not needed, and make the others as small as the goal allows.

    queries, rows : (n_rows, n_features) before and after; the goal is one per row, and reached by all
    """
    rows, every = rows.copy(), np.arange(len(rows))
    nearest = limits.settle(queries)
    n_changed = int((rows != queries).sum(axis=1).max(initial=0))
    largest_first = np.argsort(-np.abs(rows - queries) / limits.scale, axis=1, kind="stable")

    def still_there(features: Indices, values: Floats) -> NDArray[np.bool_]:
        trial = rows.copy()
        trial[every, features] = values
        return goal.reached(ask(trial)[0])

    for features in largest_first[:, :n_changed].T:
        before, far, near = queries[every, features], rows[every, features], nearest[every, features]
        undone = still_there(features, before)
        whole = limits.whole[features]
        for _ in range(HALVINGS):
            middle = (near + far) / 2
            # Integers next to `near`, so that it is tried itself when nothing lies between.
            middle = np.where(whole, np.where(far > near, np.floor(middle), np.ceil(middle)), middle)
            there = still_there(features, middle)
            near, far = np.where(there, near, middle), np.where(there, middle, far)
        rows[every, features] = np.where(undone, before, far)
    return rows
