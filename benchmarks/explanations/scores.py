"""What is measured of explanations."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import lann
from benchmarks.explanations.data import ALL, KINDS, Sizes, Task, data_name, kind_task, planted_task
from benchmarks.explanations.explainers import (
    GATE,
    GLOBAL,
    N_CITIES,
    OURS,
    Explain,
    Explainer,
    TableExplainer,
    kernel_shap,
    kernel_shap_values,
    support_of_predictions,
)
from benchmarks.harness import Found, Values, seconds_of, time_in_turns
from benchmarks.methods import make_estimator
from lann._support.types import Floats, Indices, Labels
from lann.datasets import make_local_relevance_table
from lann.explain import group_features, nearest_other_class, queries_of, reference_rows, walk_plan

Mask = NDArray[np.bool_]


def planted_auc(relevances: ArrayLike, planted: ArrayLike) -> Floats:
    """
    Return the area under the ROC curve: how often a planted feature is more relevant than one that is not.

    Parameters
    ----------
    relevances : (n_queries, n_features)
    planted : (n_queries, n_features) True for relevant features

    Returns
    -------
    areas : (n_queries,) 1 if all planted features come first, .5 by chance; NaN if all or none are planted

    Examples
    --------
    >>> planted_auc([[3, 1, 2, 0], [1, 1, 1, 1]], [[True, False, True, False]] * 2).tolist()
    [1.0, 0.5]
    """
    from scipy.stats import rankdata

    found, mask = _checked(relevances, planted)
    n_planted = mask.sum(axis=1)
    pairs = n_planted * (mask.shape[1] - n_planted)
    # Mann–Whitney: pairs won, from the sum of the ranks.
    won = (rankdata(found, axis=1) * mask).sum(axis=1) - n_planted * (n_planted + 1) / 2
    return np.divide(won, pairs, out=np.full(len(mask), np.nan), where=pairs > 0)


def top_k_intersection(relevances: ArrayLike, planted: ArrayLike, k: int) -> Floats:
    """
    Return the share of planted features among the k most relevant, of as many as there can be.

    Parameters
    ----------
    relevances : (n_queries, n_features)
    planted : (n_queries, n_features) True for relevant features
    k
        Number of most relevant features that count.

    Returns
    -------
    shares : (n_queries,) NaN if nothing is planted

    Examples
    --------
    >>> top_k_intersection([[4, 3, 2, 1]], [[True, False, False, True]], k=3).tolist()
    [0.5]
    """
    found, mask = _checked(relevances, planted)
    if not 1 <= k <= found.shape[1]:
        raise ValueError(f"k={k} must be from 1 to {found.shape[1]}, the number of features.")
    return _share_among_top(found, mask, np.full(len(found), k))


def rank_accuracy(relevances: ArrayLike, planted: ArrayLike) -> Floats:
    """
    Return the relevance rank accuracy: the top-k intersection with k the number of planted features.

    Parameters
    ----------
    relevances : (n_queries, n_features)
    planted : (n_queries, n_features) True for relevant features

    Returns
    -------
    shares : (n_queries,) NaN if nothing is planted

    References
    ----------
    L. Arras, A. Osman, W. Samek: CLEVR-XAI: A benchmark dataset for the ground truth evaluation of neural
    network explanations, Information Fusion 81 (2022), 14–40.

    Examples
    --------
    >>> rank_accuracy([[4, 3, 2, 1]], [[True, False, True, False]]).tolist()
    [0.5]
    """
    found, mask = _checked(relevances, planted)
    return _share_among_top(found, mask, mask.sum(axis=1))


def mass_accuracy(relevances: ArrayLike, planted: ArrayLike) -> Floats:
    """
    Return the relevance mass accuracy: the share of the relevance on planted features.

    A row without any relevance counts as if all features had the same.

    Parameters
    ----------
    relevances : (n_queries, n_features)
    planted : (n_queries, n_features) True for relevant features

    Returns
    -------
    shares : (n_queries,)

    References
    ----------
    L. Arras, A. Osman, W. Samek: CLEVR-XAI: A benchmark dataset for the ground truth evaluation of neural
    network explanations, Information Fusion 81 (2022), 14–40.

    Examples
    --------
    >>> mass_accuracy([[6, 1, 2, 1]], [[True, False, True, False]]).tolist()
    [0.8]
    """
    found, mask = _checked(relevances, planted)
    total = found.sum(axis=1)
    return np.divide((found * mask).sum(axis=1), total, out=mask.mean(axis=1), where=total > 0)


def sparseness(relevances: ArrayLike) -> Floats:
    """
    Return the Gini index: 0 if all features are equally relevant, near 1 if few have all the relevance.

    Parameters
    ----------
    relevances : (n_queries, n_features)

    Returns
    -------
    indices : (n_queries,) 0 for a row without any relevance

    References
    ----------
    P. Chalasani, J. Chen, A. R. Chowdhury, S. Jha, X. Wu: Concise Explanations of Neural Networks using
    Adversarial Training, ICML 2020.

    Examples
    --------
    >>> sparseness([[1, 1, 1, 1], [0, 0, 0, 1]]).tolist()
    [0.0, 0.75]
    """
    found = np.sort(_not_negative(relevances), axis=1)
    n_features = found.shape[1]
    weights = 2 * np.arange(1, n_features + 1) - n_features - 1
    total = n_features * found.sum(axis=1)
    return np.divide(found @ weights, total, out=np.zeros(len(found)), where=total > 0)


def similarity(relevances: ArrayLike, others: ArrayLike) -> Floats:
    """
    Return the cosine similarity of explanations, row by row.

    For a query and a perturbation of it, this is the stability of a method.

    Parameters
    ----------
    relevances, others : (n_queries, n_features)

    Returns
    -------
    cosines : (n_queries,) 0 if either row has no relevance

    Examples
    --------
    >>> similarity([[3, 4], [1, 0]], [[6, 8], [0, 1]]).tolist()
    [1.0, 0.0]
    """
    left, right = _not_negative(relevances), _not_negative(others)
    if left.shape != right.shape:
        raise ValueError(f"Explanations of shape {left.shape} cannot be compared with {right.shape}.")
    norms = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    return np.divide((left * right).sum(axis=1), norms, out=np.zeros(len(left)), where=norms > 0)


def most_relevant(relevances: ArrayLike, k: int) -> Indices:
    """
    Return the columns of the k most relevant features of each query, most relevant first: (n_queries, k).

    Examples
    --------
    >>> most_relevant([[1, 3, 2]], 2).tolist()
    [[1, 2]]
    """
    return np.argsort(-_not_negative(relevances), axis=1, kind="stable")[:, :k]


def probability_change(
    predict_proba: Callable[[Floats], Floats],
    queries: Floats,
    features: Indices,
    pool: Floats,
    *,
    n_draws: int = 10,
    random_state: int = 0,
) -> Floats:
    """
    Return how much the probability of the predicted label changes when features are replaced.

    In each draw, all given features of a query are replaced at once by the values of one row of the pool. An
    explanation is faithful if its features change the probability more than random features do.

    Parameters
    ----------
    predict_proba
        From (n, n_features) to (n, n_classes).
    queries : (n_queries, n_features)
    features : (n_queries, k), or (n_draws, n_queries, k) for other features in every draw
        Columns to replace.
    pool : (n_rows, n_features)
        Rows whose values are used, such as the training rows.
    n_draws
        Number of draws for each query.
    random_state
        Seed of the draws.

    Returns
    -------
    changes : (n_queries,) mean absolute change over the draws

    Examples
    --------
    >>> import numpy as np
    >>> def by_first_feature(X):
    ...     return np.column_stack([X[:, 0] <= 0, X[:, 0] > 0]).astype(float)
    >>> X = np.array([[-1.0, 5.0], [1.0, 6.0]])
    >>> probability_change(by_first_feature, X, np.array([[0], [0]]), X[::-1], n_draws=1000).round(1).tolist()
    [0.5, 0.5]
    >>> probability_change(by_first_feature, X, np.array([[1], [1]]), X).tolist()
    [0.0, 0.0]
    """
    rng = np.random.default_rng(random_state)
    rows = np.arange(len(queries))
    before = predict_proba(queries)
    predicted = before.argmax(axis=1)
    drawn = np.broadcast_to(features, (n_draws, *features.shape[-2:]))
    change = np.zeros(len(queries))
    for columns in drawn:  # one draw at a time: no more memory than the queries have
        donors = rng.integers(len(pool), size=len(queries))
        changed = queries.copy()
        changed[rows[:, None], columns] = pool[donors[:, None], columns]
        change += np.abs(predict_proba(changed)[rows, predicted] - before[rows, predicted])
    return change / n_draws


def _share_among_top(found: Floats, mask: Mask, k: Indices) -> Floats:
    """Return the expected share of planted features among the k[i] most relevant of row i."""
    rows, last = np.arange(len(found)), np.maximum(k, 1) - 1
    least = -np.sort(-found, axis=1)[rows, last][:, None]  # (n_queries, 1) relevance of the last one
    above, tied = found > least, found == least
    # The remaining features are drawn among the tied ones.
    share = (k - above.sum(axis=1)) / tied.sum(axis=1)
    hits = (mask & above).sum(axis=1) + share * (mask & tied).sum(axis=1)
    possible = np.minimum(k, mask.sum(axis=1))
    return np.divide(hits, possible, out=np.full(len(found), np.nan), where=possible > 0)


def _checked(relevances: ArrayLike, planted: ArrayLike) -> tuple[Floats, Mask]:
    found, mask = _not_negative(relevances), np.asarray(planted, dtype=bool)
    if found.shape != mask.shape:
        raise ValueError(f"Relevances of shape {found.shape} cannot be compared with a mask of {mask.shape}.")
    return found, mask


def _not_negative(relevances: ArrayLike) -> Floats:
    found = np.asarray(relevances, dtype=np.float64)
    if found.ndim != 2:
        raise ValueError(f"Relevances must have one row per query; got an array of {found.ndim} dimensions.")
    if not (found >= 0).all():  # also if NaN
        worst = found[~(found >= 0)][0]
        raise ValueError(f"Relevances must not be negative; got {worst}. Take the absolute values first.")
    return found


SCORES = (
    "auc", "top_3", "rank", "mass", "deletion", "random_deletion", "stability", "sparseness", "seconds",
)  # fmt: skip

# Number of most relevant features that are counted or replaced.
N_TOP = 3
N_DRAWS = 10
# Size of the perturbation for the stability, in standard deviations of the features.
PERTURBATION = 0.05


def score_explanations(explainer: Explainer, model: Any, task: Task, n_rows: int, n_perturbed: int) -> Values:
    """
    Explain the first test rows of a task, and score the explanations.

    Parameters
    ----------
    explainer
        The explanation method.
    model
        Its model, fitted on the task.
    task
        Data with planted features.
    n_rows, n_perturbed
        How many rows are explained, and how many of them once more with a perturbation.

    Returns
    -------
    values
        Means over the rows. ``auc``, ``top_3``, ``rank``, ``mass``: agreement with the planted features, see
        `scores`. ``deletion``, ``random_deletion``: change of the probability of the prediction when the 3
        most relevant features, or 3 random ones, are replaced. ``stability``: similarity of the explanations
        of a row and of the perturbed row. ``sparseness``: Gini index. ``seconds``: to explain a row; None if
        one ranking serves all rows. ``aucs``: the AUC of every row.
    """
    explain = explainer.prepare(model, task)
    queries = task.X_test[:n_rows]
    if explainer.rows == ALL:  # the others compile nothing, and are slow
        explain(queries[:1])
    relevances, seconds = _timed(explain, queries)
    rng = np.random.default_rng(task.seed)
    perturbed = queries[:n_perturbed] + PERTURBATION * rng.standard_normal((n_perturbed, queries.shape[1]))
    found, planted, of_perturbed = (
        np.delete(values, task.ignored, axis=1)
        for values in (relevances, task.planted[:n_rows], explain(perturbed))
    )
    aucs = planted_auc(found, planted)
    change, random_change = deletion(model, queries, relevances, task.X, task.seed)
    return {
        "auc": float(aucs.mean()),
        "top_3": float(top_k_intersection(found, planted, N_TOP).mean()),
        "rank": float(rank_accuracy(found, planted).mean()),
        "mass": float(mass_accuracy(found, planted).mean()),
        "deletion": change,
        "random_deletion": random_change,
        "stability": float(similarity(found[:n_perturbed], of_perturbed).mean()),
        "sparseness": float(sparseness(found).mean()),
        "seconds": None if explainer.group == GLOBAL else seconds / n_rows,
        "n_rows": len(aucs),
        "aucs": aucs.tolist(),
    }


def permuted_auc(explainer: Explainer, model: Any, task: Task) -> float:
    """Return the mean AUC of a model that was fitted on permuted labels.

    Without relevant features, a model still ranks features, and much alike for all queries: the AUC of a
    single fit says little, and only the mean over many fits is to be .5.
    """
    found = np.delete(explainer.prepare(model, task)(task.X_test), task.ignored, axis=1)
    return float(planted_auc(found, np.delete(task.planted, task.ignored, axis=1)).mean())


def deletion(model: Any, queries: Floats, relevances: Floats, pool: Floats, seed: int) -> tuple[float, float]:
    """Return the mean changes of the prediction's probability without the top and without random features."""
    top = most_relevant(relevances, N_TOP)
    drawn = _random_features(len(queries), queries.shape[1], seed)
    change, random_change = (
        probability_change(
            model.predict_proba, queries, features, pool, n_draws=N_DRAWS, random_state=seed
        ).mean()
        for features in (top, drawn)
    )
    return float(change), float(random_change)


