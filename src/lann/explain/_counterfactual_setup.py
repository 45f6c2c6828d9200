"""What a search for counterfactuals starts from.

Predictions, limits, and rows to change the queries toward.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann._table_inputs import as_fitted
from lann._types import Floats, Indices
from lann._validation import shown
from lann.encoding import TableSchema
from lann.explain._counterfactual_search import (
    MANY_FEATURES,
    MOST_TRIED,
    Goal,
    Limits,
    Paths,
    Predictor,
)
from lann.explain._fitted import check_label, is_one_of
from lann.metrics import DiagonalMetric
from lann.model import NeighborModel, nearest_of_classes, typical_values
from lann.search import ExactSearch

# Categories of a feature that are tried beyond the most frequent ones.
MOST_CATEGORIES = 32

# From queries, the classes allowed for each, and a number k to k rows of these classes and the size of their
# differences by feature: (n_queries, k, n_features) each; where there are fewer rows, the query itself.
NearestRows = Callable[[Floats, NDArray[np.bool_], int], tuple[Floats, Floats]]


def make_predictor(clf: Any, model: NeighborModel | None) -> Predictor:
    """Return a function from rows to predicted class indices, and probabilities that show progress.

    Where training rows vote, the probabilities are those of a wider neighborhood than the prediction's: among
    the nearest few often none has the wanted label, whatever a small step leads to.
    """
    if model is not None:
        return lambda rows: _wide_vote(model, rows, clf.n_jobs)

    def predictor(rows: Floats) -> tuple[Indices, Floats | None]:
        if len(rows) == 0:
            return np.empty(0, np.int64), None
        shares = clf.predict_proba(as_fitted(clf, rows)) if hasattr(clf, "predict_proba") else None
        return predicted_class_indices(clf, rows), shares

    return predictor


def predicted_class_indices(clf: Any, rows: Floats) -> Indices:
    """Return the class indices of the predictions: (n_rows,)."""
    if not is_numeric(clf):  # the vote of `predict`, without the way through a table
        model = clf.model_
        return model.vote(*model.voters(rows, n_jobs=clf.n_jobs)).probabilities.argmax(axis=1)
    return np.searchsorted(clf.classes_, clf.predict(as_fitted(clf, rows)))


def _wide_vote(model: NeighborModel, rows: Floats, n_jobs: int | None) -> tuple[Indices, Floats]:
    k = model.n_voters
    wide = min(max(k, model.wide_neighborhood), len(model.X))
    indices, distances = model.kneighbors(rows, wide, n_jobs=n_jobs)
    label = model.vote(indices[:, :k], distances[:, :k]).probabilities.argmax(axis=1)
    return label, model.wide_vote(indices, distances).probabilities


def is_numeric(clf: Any) -> bool:
    """Return whether all features of a classifier are numbers."""
    schema: TableSchema | None = getattr(clf, "schema_", None)
    return schema is None or schema.is_numeric


def find_limits(
    data: Floats,
    names: NDArray[Any],
    frozen: Iterable[Any],
    integers: str | Iterable[Any],
    schema: TableSchema | None = None,
) -> Limits:
    """Return which changes are allowed: see `counterfactuals`."""
    kinds = np.array([f.kind for f in schema.features] if schema else ["number"] * data.shape[1])
    category = kinds == "category"
    if isinstance(integers, str):
        if integers != "auto":
            raise ValueError(f"integers must be 'auto' or a list of features; got {shown(integers)}.")
        integer = ((data == np.rint(data)) | np.isnan(data)).all(axis=0)
    else:
        integer = _feature_mask("integers", integers, names)
    spread = np.nanstd(data, axis=0) if np.isnan(data).any() else data.std(axis=0)
    return Limits(
        low=np.nanmin(data, axis=0),
        high=np.nanmax(data, axis=0),
        scale=np.where((spread > 0) & ~category, spread, 1.0),
        free=~_feature_mask("frozen", frozen, names),
        # Bools, ordered categories and dates stay on their steps.
        integer=integer | ((kinds != "number") & ~category),
        category=category,
    )


def of_many_features(limits: Limits, model: NeighborModel) -> Limits:
    """Return limits in which, of many features, only those with the largest weights may change."""
    if len(limits.free) <= MANY_FEATURES:
        return limits
    weights = np.where(limits.free, model.feature_weights().mean(axis=0), -1.0)
    free = np.zeros(len(weights), bool)
    free[np.argsort(-weights, kind="stable")[:MOST_TRIED]] = True
    return replace(limits, free=free & limits.free)


def typical_ends(data: Floats, limits: Limits) -> tuple[Floats, Floats]:
    """Return typical rows, and extreme ones for where these do not suffice: (n_rows, n_features) each.

    Numbers are quantiles, and the ends of the range. Of categories the most frequent ones come first; the
    extreme rows have the others, as long as there are not too many.
    """
    typical = typical_values(data)
    ordered = {}
    for feature in np.flatnonzero(limits.category):
        codes, counts = np.unique(data[:, feature][~np.isnan(data[:, feature])], return_counts=True)
        ordered[feature] = codes[np.argsort(-counts, kind="stable")]
        typical[:, feature] = np.resize(ordered[feature], len(typical))
    n_more = max((len(codes) - len(typical) for codes in ordered.values()), default=0)
    n_rows = max(2, min(n_more, MOST_CATEGORIES))
    extreme = np.full((n_rows, data.shape[1]), np.nan)
    extreme[:2] = np.stack([limits.low, limits.high])
    for feature, codes in ordered.items():
        others = codes[len(typical) :][:n_rows]
        extreme[:, feature] = np.nan
        extreme[: len(others), feature] = others
    return limits.nearest_allowed(typical), limits.nearest_allowed(extreme)


def _feature_mask(parameter: str, features: Iterable[Any], names: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of features given by names or positions: (n_features,)."""
    mask, known = np.zeros(len(names), bool), list(names)
    given = [features] if isinstance(features, str) else None
    if given is None and isinstance(features, Iterable) and getattr(features, "ndim", 1) > 0:
        given = list(features)
    if given is None or any(isinstance(feature, bool | np.bool_) for feature in given):
        raise ValueError(
            f"{parameter} must be a list of names or positions of features; got {shown(features)}."
        )
    for feature in given:
        is_position = isinstance(feature, int | np.integer) and -len(names) <= feature < len(names)
        if not is_position and not is_one_of(feature, known):
            raise ValueError(
                f"{parameter} must have names of features or positions below {len(names)}; got "
                f"{shown(feature)}."
            )
        mask[feature if is_position else known.index(feature)] = True
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


