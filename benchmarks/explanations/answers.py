"""Whether every row has an answer: a feature, or a group of features, with a part of what is explained."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.common.arrays import Floats
from benchmarks.engine import Values

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
    support = np.abs(explanation.support)
    grouped = explanation.group_features(explanation.correlated)
    return {
        "support": _answered(support),
        "grouped_support": _answered(support, np.abs(grouped.support)),
        "relevances": _answered(explanation.relevances),
        "grouped_relevances": _answered(explanation.relevances, grouped.relevances),
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
