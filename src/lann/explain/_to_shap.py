"""Explanations as objects of the `shap` package, for its plots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lann._format import is_missing, value_text

if TYPE_CHECKING:
    import shap

    from lann.explain._explanation import Explanation


def to_shap(explanation: Explanation, label: Any = None) -> shap.Explanation:
    """Return a `shap.Explanation`, for waterfall, beeswarm and other plots of the `shap` package.

    The values are the supports of a class: what each feature changes in the vote on the way to rows of other
    classes. They are Shapley values between the query and these rows where not more than two features
    interact. The base value is the mean probability at these rows, other ones for every query; it is not the
    mean prediction for all rows, as plots that label it E[f(X)] claim.

    Parameters
    ----------
    explanation : Explanation
    label : object, default=None
        The class whose probability is explained; None is each query's own prediction.

    Returns
    -------
    shap_explanation : shap.Explanation
        With ``values`` (n_queries, n_features), ``base_values`` (n_queries,), ``data`` (the queries,
        categories as codes), ``display_data`` (the values as text, unless all are numbers) and
        ``feature_names``.

    Raises
    ------
    ValueError
        If the label is not one of the classes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> found = LANNClassifier(random_state=0).fit(X, y).explain(X[:3]).to_shap()
    >>> found.shape, (found.base_values + found.values.sum(axis=1)).round(6).tolist()
    ((3, 4), [0.986928, 0.986928, 0.986928])
    """
    try:
        import shap
    except ImportError as error:
        raise ImportError("to_shap needs the shap package: pip install 'lann[shap]'.") from error

    if label is None:
        class_indices = explanation.predicted_class_indices
    else:
        found = np.flatnonzero(explanation.classes == label)
        if not len(found):
            raise ValueError(
                f"label must be one of the classes {explanation.classes.tolist()}; got {label!r}."
            )
        class_indices = np.full(len(explanation), found[0])
    rows = np.arange(len(explanation))
    values = explanation.supports[rows, class_indices]
    data = explanation.queries
    return shap.Explanation(
        values=values,
        base_values=explanation.probabilities[rows, class_indices] - values.sum(axis=1),
        data=data,
        display_data=_shown(explanation),
        feature_names=[str(name) for name in explanation.feature_names],
    )


def _shown(explanation: Explanation) -> np.ndarray | None:
    """Return values as text: (n_queries, n_features); None if all are numbers."""
    values, grouped = explanation.query_values, explanation._grouped
    if values.dtype.kind == "f" and not np.isnan(values).any():
        return None
    texts = [
        f"{value:.4g}" if isinstance(value, float) and not is_missing(value) else value_text(value)
        for value in values.ravel()
    ]
    shown = np.array(texts, dtype=object).reshape(values.shape)
    if grouped is not None:  # groups of features have no single value to show
        shown[:, grouped] = "several"
    return shown