def nearest_training_rows(model: NeighborModel, n_jobs: int | None) -> NearestRows:
    """Return a search for training rows, as they measure."""

    def nearest(queries: Floats, allowed: NDArray[np.bool_], k: int) -> tuple[Floats, Floats]:
        indices, _ = model.kneighbors_of_classes(queries, allowed, k, n_jobs=n_jobs)
        missing = (indices < 0)[:, :, None]
        known = np.maximum(indices, 0)
        sizes = np.where(missing, 0.0, np.maximum(model.contributions(queries, known), 0.0))
        return np.where(missing, queries[:, None, :], model.X[known]), sizes

    return nearest


def nearest_data_rows(
    data: Floats, limits: Limits, predictor: Predictor, model: NeighborModel | None
) -> NearestRows:
    """Return a search for rows of data by their predictions and standardized differences.

    With categories or gaps, differences are those on the axes of the model.
    """
    labels, _ = predictor(data)
    on_axes = model is not None and (limits.category.any() or np.isnan(data).any())

    def coordinates(rows: Floats) -> Floats:
        return model.transform(rows) if on_axes and model is not None else rows / limits.scale

    points = coordinates(data)
    metric = DiagonalMetric(points, np.ones(points.shape[1]))

    def nearest(queries: Floats, allowed: NDArray[np.bool_], k: int) -> tuple[Floats, Floats]:
        indices, _ = nearest_of_classes(
            coordinates(queries), labels, allowed, k, lambda rows, _: ExactSearch(metric.subset(rows))
        )
        missing = (indices < 0)[:, :, None]
        rows = np.where(missing, queries[:, None, :], data[np.maximum(indices, 0)])
        return rows, np.square(limits.amounts(rows, queries[:, None, :]))

    return nearest


def find_paths(
    queries: Floats, goal: Goal, nearest: NearestRows, typical: Floats, limits: Limits, *, n_classes: int, k:
    int
) -> Paths:  # fmt: skip
    """Return rows to change the queries toward: the k nearest of the wanted classes, then typical values.

    Parameters
    ----------
    typical : (n_typical, n_features)
    """
    every = np.arange(n_classes)
    allowed = np.where(
        goal.targets[:, None] >= 0, every == goal.targets[:, None], every != goal.origins[:, None]
    )
    near, near_sizes = nearest(queries, allowed, k)
    ends = np.concatenate(
        [limits.nearest_allowed(near), np.broadcast_to(typical, (len(queries), *typical.shape))], axis=1
    )
    typical_sizes = np.square(limits.amounts(typical, queries[:, None, :]))
    sizes = np.concatenate([near_sizes, typical_sizes], axis=1) * limits.free
    largest = sizes.max(axis=2, keepdims=True)
    return Paths(ends, np.divide(sizes, largest, out=np.zeros_like(sizes), where=largest > 0))
