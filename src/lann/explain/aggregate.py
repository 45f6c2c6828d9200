"""Relevances of many points in few numbers: by class, by any groups, over all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from lann._types import Floats, Indices, Labels
from lann._validation import Integer, Number, OneOf, validate
from lann.explain.correlation import warn_of_correlated

if TYPE_CHECKING:
    import pandas as pd

    from lann.explain.explanation import Explanation

QUARTILES = (0.25, 0.5, 0.75)
VALUES = ("relevances", "feature_weights", "support")
TREATMENTS = ("warn", "group", "ignore")


def by_group(
    explanation: Explanation,
    groups: ArrayLike | int,
    quantiles: Sequence[float] = QUARTILES,
    *,
    of: str = "relevances",
    correlated: str = "warn",
) -> pd.DataFrame:
    """
    Summarize relevances by groups of rows.

    Parameters
    ----------
    explanation
        Of many rows.
    groups
        A label for each row, (n_queries,): rows whose label is missing are left out. Or a number of clusters:
        rows with similar relevances are then put together, the largest cluster is 0.
    quantiles
        Which to give beside the mean, each from 0 to 1.
    of
        "relevances", "feature_weights" or "support": what is summarized.
    correlated
        What to do about features that say nearly the same in the training data, so that the split between
        them is arbitrary: "warn" names them, "group" adds them up, "ignore" does neither.

    Returns
    -------
    frame
        A row for each group and feature: ``group``, ``feature``, ``mean``, a column for each quantile, such
        as ``q25``, and ``n``, the number of rows in the group.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> explanation = LANNClassifier(random_state=0).fit(X, y).explain(X)
    >>> lengths = ["short" if cm < 5.8 else "long" for cm in X["sepal length (cm)"]]
    >>> frame = explanation.by_group(lengths, correlated="group")
    >>> frame.columns.tolist(), frame["group"].unique().tolist()
    (['group', 'feature', 'mean', 'q25', 'q50', 'q75', 'n'], ['long', 'short'])
    """
    import pandas as pd

    if isinstance(groups, int | np.integer):
        groups = relevance_clusters(explanation, int(groups))
    else:
        groups = np.asarray(groups)
        if groups.shape != (len(explanation),):
            raise ValueError(
                f"groups must be a number of clusters or {len(explanation)} labels, one for each row; got an "
                f"array of shape {groups.shape}."
            )
    labels, names = pd.factorize(groups, sort=True)
    return _summary(explanation, labels, names, quantiles, of, correlated)


def by_class(
    explanation: Explanation,
    quantiles: Sequence[float] = QUARTILES,
    *,
    of: str = "relevances",
    correlated: str = "warn",
) -> pd.DataFrame:
    """
    Summarize relevances by predicted class.

    As `by_group`, with the predictions as groups; a class that no row is predicted to be is left out.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> frame = LANNClassifier(random_state=0).fit(X, y).explain(X).by_class(correlated="ignore")
    >>> frame.groupby("group")["n"].first().tolist()
    [50, 50, 50]
    """
    return _summary(explanation, explanation.predicted_places, explanation.classes, quantiles, of, correlated)


def overall(
    explanation: Explanation,
    quantiles: Sequence[float] = QUARTILES,
    *,
    of: str = "relevances",
    correlated: str = "warn",
) -> pd.DataFrame:
    """
    Summarize relevances over all rows.

    As `by_group`, with one group, "all".

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lann import LANNClassifier
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> frame = LANNClassifier(random_state=0).fit(X, y).explain(X).overall(quantiles=[0.9])
    >>> frame.shape, frame.columns.tolist()
    ((13, 5), ['group', 'feature', 'mean', 'q90', 'n'])
    """
    labels = np.zeros(len(explanation), np.int64)
    return _summary(explanation, labels, ["all"], quantiles, of, correlated)


def relevance_clusters(explanation: Explanation, n_clusters: int) -> Indices:
    """
    Put rows together whose predictions hang on the same features, by k-means of the relevances.

    Parameters
    ----------
    explanation
        Of at least `n_clusters` rows.
    n_clusters
        How many clusters.

    Returns
    -------
    clusters
        (n_queries,) from 0, the largest, on.

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


def _summary(
    explanation: Explanation,
    labels: Labels,
    names: Sequence[Any] | np.ndarray,
    quantiles: Sequence[float],
    of: str,
    correlated: str,
) -> pd.DataFrame:
    """The tidy frame; labels : (n_queries,) places among the names, below 0 for rows in no group.

    Called by what users call, and by nothing between: the warning points at their line.
    """
    import pandas as pd

    validate("of", of, OneOf(*VALUES))
    validate("correlated", correlated, OneOf(*TREATMENTS))
    quantiles = np.atleast_1d(quantiles).tolist()
    for quantile in quantiles:
        validate("quantiles", quantile, Number(0, 1))
    if explanation.correlated and correlated == "group":
        explanation = explanation.grouped(explanation.correlated)
    elif explanation.correlated and correlated == "warn":
        warn_of_correlated(explanation.correlated, stacklevel=3)
    values: Floats = getattr(explanation, of)
    parts = []
    for label in np.unique(labels[labels >= 0]):
        own = values[labels == label]
        columns = {f"q{100 * q:g}": np.quantile(own, q, axis=0) for q in quantiles}
        table = {"group": names[label], "feature": explanation.feature_names, "mean": own.mean(axis=0)}
        parts.append(pd.DataFrame({**table, **columns, "n": len(own)}))
    if not parts:
        raise ValueError("There are no rows to summarize: none is explained, or none has a group.")
    return pd.concat(parts, ignore_index=True)


def mean_by_class(relevances: Floats, labels: Labels, n_classes: int) -> Floats:
    """The mean over the points of each class: (n_classes, n_features), NaN for a class without points.

    relevances : (n_points, n_features)
    labels : (n_points,) in 0 … n_classes − 1
    """
    means = np.full((n_classes, relevances.shape[1]), np.nan)
    for label in np.unique(labels):
        means[label] = relevances[labels == label].mean(axis=0)
    return means