def _random_features(n_queries: int, n_features: int, seed: int) -> Indices:
    """Draw other features in every draw: (N_DRAWS, n_queries, N_TOP)."""
    order = np.random.default_rng(seed).random((N_DRAWS, n_queries, n_features))
    return order.argsort(axis=2)[:, :, :N_TOP]


def _timed(explain: Explain, queries: Floats) -> tuple[Floats, float]:
    """Return the relevances and the seconds: the median of three turns if these are short."""
    relevances: list[Floats] = []
    times: list[float] = []
    while not times or (times[0] < 1.0 and len(times) < 3):
        times.append(seconds_of(lambda: relevances.append(explain(queries))))
    return relevances[-1], statistics.median(times)


# Entries whose signs are compared.
LARGE = 0.1
# Differences below are rounding errors, and no ranks.
RANKED_DIGITS = 9


def score_faithfulness(model: Any, queries: Floats) -> Values:
    """
    Explain queries, and compare the supports with those of the definition.

    Parameters
    ----------
    model
        A fitted LANNClassifier.
    queries : (n_queries, n_features)

    Returns
    -------
    values
        ``rank``, ``rank_std``, ``rank_min``: rank correlation of the support of the prediction with that of
        the definition, over the features of a row: mean, deviation and minimum over the rows.
        ``wrong_signs``: share of the entries above .1 in absolute value that have the other sign, of
        ``n_large``. ``difference``: the largest one. ``sum_error``: the largest deviation of the definition
        and the base values from the probabilities. ``relevances``: mean rank correlation of the relevances
        with the absolute support. ``n_rows``.
    """
    explanation = model.explain(queries, leave_out=None)
    expected = brute_force_supports(model, explanation)
    found = explanation.supports
    rows, predicted = np.arange(len(queries)), np.searchsorted(model.classes_, explanation.predictions)
    ranks = rank_correlations(found[rows, predicted], expected[rows, predicted])
    around = rank_correlations(explanation.relevances, np.abs(found[rows, predicted]))
    is_large = np.maximum(np.abs(found), np.abs(expected)) > LARGE
    is_wrong = np.sign(found[is_large]) != np.sign(expected[is_large])
    added_up = expected.sum(axis=2) + explanation.base_values
    return {
        "rank": float(ranks.mean()),
        "rank_std": float(ranks.std()),
        "rank_min": float(ranks.min()),
        "wrong_signs": float(is_wrong.mean()) if is_large.any() else 0.0,
        "n_large": int(is_large.sum()),
        "difference": float(np.abs(found - expected).max()),
        "sum_error": float(np.abs(added_up - model.predict_proba(queries)).max()),
        "relevances": float(around.mean()),
        "n_rows": len(queries),
    }


