"""The search for counterfactuals: toward other rows, one feature at a time, then back as far as possible."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann._support.inputs import differ
from lann._support.types import Floats, Indices
from lann._support.validation import shown
from lann.columns.schema import TableSchema
from lann.explain._training_rows import check_label
from lann.model import NeighborModel

# Numbers in the changed rows of a block of queries: 32 MB.
CHANGED_AT_ONCE = 2**22
# Bisections of a change: to a 4096th of it.
BISECTIONS = 12
# Largest number of features that are tried for a change.
MANY_FEATURES, MOST_TRIED = 200, 100
# The preference for features decides only between steps after which the votes are equal.
TIE = 1e-6
# Categories of a feature that are tried beyond the most frequent ones.
MOST_CATEGORIES = 32


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

    def progress(self, probabilities: Floats) -> Floats:
        """Return how near the votes are to the goal, from -1 to 1: (n_queries,)."""
        rows = np.arange(len(self.origins))
        wanted = probabilities[rows, self.targets]
        others = probabilities.copy()
        others[rows, self.targets] = -np.inf
        return np.where(self.targets >= 0, wanted - others.max(axis=1), -probabilities[rows, self.origins])


class Search:
    """A search for changes of queries: which ones are allowed, and how large they are.

    Parameters
    ----------
    model : NeighborModel
        Of training rows.
    names : list
        Names of the features.
    schema : TableSchema or None
        What the numbers in the rows mean; None is numbers.
    frozen, integers, n_candidates, max_features
        As for `counterfactuals`.
    n_jobs : int or None

    Attributes
    ----------
    low, high : (n_features,)
        Range of the data.
    scale : (n_features,)
        Unit of a change.
    free, integer, category : (n_features,)
        Which features may change, which have only integers, and which are categories.
    """

    def __init__(
        self,
        model: NeighborModel,
        names: list[Any],
        schema: TableSchema | None,
        *,
        frozen: Iterable[Any],
        integers: str | Iterable[Any],
        n_candidates: int,
        max_features: int,
        n_jobs: int | None,
    ) -> None:
        data = model.X
        self.model, self.n_candidates, self.n_jobs = model, min(n_candidates, len(data)), n_jobs
        self.max_features = max_features
        kinds = np.array([f.kind for f in schema.features] if schema else ["number"] * data.shape[1])
        self.category = kinds == "category"
        if isinstance(integers, str) and integers == "auto":
            integer = ((data == np.rint(data)) | np.isnan(data)).all(axis=0)
        else:
            integer = _feature_mask("integers", integers, names)
        # Bools, ordered categories and dates stay on their steps.
        self.integer = integer | ((kinds != "number") & ~self.category)
        self.free = ~_feature_mask("frozen", frozen, names)
        if len(names) > MANY_FEATURES:
            weights = np.where(self.free, model.feature_weights().mean(axis=0), -1.0)
            self.free[np.argsort(-weights, kind="stable")[MOST_TRIED:]] = False
        self.low, self.high = np.nanmin(data, axis=0), np.nanmax(data, axis=0)
        spread = np.nanstd(data, axis=0) if np.isnan(data).any() else data.std(axis=0)
        self.scale = np.where((spread > 0) & ~self.category, spread, 1.0)

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

    def predict(self, rows: Floats) -> Indices:
        """Return the class indices of the predictions: (n_rows,)."""
        return self.model.vote(*self.model.voters(rows, n_jobs=self.n_jobs)).probabilities.argmax(axis=1)

    def try_rows(self, rows: Floats) -> tuple[Indices, Floats]:
        """Return the class indices of predictions, and the votes of a wider neighborhood, to see progress.

        Among the nearest few often none has the wanted label, whatever a small step leads to.
        """
        model = self.model
        k = model.n_voters
        wide = min(max(k, model.wide_neighborhood), len(model.X))
        indices, distances = model.kneighbors(rows, wide, n_jobs=self.n_jobs)
        labels = model.vote(indices[:, :k], distances[:, :k]).probabilities.argmax(axis=1)
        n_votes = model.mean_weight * wide
        return labels, model.count_votes(
            indices, distances, n_votes, model.vote_rule.with_one_vote()
        ).probabilities

    def run(self, queries: Floats, goal: Goal) -> tuple[Floats, Indices]:
        """Return the changed queries, verified by predicting again, and the class indices of predictions.

        A query of which no change was found stays as it is.
        """
        rows, labels = queries.copy(), goal.origins.copy()
        # Extreme values only where typical ones do not reach the goal.
        for typical in self._typical_ends():
            missing = np.flatnonzero(~goal.reached(labels))
            n_changes = (self.n_candidates + len(typical)) * max(self.free.sum(), 1)
            block = max(CHANGED_AT_ONCE // (n_changes * queries.shape[1]), 1)
            for start in range(0, len(missing), block):
                part = missing[start : start + block]
                own, own_goal = queries[part], goal[part]
                ends, starts = self._follow(own, own_goal, *self._paths(own, own_goal, typical))
                before = own[starts]
                ends = self._shrink(before, ends, own_goal[starts])
                sizes, n_changed = self.sizes(ends, before), differ(ends, before).sum(axis=1)
                order = np.lexsort((sizes, n_changed, starts))
                found, first = np.unique(starts[order], return_index=True)
                rows[part[found]] = ends[order[first]]
            labels = self.predict(rows)
            failed = ~goal.reached(labels)
            rows[failed], labels[failed] = queries[failed], goal.origins[failed]
        return rows, labels

    def _paths(self, queries: Floats, goal: Goal, typical: Floats) -> tuple[Floats, Floats]:
        """Return rows to change the queries toward: the nearest of the wanted classes, then typical values.

        Returns
        -------
        ends : (n_queries, n_paths, n_features)
            Allowed values, the most promising rows first; NaN where the feature is not changed.
        preferences : (n_queries, n_paths, n_features)
            From 0 to 1, the feature to change first where votes are equal.
        """
        model, every = self.model, np.arange(self.model.n_classes)
        targets, origins = goal.targets[:, None], goal.origins[:, None]
        allowed = np.where(targets >= 0, every == targets, every != origins)
        indices, _ = model.kneighbors_of_classes(queries, allowed, self.n_candidates, n_jobs=self.n_jobs)
        missing, known = (indices < 0)[:, :, None], np.maximum(indices, 0)
        near = np.where(missing, queries[:, None, :], model.X[known])
        near_sizes = np.where(missing, 0.0, np.maximum(model.contributions(queries, known), 0.0))
        others = np.broadcast_to(typical, (len(queries), *typical.shape))
        ends = np.concatenate([self.nearest_allowed(near), others], axis=1)
        typical_sizes = np.square(self.amounts(typical, queries[:, None, :]))
        sizes = np.concatenate([near_sizes, typical_sizes], axis=1) * self.free
        largest = sizes.max(axis=2, keepdims=True)
        return ends, np.divide(sizes, largest, out=np.zeros_like(sizes), where=largest > 0)

    def _follow(
        self, queries: Floats, goal: Goal, ends: Floats, preferences: Floats
    ) -> tuple[Floats, Indices]:
        """Replace values of the queries by those of other rows until the goal is reached.

        In every step, each path changes the feature after which the votes are nearest to the goal. The first
        step that reaches the goal ends all paths of the query, so that few features change.

        Returns
        -------
        rows : (n_results, n_features)
            Rows that reach the goal.
        origins : (n_results,)
            Their queries.
        """
        import pandas as pd

        n_kept = self.n_candidates
        now = np.repeat(queries[:, None, :], ends.shape[1], axis=1)
        possible = self.free & (ends != now) & ~np.isnan(ends)  # no value becomes a gap
        results, origins = [np.empty((0, queries.shape[1]))], [np.empty(0, np.int64)]
        for _ in range(self.max_features):
            query, path, feature = np.nonzero(possible)
            if len(query) == 0:
                break
            steps = now[query, path]
            steps[np.arange(len(steps)), feature] = ends[query, path, feature]
            labels, votes = self.try_rows(steps)
            step_goal = goal[query]
            there = np.flatnonzero(step_goal.reached(labels))
            cheapest = there[np.lexsort((self.sizes(steps[there], queries[query[there]]), query[there]))]
            kept = cheapest[pd.Series(cheapest).groupby(query[cheapest]).cumcount() < n_kept]
            results.append(steps[kept])
            origins.append(query[kept])
            possible[query[there]] = False

            progress = np.full(possible.shape, -np.inf)
            preference = preferences[query, path, feature]
            progress[query, path, feature] = step_goal.progress(votes) + TIE * preference
            best, reached = progress.argmax(axis=2), progress.max(axis=2)
            # Only the paths nearest to the goal continue.
            order = np.argsort(-reached, axis=1, kind="stable")
            continued = np.zeros(reached.shape, bool)
            np.put_along_axis(continued, order[:, :n_kept], True, axis=1)
            possible &= continued[:, :, None]
            query, path = np.nonzero(continued & np.isfinite(reached))
            feature = best[query, path]
            now[query, path, feature] = ends[query, path, feature]
            possible[query, path, feature] = False
        return np.concatenate(results), np.concatenate(origins)

    def _shrink(self, queries: Floats, rows: Floats, goal: Goal) -> Floats:
        """Undo every change that is not needed, and make the others as small as the goal allows.

        Parameters
        ----------
        queries, rows : (n_rows, n_features)
            Before and after the changes.
        goal : Goal
            One per row, reached by all.
        """
        rows, every = rows.copy(), np.arange(len(rows))
        nearest = self.nearest_allowed(queries)
        n_changed = int(differ(rows, queries).sum(axis=1).max(initial=0))
        largest_first = np.argsort(-self.amounts(rows, queries), axis=1, kind="stable")

        def still_reached(features: Indices, values: Floats) -> NDArray[np.bool_]:
            trial = rows.copy()
            trial[every, features] = values
            return goal.reached(self.try_rows(trial)[0])

        for features in largest_first[:, :n_changed].T:
            before, far, near = queries[every, features], rows[every, features], nearest[every, features]
            undone = still_reached(features, before)
            integer = self.integer[features]
            # Nothing lies between two categories, or between a gap and a value.
            whole = self.category[features] | np.isnan(before)
            for _ in range(BISECTIONS):
                middle = (near + far) / 2
                # Integers next to `near`, so that it is tried itself when nothing lies between.
                middle = np.where(integer, np.where(far > near, np.floor(middle), np.ceil(middle)), middle)
                middle = np.where(whole, far, middle)
                there = still_reached(features, middle)
                near, far = np.where(there, near, middle), np.where(there, middle, far)
            rows[every, features] = np.where(undone, before, far)
        return rows

    def _typical_ends(self) -> tuple[Floats, Floats]:
        """Return typical rows, and extreme ones for where these do not suffice: (n_rows, n_features) each.

        Numbers are quantiles, and the ends of the range. Of categories the most frequent ones come first; the
        extreme rows have the others, as long as there are not too many.
        """
        data, typical = self.model.X, self.model.typical_values.copy()
        ordered = {}
        for feature in np.flatnonzero(self.category):
            codes, counts = np.unique(data[~np.isnan(data[:, feature]), feature], return_counts=True)
            ordered[feature] = codes[np.argsort(-counts, kind="stable")]
            typical[:, feature] = np.resize(ordered[feature], len(typical))
        n_more = max((len(codes) - len(typical) for codes in ordered.values()), default=0)
        extreme = np.full((max(2, min(n_more, MOST_CATEGORIES)), data.shape[1]), np.nan)
        extreme[:2] = np.stack([self.low, self.high])
        for feature, codes in ordered.items():
            others = codes[len(typical) :][: len(extreme)]
            extreme[:, feature] = np.nan
            extreme[: len(others), feature] = others
        return self.nearest_allowed(typical), self.nearest_allowed(extreme)


def _feature_mask(parameter: str, features: Iterable[Any], names: list[Any]) -> NDArray[np.bool_]:
    """Return a mask of features given by names or positions: (n_features,)."""
    mask = np.zeros(len(names), bool)
    listed: Iterable[Any] = [features] if isinstance(features, str) else features
    for feature in listed:
        is_position = isinstance(feature, int | np.integer) and not isinstance(feature, bool)
        if not (-len(names) <= feature < len(names) if is_position else feature in names):
            raise ValueError(
                f"{parameter} must have names of features or positions below {len(names)}; got "
                f"{shown(feature)}."
            )
        mask[feature if is_position else names.index(feature)] = True
    return mask


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
