"""The search for counterfactuals: toward other rows, one feature at a time, then back as far as possible."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lann._support.inputs import differ
from lann._support.types import Floats, Indices
from lann.explain._constraints import ROUNDING, Limits
from lann.explain._plausibility import Plausibility
from lann.explain._training_rows import check_label
from lann.model import NeighborModel

# Numbers in the changed rows of a block of queries: 32 MB.
CHANGED_AT_ONCE = 2**22
# Rows toward which each query is changed, and changes of each set of features that are made small.
N_CANDIDATES = 5
# Bisections of a change: to a 4096th of it.
BISECTIONS = 12
# Largest number of features that are tried for a change.
MANY_FEATURES, MOST_TRIED = 200, 100
# The preference for features decides only between steps after which the votes are equal.
TIE = 1e-6
# Values of the range of a feature that are tried beyond typical ones, and categories beyond frequent ones.
N_EVEN, MOST_CATEGORIES = 8, 32
# Changes are searched with a plausibility of 1, then with less of it, in these steps.
STEP = 0.2


@dataclass(frozen=True)
class Goal:
    """The prediction that is wanted for each query.

    Attributes
    ----------
    origins : (n_queries,)
        Class index of the present prediction.
    targets : (n_queries,)
        Class index that is wanted; -1 where any other class will do.
    at_least : float
        The probability that it is to have.
    """

    origins: Indices
    targets: Indices
    at_least: float

    def __getitem__(self, rows: Indices | slice) -> Goal:
        return Goal(self.origins[rows], self.targets[rows], self.at_least)

    def wanted(self, probabilities: Floats) -> Indices:
        """Return the class index that is wanted, the most probable one if there are several: (n_queries,)."""
        others = probabilities.copy()
        others[np.arange(len(others)), self.origins] = -1.0
        return np.where(self.targets >= 0, self.targets, others.argmax(axis=1))

    def reached(self, probabilities: Floats) -> NDArray[np.bool_]:
        """Return whether predictions are as wanted: (n_queries,)."""
        wanted = self.wanted(probabilities)
        return (probabilities.argmax(axis=1) == wanted) & (_of(probabilities, wanted) >= self.at_least)


class Block(NamedTuple):
    """Queries that are changed together.

    Attributes
    ----------
    queries : (n_queries, n_features)
    goal : Goal
    limits : Limits
    plausible : (n_queries,)
        The least plausibility of their changes.
    seen : (n_queries,)
        The plausibility of the best changes that have reached the goal; -1 if none has. It is updated.
    distances : (n_queries, n_sampled)
        To the rows by which plausibility is measured.
    """

    queries: Floats
    goal: Goal
    limits: Limits
    plausible: Floats
    seen: Floats
    distances: Floats


class Changes(NamedTuple):
    """Changed queries.

    Attributes
    ----------
    queries : (n_results,)
        Positions of the queries, ascending; one without a change has a single result, as it is.
    rows : (n_results, n_features)
    probabilities : (n_results, n_classes)
    plausibility : (n_results,)
        Share of the wanted class among the nearest training rows; NaN without a change.
    """

    queries: Indices
    rows: Floats
    probabilities: Floats
    plausibility: Floats


class Search:
    """A search for changes of queries.

    Parameters
    ----------
    model : NeighborModel
        Of training rows.
    limits : Limits
        Which changes are allowed.
    n_results, max_features : int
        As for `counterfactuals`.
    n_jobs : int or None
    """

    def __init__(
        self, model: NeighborModel, limits: Limits, *, n_results: int, max_features: int, n_jobs: int | None
    ) -> None:
        self.model, self.limits, self.n_jobs = model, limits, n_jobs
        self.n_results, self.max_features = n_results, max_features
        self.n_candidates = min(N_CANDIDATES, len(model.X))
        self.plausibility = Plausibility(model, limits)
        if len(limits.free) > MANY_FEATURES:
            weights = np.where(limits.free, model.feature_weights().mean(axis=0), -1.0)
            limits.free[np.argsort(-weights, kind="stable")[MOST_TRIED:]] = False

    def predict(self, rows: Floats) -> Floats:
        """Return the probabilities of rows: (n_rows, n_classes)."""
        return self.model.vote(*self.model.voters(rows, n_jobs=self.n_jobs)).probabilities

    def predict_wide(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return the probabilities of rows, and the votes of a wider neighborhood, to see progress.

        Among the nearest few often none has the wanted label, whatever a small step leads to.
        """
        model = self.model
        k = model.n_voters
        wide = min(max(k, model.wide_neighborhood), len(model.X))
        indices, distances = model.kneighbors(rows, wide, n_jobs=self.n_jobs)
        probabilities = model.vote(indices[:, :k], distances[:, :k]).probabilities
        n_votes, rule = model.mean_weight * wide, model.vote_rule.with_one_vote()
        return probabilities, model.count_votes(indices, distances, n_votes, rule).probabilities

    def run(self, queries: Floats, goal: Goal) -> Changes:
        """Return the changed queries, verified by predicting again; the best of each query come first."""
        found: list[list[tuple[Floats, float]]] = [[] for _ in queries]
        missing = np.flatnonzero(~goal.reached(self.predict(queries)))
        # Extreme values only where nothing else reaches the goal.
        for limits, most in ((self.limits, 1.0), (self.limits.widened(), 0.0)):
            plausible, left = np.full(len(queries), most), missing
            while len(left):
                seen = np.full(len(queries), -1.0)
                for typical in self._typical_ends(limits):
                    best = self._search(
                        queries[left], goal[left], limits, plausible[left], typical, [found[q] for q in left]
                    )
                    seen[left] = np.maximum(seen[left], best)
                    left = np.array([q for q in left if len(found[q]) < self.n_results], np.int64)
                # What no change has need not be searched for.
                plausible = np.floor(np.minimum(seen, plausible - STEP) / STEP + ROUNDING) * STEP
                left = left[plausible[left] >= 0]
            missing = np.array([q for q in missing if len(found[q]) < self.n_results], np.int64)
        results = [of_query or [(query, np.nan)] for of_query, query in zip(found, queries, strict=True)]
        positions = np.repeat(np.arange(len(queries)), [len(of_query) for of_query in results])
        changed, plausibility = map(np.array, zip(*chain.from_iterable(results), strict=True))
        return Changes(positions, changed, self.predict(changed), plausibility)

    def _search(
        self,
        queries: Floats,
        goal: Goal,
        limits: Limits,
        plausible: Floats,
        typical: Floats,
        found: list[list[tuple[Floats, float]]],
    ) -> Floats:
        """Add changes toward near and typical rows to those found, and return the plausibility that was seen.

        Returns
        -------
        seen : (n_queries,)
            The largest plausibility of a change that reaches the goal, -1 without one or if none is wanted.
        """
        seen = np.full(len(queries), -1.0)
        n_changes = (self.n_candidates + len(typical)) * max(limits.free.sum(), 1)
        size = max(CHANGED_AT_ONCE // max(n_changes * queries.shape[1], len(self.plausibility.rows)), 1)
        for start in range(0, len(queries), size):
            part = slice(start, start + size)
            distances = self.plausibility.distances(queries[part])
            block = Block(queries[part], goal[part], limits, plausible[part], seen[part], distances)
            rows, origins = self._follow(block, *self._paths(block, typical))
            rows = self._shrink(block, rows, origins)
            self._choose(block, rows, origins, found[part])
        return seen

    def _reached(
        self, block: Block, rows: Floats, origins: Indices, probabilities: Floats
    ) -> NDArray[np.bool_]:
        """Return which changed rows have the wanted prediction and are plausible: (n_rows,)."""
        goal, least = block.goal[origins], block.plausible[origins]
        reached = goal.reached(probabilities)
        tried, wanted = np.flatnonzero(reached & (least > 0)), goal.wanted(probabilities)
        shares = self._plausibility(block, rows[tried], origins[tried], wanted[tried])
        np.maximum.at(block.seen, origins[tried], shares)
        reached[tried] = shares >= least[tried] - ROUNDING
        return reached

    def _plausibility(self, block: Block, rows: Floats, origins: Indices, wanted: Indices) -> Floats:
        """Return the plausibility of changed rows: (n_rows,)."""
        found, size = np.empty(len(rows)), max(CHANGED_AT_ONCE // block.distances.shape[1], 1)
        for start in range(0, len(rows), size):
            part = slice(start, start + size)
            own = origins[part]
            found[part] = self.plausibility.of_changed(
                rows[part], block.queries[own], block.distances[own], wanted[part]
            )
        return found

    def _paths(self, block: Block, typical: Floats) -> tuple[Floats, Floats]:
        """Return rows to change the queries toward: the nearest of the wanted classes, then typical values.

        Returns
        -------
        ends : (n_queries, n_paths, n_features)
            Allowed values, the most promising rows first; NaN where the feature is not changed.
        preferences : (n_queries, n_paths, n_features)
            From 0 to 1, the feature to change first where votes are equal.
        """
        model, every, queries = self.model, np.arange(self.model.n_classes), block.queries
        targets, origins = block.goal.targets[:, None], block.goal.origins[:, None]
        allowed = np.where(targets >= 0, every == targets, every != origins)
        indices, _ = model.kneighbors_of_classes(queries, allowed, self.n_candidates, n_jobs=self.n_jobs)
        missing, known = (indices < 0)[:, :, None], np.maximum(indices, 0)
        near = np.where(missing, queries[:, None, :], model.X[known])
        near_sizes = np.where(missing, 0.0, np.maximum(model.contributions(queries, known), 0.0))
        others = np.broadcast_to(typical, (len(queries), *typical.shape))
        ends = block.limits.nearest(np.concatenate([near, others], axis=1), queries[:, None, :])
        typical_sizes = np.square(self.limits.amounts(typical, queries[:, None, :]))
        sizes = np.concatenate([near_sizes, typical_sizes], axis=1) * self.limits.free
        largest = sizes.max(axis=2, keepdims=True)
        return ends, np.divide(sizes, largest, out=np.zeros_like(sizes), where=largest > 0)

    def _follow(self, block: Block, ends: Floats, preferences: Floats) -> tuple[Floats, Indices]:
        """Replace values of the queries by those of other rows until the goal is reached.

        In every step, each path changes the feature that brings the votes nearest to the goal for its cost.
        The paths of a query end when enough sets of features have reached the goal at a cost that changing
        more features cannot undercut.

        Returns
        -------
        rows : (n_results, n_features)
            Rows that reach the goal.
        origins : (n_results,)
            Their queries.
        """
        queries, limits = block.queries, self.limits
        now = np.repeat(queries[:, None, :], ends.shape[1], axis=1)
        possible = (ends != now) & ~np.isnan(ends)  # no value becomes a gap
        votes = self.predict_wide(queries)[1]
        votes_now = np.repeat(_of(votes, block.goal.wanted(votes))[:, None], ends.shape[1], axis=1)
        results, origins = [np.empty((0, queries.shape[1]))], [np.empty(0, np.int64)]
        n_found, least = np.zeros(len(queries), np.int64), limits.costs[limits.free].min(initial=np.inf)
        for n_changed in range(1, self.max_features + 1):
            query, path, feature = np.nonzero(possible)
            if len(query) == 0:
                break
            steps = now[query, path]
            steps[np.arange(len(steps)), feature] = ends[query, path, feature]
            probabilities, votes = self.predict_wide(steps)
            there = self._reached(block, steps, query, probabilities)
            kept, cheap = self._cheapest(
                queries[query[there]], steps[there], query[there], (n_changed + 1) * least
            )
            results.append(steps[there][kept])
            origins.append(query[there][kept])
            n_found += np.bincount(cheap, minlength=len(queries))
            possible[query[there], path[there], feature[there]] = False
            possible[n_found >= self.n_results] = False

            votes_then = np.full(possible.shape, -np.inf)
            votes_then[query, path, feature] = _of(votes, block.goal[query].wanted(votes))
            votes_then[~possible] = -np.inf
            query, path, feature = self._next_steps(votes_now, votes_then + TIE * preferences)
            now[query, path, feature] = ends[query, path, feature]
            votes_now[query, path] = votes_then[query, path, feature]
            continued = np.zeros(votes_now.shape, bool)
            continued[query, path] = True
            possible &= continued[:, :, None]
            possible[query, path, feature] = False
        return np.concatenate(results), np.concatenate(origins)

    def _next_steps(self, votes_now: Floats, votes_then: Floats) -> tuple[Indices, Indices, Indices]:
        """Return the queries and paths that continue, those nearest to the goal, and their next features.

        Parameters
        ----------
        votes_now : (n_queries, n_paths)
        votes_then : (n_queries, n_paths, n_features)
            After a step that changes the feature; -inf where it cannot.
        """
        gains = votes_then - votes_now[:, :, None]
        best = np.where(gains > 0, gains / np.maximum(self.limits.costs, TIE), gains).argmax(axis=2)
        reached = np.take_along_axis(votes_then, best[:, :, None], axis=2)[:, :, 0]
        order = np.argsort(-reached, axis=1, kind="stable")[:, : self.n_candidates]
        query, rank = np.nonzero(np.isfinite(np.take_along_axis(reached, order, axis=1)))
        path = order[query, rank]
        return query, path, best[query, path]

    def _cheapest(
        self, queries: Floats, rows: Floats, origins: Indices, bound: float
    ) -> tuple[Indices, Indices]:
        """Return the cheapest rows of each query and set of changed features.

        Also returns the queries of the sets that cost at most the bound: (n_cheap,).
        """
        sets, number = np.unique(
            np.column_stack([origins, differ(rows, queries)]), axis=0, return_inverse=True
        )
        costs, number = self.limits.costs_of(rows, queries).sum(axis=1), number.ravel()
        order = np.lexsort((costs, number))
        first = np.searchsorted(number[order], np.arange(len(sets)))
        rank = np.arange(len(order)) - first[number[order]]
        is_cheap = costs[order[first]] <= bound if len(order) else np.empty(0, bool)
        return order[rank < self.n_candidates], sets[is_cheap, 0]

    def _shrink(self, block: Block, rows: Floats, origins: Indices) -> Floats:
        """Undo every change that is not needed, and make the others as small as the goal allows.

        Parameters
        ----------
        rows : (n_rows, n_features)
            Rows that reach the goal.
        origins : (n_rows,)
            Their queries.
        """
        rows, every, queries = rows.copy(), np.arange(len(rows)), block.queries[origins]
        nearest, size = block.limits.nearest(queries, queries), 10.0**self.limits.decimals
        n_changed = int(differ(rows, queries).sum(axis=1).max(initial=0))
        costliest_first = np.argsort(-self.limits.costs_of(rows, queries), axis=1, kind="stable")

        def still_reached(features: Indices, values: Floats) -> NDArray[np.bool_]:
            trial = rows.copy()
            trial[every, features] = values
            return self._reached(block, trial, origins, self.predict(trial))

        for features in costliest_first[:, :n_changed].T:
            before, far, near = queries[every, features], rows[every, features], nearest[every, features]
            undone, step = still_reached(features, before), size[features]
            # Nothing lies between two categories, or between a gap and a value.
            whole = self.limits.category[features] | np.isnan(near)
            for _ in range(BISECTIONS):
                # Next to `near`, so that it is tried itself when nothing lies between.
                middle = (near + far) / 2 * step
                middle = np.where(far > near, np.floor(middle + ROUNDING), np.ceil(middle - ROUNDING)) / step
                middle = np.where(whole, far, middle + 0.0)  # no -0.0
                there = still_reached(features, middle)
                near, far = np.where(there, near, middle), np.where(there, middle, far)
            rows[every, features] = np.where(undone, before, far)
        return rows

    def _choose(
        self, block: Block, rows: Floats, origins: Indices, found: list[list[tuple[Floats, float]]]
    ) -> None:
        """Add the cheapest rows of each query to those that were found.

        No set of changed features contains that of another row.
        """
        probabilities, queries = self.predict(rows), block.queries[origins]
        goal, changed = block.goal[origins], differ(rows, queries)
        reached = goal.reached(probabilities)
        plausibility = self._plausibility(block, rows, origins, goal.wanted(probabilities))
        for i in np.lexsort((self.limits.costs_of(rows, queries).sum(axis=1), origins)):
            chosen = found[origins[i]]
            others = [differ(row, queries[i]) for row, _ in chosen]
            is_new = all((changed[i] > other).any() and (changed[i] < other).any() for other in others)
            if reached[i] and is_new and len(chosen) < self.n_results:
                chosen.append((rows[i], float(plausibility[i])))

    def _typical_ends(self, limits: Limits) -> tuple[Floats, Floats]:
        """Return typical rows, and others for where these do not suffice: (n_rows, n_features) each.

        Numbers are quantiles, then evenly spaced values of the range. Of categories the most frequent ones
        come first; the other rows have the others, as long as there are not too many.
        """
        data, typical = self.model.X, self.model.typical_values.copy()
        ordered = {}
        for feature in np.flatnonzero(self.limits.category):
            codes, counts = np.unique(data[~np.isnan(data[:, feature]), feature], return_counts=True)
            ordered[feature] = codes[np.argsort(-counts, kind="stable")]
            typical[:, feature] = np.resize(ordered[feature], len(typical))
        n_more = max((len(codes) - len(typical) for codes in ordered.values()), default=0)
        even = np.full((max(N_EVEN, min(n_more, MOST_CATEGORIES)), data.shape[1]), np.nan)
        even[:N_EVEN] = np.linspace(limits.low, limits.high, N_EVEN)
        for feature, codes in ordered.items():
            others = codes[len(typical) :][: len(even)]
            even[:, feature] = np.nan
            even[: len(others), feature] = others
        return typical, even


def _of(probabilities: Floats, classes: Indices) -> Floats:
    """Return the probability of a class for each row: (n_rows,)."""
    return probabilities[np.arange(len(classes)), classes]


def target_class_indices(target: Any, classes: NDArray[Any], n_queries: int) -> Indices:
    """Return the class index that is wanted for each query, -1 where any other will do: (n_queries,)."""
    if target is None:
        return np.full(n_queries, -1)
    targets = np.atleast_1d(np.asarray(target))
    for label in np.unique(targets).tolist():
        check_label(label, classes)
    if targets.shape not in ((1,), (n_queries,)):
        raise ValueError(
            f"target must be one label, or one for each of the {n_queries} rows; got shape {targets.shape}."
        )
    return np.broadcast_to(np.searchsorted(classes, targets), (n_queries,))
