"""Deletion and insertion curves: the prediction's probability as features are replaced, one after another."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.common.arrays import Floats, Indices
from benchmarks.engine import Values, seconds_of
from benchmarks.explanations.model_agnostic import kernel_shap_values
from benchmarks.explanations.tasks import Task
from lann.explain import nearest_other_class

N_DONORS = 10
N_TURNS = 3
SUPPORT, RELEVANCES, KERNEL, RANDOM = "lann-support", "lann", "kernel-shap-lann", "random"
AREAS = ("deletion", "insertion", "near_deletion", "near_insertion")


def score_curves(model: Any, task: Task, n_rows: int, *, with_shap: bool) -> dict[str, Values]:
    """
    Rank the features of test rows in several ways, and replace them in this order.

    Parameters
    ----------
    model
        A LANNClassifier, fitted on the task.
    task
        All test rows are explained at once to time it; curves are those of the first ones.
    n_rows
        How many of them.
    with_shap
        Whether KernelSHAP explains the rows, too.

    Returns
    -------
    values
        By method. ``deletion``, ``insertion``: mean areas under the curves with the values of random training
        rows. ``near_deletion``, ``near_insertion``: with those of the nearest row of another class. Names
        with ``_rows``: of each row. ``seconds``: to explain a row; None for the random order.
    """
    queries = task.X_test[:n_rows]
    rng = np.random.default_rng(task.seed)
    donors = task.X[rng.integers(len(task.X), size=(len(queries), N_DONORS))]
    near = nearest_other_class(model, queries).values[:, None]
    ranked: dict[str, tuple[Floats, float | None]] = {
        SUPPORT: _timed_batch(lambda rows: model.explain(rows, leave_out=None).support, task.X_test, n_rows),
        RELEVANCES: _timed_batch(
            lambda rows: model.explain(rows, leave_out=None).relevances, task.X_test, n_rows
        ),
    }
    if with_shap:
        ranked[KERNEL] = _timed_rows(kernel_shap_values(model, task), queries)
    ranked[RANDOM] = rng.random(queries.shape), None
    found = {}
    for method, (values, seconds) in ranked.items():
        order = np.argsort(-values, axis=1, kind="stable")
        areas = (
            *curve_areas(model.predict_proba, queries, order, donors),
            *curve_areas(model.predict_proba, queries, order, near),
        )
        rows = {f"{name}_rows": area.tolist() for name, area in zip(AREAS, areas, strict=True)}
        means = {name: float(area.mean()) for name, area in zip(AREAS, areas, strict=True)}
        found[method] = {**means, **rows, "seconds": seconds, "n_rows": len(queries)}
    return found


def curve_areas(
    predict_proba: Callable[[Floats], Floats], queries: Floats, order: Indices, donors: Floats
) -> tuple[Floats, Floats]:
    """
    Return the areas under the deletion and the insertion curve of each query.

    The deletion curve is the probability of the predicted label as the features of the query take the values
    of another row, in the given order; small areas are good. The insertion curve begins at the other row, and
    its features take the values of the query; large areas are good.

    Parameters
    ----------
    predict_proba
        From (n, n_features) to (n, n_classes).
    queries : (n_queries, n_features)
    order : (n_queries, n_features) columns, those for the prediction first
    donors : (n_queries, n_donors, n_features) the other rows

    Returns
    -------
    deletion, insertion : (n_queries,) means over the donors; 1 if the probability is always 1

    Examples
    --------
    >>> import numpy as np
    >>> def by_first_feature(X):
    ...     return np.column_stack([X[:, 0] <= 0, X[:, 0] > 0]).astype(float)
    >>> query, donor = np.array([[1.0, 1.0]]), np.array([[[-1.0, -1.0]]])
    >>> [area.tolist() for area in curve_areas(by_first_feature, query, np.array([[0, 1]]), donor)]
    [[0.25], [0.75]]
    >>> [area.tolist() for area in curve_areas(by_first_feature, query, np.array([[1, 0]]), donor)]
    [[0.75], [0.25]]
    """
    n_queries, n_features = queries.shape
    predicted = predict_proba(queries).argmax(axis=1)
    # Whether a feature is among the first ones at each stop: (n_queries, n_stops, n_features).
    is_first = np.argsort(order, axis=1)[:, None, :] < np.arange(n_features + 1)[:, None]

    def area(start: Floats, end: Floats) -> Floats:
        """Return the area as features of `start` take the values of `end`, both (n_queries, n_features)."""
        stops = np.where(is_first, end[:, None, :], start[:, None, :])
        probabilities = predict_proba(stops.reshape(-1, n_features)).reshape(n_queries, n_features + 1, -1)
        curve = probabilities[np.arange(n_queries), :, predicted]
        return 0.5 * (curve[:, 1:] + curve[:, :-1]).mean(axis=1)

    others = [donors[:, number] for number in range(donors.shape[1])]
    deletion = np.mean([area(queries, other) for other in others], axis=0)
    insertion = np.mean([area(other, queries) for other in others], axis=0)
    return deletion, insertion


def _timed_batch(explain: Callable[[Floats], Floats], rows: Floats, n_kept: int) -> tuple[Floats, float]:
    """Return the first explanations of a batch, and the median of the seconds per row."""
    values = explain(rows)
    times = [seconds_of(partial(explain, rows)) / len(rows) for _ in range(N_TURNS)]
    return values[:n_kept], statistics.median(times)


def _timed_rows(explain: Callable[[Floats], Floats], rows: Floats) -> tuple[Floats, float]:
    """Return the explanations of single rows, and the median of the seconds."""
    values: list[Floats] = []
    times = [
        seconds_of(lambda row=row: values.append(explain(row)))  # type: ignore[misc]
        for row in np.split(rows, len(rows))
    ]
    return np.concatenate(values), statistics.median(times)
