"""Summaries of many explanations: by class, by groups of rows, or over all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from lann._types import Floats, Indices, Labels
from lann._validation import Integer, Number, OneOf, validate
from lann.explain._correlation import warn_of_correlated

if TYPE_CHECKING:
    import pandas as pd

    from lann.explain._explanation import Explanation

QUARTILES = (0.25, 0.5, 0.75)
VALUES = ("relevances", "feature_weights", "support")


def summarize(
    explanation: Explanation,
    by: ArrayLike | int | str | None = None,
    *,
    values: str = "relevances",
    quantiles: Sequence[float] = QUARTILES,
    correlated: str = "warn",
) -> pd.DataFrame:
    """Summarize explanations over groups of rows.

    Parameters
    ----------
    explanation : Explanation
        Of many rows.
    by : None, "class", int or array-like of shape (n_queries,), default=None
        The groups: None is one group of all rows, "class" the predicted classes, an integer that many
        clusters of rows with similar relevances (0 is the largest), and an array a label for each row; rows
        whose label is missing are left out.
    values : {"relevances", "feature_weights", "support"}, default="relevances"
        What is summarized.
    quantiles : sequence of float, default=(0.25, 0.5, 0.75)
        Quantiles to return beside the mean, each from 0 to 1.
    correlated : {"warn", "group", "ignore"}, default="warn"
        How to treat features that are correlated in the training data, between which relevance is divided
        arbitrarily: "warn" names them in a warning, "group" adds them up.

    Returns
    -------
    frame : DataFrame
        A row for each group and feature: ``group``, ``feature``, ``mean``, a column per quantile such as
        ``q25``, and ``n``, the number of rows in the group.

    Raises
    ------
    ValueError
        If an argument is invalid, or there are no rows to summarize.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> explanation = LANNClassifier(random_state=0).fit(X, y).explain(X)
    >>> frame = explanation.summarize("class", correlated="group")
    >>> frame.columns.tolist(), frame["group"].unique().tolist()
    (['group', 'feature', 'mean', 'q25', 'q50', 'q75', 'n'], [0, 1, 2])
    """
    import pandas as pd

    validate("values", values, OneOf(*VALUES))
    validate("correlated", correlated, OneOf("warn", "group", "ignore"))
    quantiles = np.atleast_1d(quantiles).tolist()
    for quantile in quantiles:
        validate("quantiles", quantile, Number(0, 1))
    labels, names = _groups_of_rows(explanation, by)
    if explanation.correlated and correlated == "group":
        explanation = explanation.group_features(explanation.correlated)
    elif explanation.correlated and correlated == "warn":
        warn_of_correlated(explanation.correlated, stacklevel=2)
    summarized: Floats = getattr(explanation, values)
    parts = []
    for label in np.unique(labels[labels >= 0]):
        rows = summarized[labels == label]
        columns = {f"q{100 * q:g}": np.quantile(rows, q, axis=0) for q in quantiles}
        table = {"group": names[label], "feature": explanation.feature_names, "mean": rows.mean(axis=0)}
        parts.append(pd.DataFrame({**table, **columns, "n": len(rows)}))
    if not parts:
        raise ValueError("There are no rows to summarize: none is explained, or none has a group.")
    return pd.concat(parts, ignore_index=True)


def _groups_of_rows(explanation: Explanation, by: Any) -> tuple[Labels, Sequence[Any] | np.ndarray]:
    """Return the group of each row, negative for none, and the names of the groups."""
    import pandas as pd

    if by is None:
        return np.zeros(len(explanation), np.int64), ["all"]
    if isinstance(by, str):
        validate("by", by, OneOf(None, "class"))
        return explanation.predicted_class_indices, explanation.classes
    if isinstance(by, int | np.integer):
        by = relevance_clusters(explanation, int(by))
    groups = np.asarray(by)
    if groups.shape != (len(explanation),):
        raise ValueError(
            f"by must be None, 'class', a number of clusters, or {len(explanation)} labels, one for each "
            f"row; got an array of shape {groups.shape}."
        )
    return pd.factorize(groups, sort=True)


def relevance_clusters(explanation: Explanation, n_clusters: int) -> Indices:
    """Cluster rows whose predictions depend on the same features, by k-means of the relevances.

    Parameters
    ----------
    explanation : Explanation
        Of at least `n_clusters` rows.
    n_clusters : int

    Returns
    -------
    clusters : ndarray of shape (n_queries,)
        0 is the largest cluster.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lann import LANNClassifier
    >>> from lann.explain import relevance_clusters
    >>> X, y = load_wine(return_X_y=True)
    >>> clusters = relevance_clusters(LANNClassifier(random_state=0).fit(X, y).explain(X), 3)
    >>> sorted(set(clusters.tolist()))
    [0, 1, 2]
    """
    from sklearn.cluster import KMeans

    validate("n_clusters", n_clusters, Integer(1, len(explanation)))
    found = KMeans(n_clusters, n_init=10, random_state=0).fit_predict(explanation.relevances)
    order = np.argsort(-np.bincount(found, minlength=n_clusters), kind="stable")
    rank = np.empty(n_clusters, np.int64)
    rank[order] = np.arange(n_clusters)
    return rank[found]
