"""Explanations as plain dictionaries, ready for JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lann._types import Floats

if TYPE_CHECKING:
    from lann.explain._explanation import Explanation

# Supports up to this size are rounding errors.
ROUNDING = 1e-12


def to_dict(explanation: Explanation) -> list[dict[str, Any]]:
    """Return a dictionary for each query, ready for JSON.

    Classes and features are strings as keys; numbers that are not finite are None.

    Parameters
    ----------
    explanation : Explanation

    Returns
    -------
    rows : list of dict
        Each with ``prediction``, ``probabilities`` (by class), ``runner_up``, ``values`` and ``relevances``
        (by feature), ``percentiles`` and ``category_shares`` (by feature, where there are any), ``typical``
        (of the prediction, by feature, as text), ``is_far``, ``left_out`` (the row number of the training row
        that the query is, which did not vote; None if it is none), ``supporting`` and ``opposing`` (the
        positive and the negative supports of the prediction by feature, the largest first; None where
        supports are unknown), and ``neighbors``, nearest first, each with ``row``, ``id`` (if there are ids),
        ``label``, ``distance``, ``vote_share`` and ``contributions`` (by feature). If the queries have row
        numbers or ids, ``row`` and ``id`` come first, and ``true_label`` follows if labels are known. With a
        reject option, ``decision`` ("accepted", "ambiguous" or "far") and ``decided_by`` (the figures of
        `Decision.to_dict`, and ``reason``, a sentence, None if it was accepted) follow the prediction. If a
        query has a category that no training row has, ``unseen`` names these features; if one has a gap that
        no training row has, ``unmeasured`` names the features without which distances are measured; if one
        has a number outside the range of the training rows, ``outside`` names these features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> rows = LANNClassifier(random_state=0).fit(X, y).explain(X[:1]).to_dict()
    >>> rows[0]["prediction"], rows[0]["runner_up"], rows[0]["neighbors"][0]["row"]
    (0, 1, 27)
    """
    features = [str(name) for name in explanation.feature_names]
    classes = [str(label) for label in explanation.classes]
    columns: dict[str, list[Any]] = {
        **({} if explanation.query_rows is None else {"row": listed(explanation.query_rows)}),
        **({} if explanation.query_ids is None else {"id": listed(explanation.query_ids)}),
        **({} if explanation.true_labels is None else {"true_label": listed(explanation.true_labels)}),
        "prediction": listed(explanation.predictions),
        **_decisions(explanation),
        "probabilities": [dict(zip(classes, row, strict=True)) for row in listed(explanation.probabilities)],
        "runner_up": listed(explanation.runner_up),
        "values": [dict(zip(features, row, strict=True)) for row in listed(explanation.query_values)],
        "relevances": [dict(zip(features, row, strict=True)) for row in listed(explanation.relevances)],
        **_context(explanation, features),
        **_supporting_and_opposing(explanation, features),
        **_marked("unseen", explanation.unseen, features),
        **_marked("unmeasured", explanation.unmeasured, features),
        **_marked("outside", explanation.outside, features),
        "neighbors": _neighbors(explanation, features),
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _decisions(explanation: Explanation) -> dict[str, list[Any]]:
    """Return the decisions of a reject option and what they are made by; nothing if there is none."""
    decisions = explanation.decisions
    if decisions is None:
        return {}
    return {
        "decision": [decision.decision for decision in decisions],
        "decided_by": [decision.to_dict() | {"reason": decision.reason or None} for decision in decisions],
    }


def listed(values: NDArray[Any]) -> list[Any]:
    """Return an array as nested lists of values that JSON has."""
    if values.dtype.kind in "biu" or (values.dtype.kind == "f" and np.isfinite(values).all()):
        return values.tolist()
    if values.ndim > 1:
        return [listed(row) for row in values]
    return [_plain(value) for value in values]


def _plain(value: Any) -> Any:
    if isinstance(value, np.datetime64 | np.timedelta64):
        return str(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)


def _marked(name: str, marks: NDArray[np.bool_] | None, features: list[str]) -> dict[str, list[Any]]:
    """Return the features that are marked for each query; nothing if none is."""
    if marks is None or not marks.any():
        return {}
    return {name: [[features[feature] for feature in np.flatnonzero(row)] for row in marks]}


def _context(explanation: Explanation, features: list[str]) -> dict[str, list[Any]]:
    """Return values beside the training rows, and what there is to note about the queries."""
    n_queries, left_out, is_far = len(explanation), explanation.left_out, explanation.is_far
    columns: dict[str, list[Any]] = {}
    for name, values in (
        ("percentiles", explanation.percentiles),
        ("category_shares", explanation.category_shares),
    ):
        columns[name] = [None] * n_queries if values is None else [_known(row, features) for row in values]
    typical: dict[Any, dict[str, str] | None] = dict.fromkeys(explanation.predictions)
    if explanation._distribution is not None:
        typical = {
            label: dict(zip(features, explanation.typical_texts(label), strict=True)) for label in typical
        }
    return columns | {
        "typical": [typical[label] for label in explanation.predictions],
        "is_far": [None] * n_queries if is_far is None else is_far.tolist(),
        "left_out": [
            None if left_out is None or left_out[row] < 0 else int(left_out[row]) for row in range(n_queries)
        ],
    }


def _known(values: Floats, features: list[str]) -> dict[str, float]:
    return {features[feature]: float(values[feature]) for feature in np.flatnonzero(~np.isnan(values))}


def _supporting_and_opposing(explanation: Explanation, features: list[str]) -> dict[str, list[Any]]:
    if not explanation.has_supports:
        unknown = [None] * len(explanation)
        return {"supporting": unknown, "opposing": unknown}
    support = explanation.support
    return {
        "supporting": _positive(support, features),
        "opposing": _positive(-support, features, -1),
    }


def _positive(support: Floats, features: list[str], sign: int = 1) -> list[dict[str, float]]:
    """Return by feature the values above rounding, the largest first, with the sign they had."""
    orders = np.argsort(-support, axis=1, kind="stable")
    return [
        {features[feature]: sign * float(row[feature]) for feature in order if row[feature] > ROUNDING}
        for row, order in zip(support, orders, strict=True)
    ]


def _neighbors(explanation: Explanation, features: list[str]) -> list[list[dict[str, Any]]]:
    columns: dict[str, NDArray[Any]] = {"row": explanation.neighbors}
    if explanation.neighbor_ids is not None:
        columns["id"] = explanation.neighbor_ids
    columns |= {
        "label": explanation.neighbor_labels,
        "distance": explanation.distances,
        "vote_share": explanation.vote_shares,
    }
    lists = [listed(values) for values in columns.values()]
    rows = zip(*lists, listed(explanation.contributions), strict=True)
    return [
        [
            dict(zip(columns, values, strict=True))
            | {"contributions": dict(zip(features, added, strict=True))}
            for *values, added in zip(*row, strict=True)
        ]
        for row in rows
    ]