def brute_force_supports(model: Any, explanation: lann.Explanation) -> Floats:
    """
    Return the supports as they are defined, from predictions of all rows on the way.

    Parameters
    ----------
    model
        A fitted LANNClassifier.
    explanation
        Of some rows by this model.

    Returns
    -------
    supports : (n_queries, n_classes, n_features)
    """
    queries, references = np.asarray(queries_of(explanation).numbers), reference_rows(model.model_)
    plan, n_features = walk_plan(queries.shape[1]), queries.shape[1]
    n_alone = plan.positions.shape[1] - (plan.positions.shape[1] < n_features)
    supports = np.zeros((len(queries), len(model.classes_), n_features))
    for row, query in enumerate(queries):
        relevances = explanation.relevances[row]
        by_relevance = np.argsort(-relevances, kind="stable")
        together = by_relevance[n_alone:].tolist()
        alone = by_relevance[:n_alone].tolist() if together else list(range(n_features))
        units = [[feature] for feature in alone] + ([together] if together else [])
        for reference, positions in zip(references, plan.positions, strict=True):
            walk = [units[unit] for unit in np.argsort(positions)]
            supports[row] += _credits(model, query, reference, walk, relevances) / len(references)
    return supports


def _credits(
    model: Any, query: Floats, reference: Floats, walk: list[list[int]], relevances: Floats
) -> Floats:
    """Return what each feature changes between a query and another row: (n_classes, n_features)."""
    credits = np.zeros((len(model.classes_), len(query)))
    for order in (walk, walk[::-1]):
        stops = np.repeat(query[None], len(order) + 1, axis=0)
        for number, features in enumerate(order):
            stops[number + 1 :, features] = reference[features]
        changes = -np.diff(model.predict_proba(stops), axis=0)  # (n_steps, n_classes)
        for features, change in zip(order, changes, strict=True):
            total = relevances[features].sum()
            parts = relevances[features] / total if total > 0 else np.full(len(features), 1 / len(features))
            credits[:, features] += 0.5 * change[:, None] * parts
    return credits


