"""The two quantities that say how important a feature is to a row: relevances and feature weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lann._types import Floats
from lann._validation import OneOf, validate
from lann.plot._rows import Rows, select_rows


class Quantity(NamedTuple):
    """How a quantity is named in a figure."""

    title: str
    axis_label: str


QUANTITIES = {
    "relevances": Quantity("Relevance of the features", "share of the vote that depends on the feature"),
    "feature_weights": Quantity("Feature weights", "share of a row's feature weights"),
}


class RowQuantities(NamedTuple):
    """The importance of every feature to some rows.

    Parameters
    ----------
    rows : Rows
    values : ndarray of shape (n_rows, n_features)
    quantity : {"relevances", "feature_weights"}
    """

    rows: Rows
    values: Floats
    quantity: str


def row_quantities(
    estimator: Any, X: ArrayLike | None, y: ArrayLike | None, *, quantity: str, max_rows: int
) -> RowQuantities:
    """Compute the importance of every feature to the given rows or the training rows.

    Parameters
    ----------
    estimator, X, y, max_rows
        As in `select_rows`.
    quantity : {"relevances", "feature_weights"}
        The feature weights of each row are scaled to sum to 1.

    Raises
    ------
    ValueError
        If the model does not have the quantity.
    """
    validate("quantity", quantity, OneOf(*QUANTITIES))
    rows = select_rows(estimator, X, y, max_rows=max_rows)
    if quantity == "feature_weights" and X is None:
        weights = np.asarray(rows.model.feature_weights_)[rows.indices]
    else:
        explanation = rows.explain()
        if quantity == "relevances":
            return RowQuantities(rows, explanation.relevances, quantity)
        weights = explanation.feature_weights
    total = np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return RowQuantities(rows, weights / total, "feature_weights")
