"""Explanations as plain dictionaries, ready for JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lann._types import Floats

if TYPE_CHECKING:
    from lann.explain.explanation import Explanation

# Votes that are the same differ by this much.
ROUNDING = 1e-12


def to_dict(explanation: Explanation) -> list[dict[str, Any]]:
    """
    Give a dictionary for each row, ready for JSON.

    Each has ``prediction``, ``probabilities`` (by class), ``runner_up``, ``values`` and
    ``relevances`` (by feature), ``speaks_for`` and ``speaks_against`` (the supports of the prediction by
    feature, the most telling first; None where a model does not tell), and ``neighbors``, nearest first:
    ``row``, ``id`` (if there are any), ``label``, ``distance``, ``vote_share`` and ``contributions`` (by
    feature). Classes and features are text as keys; numbers that are not finite are None.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> found = LANNClassifier(random_state=0).fit(X, y).explain(X[:1]).to_dict()
    >>> found[0]["prediction"], found[0]["runner_up"], found[0]["neighbors"][0]["row"]
    (0, 1, 0)
    """
    features = [str(name) for name in explanation.feature_names]
    classes = [str(label) for label in explanation.classes]
    columns: dict[str, list[Any]] = {
        "prediction": listed(explanation.predictions),
        "probabilities": [dict(zip(classes, row, strict=True)) for row in listed(explanation.probabilities)],
        "runner_up": listed(explanation.runner_up),
        "values": [dict(zip(features, row, strict=True)) for row in listed(explanation.queries)],
        "relevances": [dict(zip(features, row, strict=True)) for row in listed(explanation.relevances)],
        **_for_and_against(explanation, features),
        "neighbors": _neighbors(explanation, features),
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def listed(values: NDArray[Any]) -> list[Any]:
    """Nested lists of what JSON knows."""
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


def _for_and_against(explanation: Explanation, features: list[str]) -> dict[str, list[Any]]:
    if not explanation.tells_supports:
        nothing = [None] * len(explanation)
        return {"speaks_for": nothing, "speaks_against": nothing}
    support = explanation.support
    return {
        "speaks_for": _above_zero(support, features),
        "speaks_against": _above_zero(-support, features, -1),
    }


def _above_zero(support: Floats, features: list[str], sign: int = 1) -> list[dict[str, float]]:
    """By feature what is above 0 by more than rounding, the largest first, with the sign it had."""
    orders = np.argsort(-support, axis=1, kind="stable")
    return [
        {features[place]: sign * float(row[place]) for place in order if row[place] > ROUNDING}
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
            dict(zip(columns, own, strict=True)) | {"contributions": dict(zip(features, added, strict=True))}
            for *own, added in zip(*row, strict=True)
        ]
        for row in rows
    ]
