"""What a search for counterfactuals starts from: the labels of rows, the limits, and rows to walk toward."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann._inputs import as_fitted
from lann._types import Floats, Indices
from lann.explain.contrast import check_target
from lann.explain.counterfactual_search import Ask, Goal, Limits
from lann.explain.voters import Voters, nearest_of_classes
from lann.metrics.diagonal import DiagonalMetric
from lann.search import ExactSearch

# From queries and the classes they allow to rows of data that have these, and what sets them apart:
# (n_queries, k, n_features) twice; where there are fewer than k rows, the query itself.
Nearest = Callable[[Floats, NDArray[np.bool_], int], tuple[Floats, Floats]]


def asking(clf: Any, voters: Voters | None) -> Ask:
    """Labels of rows, and shares of the classes that tell how near another label is.

    Where training points vote, the shares are those of a wider neighborhood than that of the label: among
    the nearest few often nobody has the label that is wanted, wherever a small step leads.
    """
    if voters is not None:
        return lambda rows: _wide_vote(voters, rows)

    def ask(rows: Floats) -> tuple[Indices, Floats | None]:
        if len(rows) == 0:
            return np.empty(0, np.int64), None
        shares = clf.predict_proba(as_fitted(clf, rows)) if hasattr(clf, "predict_proba") else None
        return predicted_places(clf, rows), shares

    return ask


def predicted_places(clf: Any, rows: Floats) -> Indices:
    """Where the predictions stand among the classes: (n_rows,)."""
    return np.searchsorted(clf.classes_, clf.predict(as_fitted(clf, rows)))


def _wide_vote(voters: Voters, rows: Floats) -> tuple[Indices, Floats]:
    k = voters.n_voters
    indices, distances = voters.nearest(rows, min(max(k, voters.n_wide), len(voters.X)))
    near, lengths = indices[:, :k], distances[:, :k]
    label = voters.votes(voters.shares(near, lengths), near).argmax(axis=1)
    return label, voters.votes(voters.shares(indices, distances), indices)


def find_limits(
    data: Floats, names: NDArray[Any], frozen: Iterable[Any], integers: str | Iterable[Any]
) -> Limits:
    """Which changes are allowed: see `counterfactuals`."""
    if isinstance(integers, str):
        if integers != "auto":
            raise ValueError(f"integers must be 'auto' or a list of features; got {integers!r}.")
        whole = (data == np.rint(data)).all(axis=0)
    else:
        whole = _mask("integers", integers, names)
    spread = data.std(axis=0)
    return Limits(
        low=data.min(axis=0),
        high=data.max(axis=0),
        scale=np.where(spread > 0, spread, 1.0),
        free=~_mask("frozen", frozen, names),
        whole=whole,
    )


def _mask(parameter: str, wanted: Iterable[Any], names: NDArray[Any]) -> NDArray[np.bool_]:
    """Features given by names or places: (n_features,)."""
    mask, known = np.zeros(len(names), bool), list(names)
    asked = [wanted] if isinstance(wanted, str) else list(wanted) if isinstance(wanted, Iterable) else None
    if asked is None or any(isinstance(feature, bool | np.bool_) for feature in asked):
        raise ValueError(f"{parameter} must be a list of names or places of features; got {wanted!r}.")
    for feature in asked:
        is_place = isinstance(feature, int | np.integer) and -len(names) <= feature < len(names)
        if not is_place and feature not in known:
            raise ValueError(
                f"{parameter} must have names of features or places below {len(names)}; got {feature!r}."
            )
        mask[feature if is_place else known.index(feature)] = True
    return mask


def target_places(target: Any, classes: NDArray[Any], n_queries: int) -> Indices:
    """The place of the wanted label among the classes, -1 where any other will do: (n_queries,)."""
    if target is None:
        return np.full(n_queries, -1)
    targets = np.atleast_1d(np.asarray(target))
    for label in np.unique(targets).tolist():
        check_target(label, classes)
    if targets.shape not in ((1,), (n_queries,)):
        raise ValueError(
            f"target must be one label, or one for each of the {n_queries} rows; got shape {targets.shape}."
        )
    return np.broadcast_to(np.searchsorted(classes, targets), (n_queries,))


def nearest_by_voters(voters: Voters) -> Nearest:
    """Training points of other classes, as they measure, and what each feature adds to their distance."""

    def nearest(queries: Floats, allowed: NDArray[np.bool_], k: int) -> tuple[Floats, Floats]:
        indices, _ = voters.nearest_of(queries, allowed, k)
        missing = (indices < 0)[:, :, None]
        known = np.maximum(indices, 0)
        apart = np.where(missing, 0.0, np.maximum(voters.contributions(queries, known), 0.0))
        return np.where(missing, queries[:, None, :], voters.X[known]), apart

    return nearest


def nearest_in_data(data: Floats, scale: Floats, ask: Ask) -> Nearest:
    """Rows of data that the classifier gives other labels, by standardized differences."""
    labels, _ = ask(data)
    metric = DiagonalMetric(data / scale, np.ones(data.shape[1]))

    def nearest(queries: Floats, allowed: NDArray[np.bool_], k: int) -> tuple[Floats, Floats]:
        indices, _ = nearest_of_classes(
            queries / scale, labels, allowed, k, lambda rows, _: ExactSearch(metric.subset(rows))
        )
        missing = (indices < 0)[:, :, None]
        rows = np.where(missing, queries[:, None, :], data[np.maximum(indices, 0)])
        return rows, np.square((rows - queries[:, None, :]) / scale)

    return nearest


def ways(
    queries: Floats, goal: Goal, nearest: Nearest, usual: Floats, limits: Limits, *, n_classes: int, k: int
) -> tuple[Floats, Floats]:
    """Rows to walk toward, the nearest first and then usual values; and the pull of every feature.

    usual : (n_usual, n_features)

    Returns
    -------
    toward, pulls : (n_queries, k + n_usual, n_features)
    """
    every = np.arange(n_classes)
    allowed = np.where(
        goal.targets[:, None] >= 0, every == goal.targets[:, None], every != goal.origins[:, None]
    )
    near, apart = nearest(queries, allowed, k)
    both = np.concatenate([limits.settle(near), np.broadcast_to(usual, (len(queries), *usual.shape))], axis=1)
    steps = np.square((usual - queries[:, None, :]) / limits.scale)
    pulls = np.concatenate([apart, steps], axis=1) * limits.free
    strongest = pulls.max(axis=2, keepdims=True)
    return both, np.divide(pulls, strongest, out=np.zeros_like(pulls), where=strongest > 0)