def rank_correlations(values: Floats, others: Floats) -> Floats:
    """
    Return Spearman's rank correlation, row by row.

    Parameters
    ----------
    values, others : (n_rows, n_features)

    Returns
    -------
    correlations : (n_rows,) 1 if both rows are constant, 0 if one is

    Examples
    --------
    >>> import numpy as np
    >>> rank_correlations(np.array([[1, 2, 3], [0, 0, 0]]), np.array([[9, 4, 2], [0, 0, 1e-17]])).tolist()
    [-1.0, 1.0]
    """
    from scipy.stats import rankdata

    left, right = (rankdata(np.round(array, RANKED_DIGITS), axis=1) for array in (values, others))
    left, right = (ranks - ranks.mean(axis=1, keepdims=True) for ranks in (left, right))
    sizes = np.linalg.norm(left, axis=1), np.linalg.norm(right, axis=1)
    norms = sizes[0] * sizes[1]
    both_constant = (sizes[0] == 0) & (sizes[1] == 0)
    return np.divide((left * right).sum(axis=1), norms, out=both_constant.astype(np.float64), where=norms > 0)


# The least share of an answer.
LEAST_SHARE = 0.05


def score_answers(model: Any, queries: Floats) -> Values:
    """
    Explain queries, and return the shares of the rows that have an answer.

    Parameters
    ----------
    model
        A fitted LANNClassifier.
    queries : (n_queries, n_features)

    Returns
    -------
    values
        ``support``, ``relevances``: share of the rows in which one feature has more than 5 % of the sum of
        the absolute supports of the prediction, or of the relevances. ``grouped_support``,
        ``grouped_relevances``: one feature or group of correlated features. ``absolute``: share of the rows
        with a relevance above .05. ``supported``: mean sum of the absolute supports. ``n_rows``.
    """
    explanation = model.explain(queries, leave_out=None)
    support, grouped = (
        np.abs(one.supports[np.arange(len(one)), np.searchsorted(model.classes_, one.predictions)])
        for one in (explanation, group_features(explanation))
    )
    return {
        "support": _answered(support),
        "grouped_support": _answered(support, grouped),
        "relevances": _answered(explanation.relevances),
        "grouped_relevances": _answered(explanation.relevances, group_features(explanation).relevances),
        "absolute": float((explanation.relevances.max(axis=1) > LEAST_SHARE).mean()),
        "supported": float(support.sum(axis=1).mean()),
        "n_rows": len(queries),
    }


