"""Explanations in the form that the plots of the `shap` package take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import shap

    from lann.explain.explanation import Explanation


def to_shap(explanation: Explanation, label: Any = None) -> shap.Explanation:
    """
    Give a `shap.Explanation`, for waterfall, beeswarm and other plots of the `shap` package.

    The values are the supports of a class: how much more of the vote it has by a feature's value than by
    other values, read around the row, one feature at a time. They are **not Shapley values**, which average
    over changes of all sets of features: what two features do only together is counted for both. The base
    value is, row by row, what is left of the predicted probability when the supports are taken away, so that
    base and values add up to it; it is no mean prediction, and plots that print it as E[f(X)] say too much.

    Parameters
    ----------
    explanation
        Of a model that tells what speaks for a class.
    label
        Whose probability is explained; by default that of each row's own prediction.

    Returns
    -------
    shap_explanation
        ``values`` (n_queries, n_features), ``base_values`` (n_queries,), ``data`` (the rows) and
        ``feature_names``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> explanation = LANNClassifier(random_state=0).fit(X, y).explain(X[:3])
    >>> found = explanation.to_shap()
    >>> found.shape, (found.base_values + found.values.sum(axis=1)).round(6).tolist()
    ((3, 4), [1.0, 1.0, 1.0])
    """
    import shap

    if label is None:
        places = explanation.predicted_places
    else:
        found = np.flatnonzero(explanation.classes == label)
        if not len(found):
            raise ValueError(
                f"label must be one of the classes {explanation.classes.tolist()}; got {label!r}."
            )
        places = np.full(len(explanation), found[0])
    rows = np.arange(len(explanation))
    values = explanation.supports[rows, places]
    data = explanation.queries
    return shap.Explanation(
        values=values,
        base_values=explanation.probabilities[rows, places] - values.sum(axis=1),
        data=data,
        # Groups of features have no single value to show.
        display_data=_shown(data) if np.isnan(data).any() else None,
        feature_names=[str(name) for name in explanation.feature_names],
    )


def _shown(data: np.ndarray) -> np.ndarray:
    shown = np.array([f"{value:.4g}" for value in data.ravel()], dtype=object).reshape(data.shape)
    shown[np.isnan(data)] = "several"
    return shown
