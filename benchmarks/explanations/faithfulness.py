"""Supports compared with their definition, computed by brute force from `predict_proba`."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.common.arrays import Floats, Indices
from benchmarks.engine import Values

# The definition: so many features are replaced one by one, those that hold most of the distance; the others
# together, and they share the credit by what they hold. Shares of the distance are rounded for the order.
MOST_ALONE, DIGITS = 64, 9
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
    expected = brute_force_supports(model, queries, explanation.contrast_rows)
    found = explanation.supports
    rows, predicted = np.arange(len(queries)), explanation.predicted_class_indices
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


def brute_force_supports(model: Any, queries: Floats, contrast_rows: Indices) -> Floats:
    """
    Return the supports as they are defined, from predictions of all rows on the way.

    Parameters
    ----------
    model
        A fitted LANNClassifier.
    queries : (n_queries, n_features)
    contrast_rows : (n_queries, n_contrasts) training rows, negative for none

    Returns
    -------
    supports : (n_queries, n_classes, n_features)
    """
    supports = np.zeros((len(queries), len(model.classes_), queries.shape[1]))
    for row, query in enumerate(queries):
        ends = contrast_rows[row][contrast_rows[row] >= 0]
        for end in ends:
            supports[row] += _credits(model, query, int(end)) / len(ends)
    return supports


def _credits(model: Any, query: Floats, end: int) -> Floats:
    """Return what each feature changes between a query and a training row: (n_classes, n_features)."""
    held = np.abs(model.model_.contributions(query[None], np.array([[end]]))[0, 0])
    shares = held / held.sum() if held.sum() > 0 else held
    order = np.argsort(-np.round(shares, DIGITS), kind="stable")
    alone, rest = order[:MOST_ALONE], order[MOST_ALONE:]
    steps = [[feature] for feature in alone] + ([rest.tolist()] if len(rest) else [])
    other, credits = model.model_.X[end], np.zeros((len(model.classes_), len(query)))
    for walk in (steps, steps[::-1]):
        stops = np.repeat(query[None], len(walk) + 1, axis=0)
        for number, features in enumerate(walk):
            stops[number + 1 :, features] = other[features]
        changes = -np.diff(model.predict_proba(stops), axis=0)  # (n_steps, n_classes)
        for features, change in zip(walk, changes, strict=True):
            total = shares[features].sum()
            parts = shares[features] / total if total > 0 else np.full(len(features), 1 / len(features))
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