def _answered(values: Floats, grouped: Floats | None = None) -> float:
    """Return the share of the rows in which a feature, or group, has more than 5 % of the sum."""
    largest = values.max(axis=1)
    if grouped is not None:
        largest = np.maximum(largest, grouped.max(axis=1))
    return float((largest > LEAST_SHARE * values.sum(axis=1)).mean())


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
        SUPPORT: _timed_batch(partial(support_of_predictions, model), task.X_test, n_rows),
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


N_SINGLE = 20


def measure_cost(model: Any, task: Task, n_turns: int, n_kernel_rows: int, *, with_shap: bool) -> Values:
    """
    Fit the model, explain all test rows of the task, and time it: both sides of a ratio in one process.

    Returns
    -------
    values
        ``fit``, ``first``: seconds to fit, and to explain one row for the first time, which computes the
        landmarks. ``explain``, ``predict``: ``n_rows`` rows at once, the best of the turns. ``one``: a single
        row later on. ``one_in_words``: a
        single row with its supports and its sentence. ``kernel``: KernelSHAP, per row; None without shap.
        ``ratio``: explain / predict. ``speedup``, ``speedup_of_one``: how many times as fast as
        KernelSHAP, per row, if many rows are explained at once or one alone.
    """
    fit = seconds_of(partial(model.fit, task.X, task.y))
    first = seconds_of(partial(model.explain, task.X_test[:1]))
    queries = task.X_test
    times = time_in_turns(lambda: model.explain(queries), lambda: model.predict(queries), repeats=n_turns)
    singles = np.split(queries[:N_SINGLE], len(queries[:N_SINGLE]))
    ones = [seconds_of(partial(model.explain, row)) for row in singles]
    in_words = [seconds_of(partial(_explain_in_words, model, row)) for row in singles]
    kernel = None
    if with_shap:
        explain = kernel_shap(model, task)
        kernel = seconds_of(partial(explain, queries[:n_kernel_rows])) / n_kernel_rows
    values = {
        "fit": fit,
        "first": first,
        "explain": min(times[0]),
        "predict": min(times[1]),
        "n_rows": len(queries),
        "one": statistics.median(ones),
        "one_in_words": statistics.median(in_words),
        "kernel": kernel,
    }
    return values | ratios(values)


def measure_first(model: Any, task: Task, n_turns: int) -> Values:
    """Time the first explanation of a model beside its fit."""
    fit, first = [], []
    for _ in range(n_turns):
        fit.append(seconds_of(partial(model.fit, task.X, task.y)))
        first.append(seconds_of(partial(model.explain, task.X_test[:1])))
    medians = statistics.median(fit), statistics.median(first)
    return {"fit": medians[0], "first": medians[1], "ratio": medians[1] / medians[0]}


def _explain_in_words(model: Any, queries: Floats) -> tuple[Floats, list[str]]:
    explanation = model.explain(queries)
    return explanation.supports, explanation.in_words()


def ratios(values: Values) -> Values:
    """Return the ratios of the seconds that `measure_cost` measured."""
    kernel = values["kernel"]
    return {
        "ratio": values["explain"] / values["predict"],
        "speedup": None if kernel is None else kernel * values["n_rows"] / values["explain"],
        "speedup_of_one": None if kernel is None else kernel / values["one"],
    }


STEPS = ("import", "load", "explain", "again")

EXPLAIN_ONE = """
import json, sys, time
times = [time.perf_counter()]
import numpy as np
import lann
from lann.persist import load
times.append(time.perf_counter())
model = load(sys.argv[1])
times.append(time.perf_counter())
row = np.load(sys.argv[2])
for _ in range(2):
    explanation = model.explain(row)
    explanation.supports, explanation.in_words()
    times.append(time.perf_counter())
print(json.dumps([later - earlier for earlier, later in zip(times, times[1:])]))
"""


def measure_fresh(model: Any, row: Floats, n_turns: int) -> Values:
    """
    Save a model with its landmarks, and let new processes load it and explain a row.

    Parameters
    ----------
    model
        Fitted.
    row : (1, n_features)
    n_turns
        Number of processes, after one that compiles.

    Returns
    -------
    values
        Seconds, medians over the processes. ``import``: of NumPy and lann. ``load``. ``explain``: the first
        explanation, with its supports and its sentence. ``again``: the same once more. ``total``: of the
        first three. ``megabytes``: the size of the file.
    """
    model.explain(row)  # computes the landmarks, which are saved
    with tempfile.TemporaryDirectory() as folder:
        saved, stored = Path(folder) / "model.lann", Path(folder) / "row.npy"
        lann.save(model, saved)
        np.save(stored, row)
        command = [sys.executable, "-W", "ignore", "-c", EXPLAIN_ONE, str(saved), str(stored)]
        turns = [_seconds(command) for _ in range(1 + n_turns)][1:]
        size = saved.stat().st_size
    medians = [statistics.median(times) for times in zip(*turns, strict=True)]
    return {
        **dict(zip(STEPS, medians, strict=True)),
        "total": statistics.median(sum(times[:3]) for times in turns),
        "megabytes": size / 1e6,
    }


def _seconds(command: list[str]) -> list[float]:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    times: list[float] = json.loads(done.stdout)
    return times


MakeTask = Callable[[int, int, int, int], Task]
"""From a seed, the numbers of training and test rows and the number of threads to data."""


class PlantedData:
    """
    Data with planted features, and the models fitted on them.

    Only the models of one data set are held in memory.

    Parameters
    ----------
    sizes
        How much is measured.
    n_jobs
        Number of threads.
    """

    def __init__(self, sizes: Sizes, n_jobs: int) -> None:
        self.sizes, self.n_jobs = sizes, n_jobs
        self._makers: dict[str, MakeTask] = {
            **{data_name(n): partial(planted_task, n) for n in sizes.n_features},
            **{kind: partial(kind_task, kind) for kind in KINDS},
        }
        self._current: tuple[tuple[str, int], Task, dict[str, Any]] | None = None

    def fit(self, model: str, name: str, seed: int) -> Found:
        """Fit a model to data with this name, and measure its accuracy and the time of the fit."""
        task, fitted = self._load(name, seed)
        estimator = make_estimator(model, self.n_jobs, seed)
        seconds = seconds_of(partial(estimator.fit, task.X, task.y))
        fitted[model] = estimator
        return {model: {"accuracy": float(estimator.score(task.X_test, task.y_test)), "seconds": seconds}}

    def explain(self, explainer: Explainer, name: str, seed: int) -> Found:
        """Score the explanations of a method on data with this name."""
        task, fitted = self._load(name, seed)
        if explainer.model not in fitted:  # its fit was measured in an earlier run
            fitted[explainer.model] = make_estimator(explainer.model, self.n_jobs, seed).fit(task.X, task.y)
        n_rows, n_perturbed = self.sizes.n_rows[explainer.rows], self.sizes.n_perturbed[explainer.rows]
        model = fitted[explainer.model]
        return {explainer.name: score_explanations(explainer, model, task, n_rows, n_perturbed)}

    def _load(self, name: str, seed: int) -> tuple[Task, dict[str, Any]]:
        key, sizes = (name, seed), self.sizes
        if self._current is None or self._current[0] != key:
            task = self._makers[name](seed, sizes.n_train, sizes.n_test, self.n_jobs)
            self._current = key, task, {}
        return self._current[1:]


def measure_permuted(explainers: list[Explainer], task: Task) -> Found:
    """Fit LANN on permuted labels, and return the AUC of each of its explanations."""
    model = make_estimator(OURS, task.n_jobs, task.seed).fit(task.X, task.y)
    return {explainer.name: {"auc": permuted_auc(explainer, model, task)} for explainer in explainers}


def measure_deletion(explainers: list[Explainer], task: Task) -> Found:
    """Fit LANN, and return how replacing the most relevant features changes its probabilities."""
    model = make_estimator(OURS, task.n_jobs, task.seed).fit(task.X, task.y)
    found = {}
    for explainer in explainers:
        relevances = explainer.prepare(model, task)(task.X_test)
        change, random_change = deletion(model, task.X_test, relevances, task.X, task.seed)
        found[explainer.name] = {"deletion": change, "random_deletion": random_change}
    return found


def score_planted_table(explainer: TableExplainer, seed: int, sizes: Sizes, n_jobs: int) -> Values:
    """
    Fit a model to a table with planted numbers and categories, and score the explanations of test rows.

    Returns
    -------
    values
        ``auc``: how often a planted feature is ranked before another one, without the gate; mean over the
        rows. ``accuracy``: of the model, on all test rows. ``seconds``: to explain a row. ``n_rows``: how
        many are explained.
    """
    table, y, mask = make_local_relevance_table(sizes.n_train + sizes.n_test, random_state=seed)
    train, test = slice(sizes.n_train), slice(sizes.n_train, None)
    model = explainer.make(n_jobs, seed).fit(table[train], y[train])
    n_rows = sizes.n_rows[explainer.rows]
    queries, planted = table[test][:n_rows], mask[test][:n_rows]
    if explainer.rows == ALL:  # compute what is computed once
        explainer.relevances(model, queries[:1])
    found: list[Floats] = []
    seconds = seconds_of(lambda: found.append(explainer.relevances(model, queries)))
    aucs = planted_auc(*(np.delete(values, GATE, axis=1) for values in (found[0], planted)))
    return {
        "auc": float(aucs.mean()),
        "accuracy": float(model.score(table[test], y[test])),
        "seconds": seconds / n_rows,
        "n_rows": n_rows,
    }


def make_cities(n_samples: int, random_state: int) -> tuple[Any, Labels]:
    """
    Generate a table with 20 cities and a number, both needed for the label and neither enough.

    The label is whether the number of the city is odd, exclusive or whether x is positive. A city in place of
    another one changes the label in half of the cases, and so does another x.

    Parameters
    ----------
    n_samples
        The number of rows.
    random_state
        Seed.

    Returns
    -------
    table : DataFrame of shape (n_samples, 2)
        The columns "city", text, and "x".
    y : ndarray of shape (n_samples,)
        The labels, 0 or 1.
    """
    import pandas as pd

    rng = np.random.default_rng(random_state)
    city, x = rng.integers(N_CITIES, size=n_samples), rng.standard_normal(n_samples)
    names = np.array([f"city {number}" for number in range(N_CITIES)], dtype=object)
    return pd.DataFrame({"city": names[city], "x": x}), ((city % 2 == 1) ^ (x > 0)).astype(np.int64)


def score_cities(explainer: TableExplainer, seed: int, sizes: Sizes, n_jobs: int) -> Values:
    """
    Fit a model to the table of cities, and return how much of the vote depends on its columns.

    Returns
    -------
    values
        ``city``, ``x``: mean relevances on test rows. ``replaced_city``, ``replaced_x``: mean changes of the
        probability of the prediction if the cell is that of another row. ``accuracy``: of the model.
    """
    table, y = make_cities(sizes.n_train + sizes.n_test, seed)
    train, test = slice(sizes.n_train), slice(sizes.n_train, None)
    model = explainer.make(n_jobs, seed).fit(table[train], y[train])
    queries = table[test]
    relevances = explainer.relevances(model, queries).mean(axis=0)
    return {
        **dict(zip(table.columns, relevances.tolist(), strict=True)),
        **{
            f"replaced_{column}": change_by_replacing(model, queries, column, table[train], seed)
            for column in table.columns
        },
        "accuracy": float(model.score(queries, y[test])),
    }


def change_by_replacing(model: Any, queries: Any, column: str, pool: Any, seed: int) -> float:
    """Return the mean change of the prediction's probability with the cells of other rows in a column."""
    rng = np.random.default_rng(seed)
    rows = np.arange(len(queries))
    before = model.predict_proba(queries)
    predicted = before.argmax(axis=1)
    changes = []
    for _ in range(N_DRAWS):
        donors = rng.integers(len(pool), size=len(queries))
        changed = queries.assign(**{column: pool[column].to_numpy()[donors]})
        changes.append(np.abs(model.predict_proba(changed)[rows, predicted] - before[rows, predicted]).mean())
    return float(np.mean(changes))
