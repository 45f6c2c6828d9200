"""Explanations in other forms: dictionaries for JSON, objects of `shap`, and summaries over many rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._support.format import to_plain, value_text
from lann._support.types import Floats, Indices, Labels
from lann._support.validation import Integer, Number, OneOf, validate
from lann.explain._feature_groups import warn_of_correlated
from lann.explain._fitted import check_label

if TYPE_CHECKING:
    import pandas as pd
    import shap

    from lann.explain._explanation import Explanation

# Supports up to this size are rounding errors.
ROUNDING = 1e-12
QUARTILES = (0.25, 0.5, 0.75)
VALUES = ("relevances", "feature_weights", "support")


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
    e, features = explanation, [str(name) for name in explanation.feature_names]
    classes, unknown = [str(label) for label in e.classes], [None] * len(e)

    def by_feature(values: NDArray[Any]) -> list[dict[str, Any]]:
        return [dict(zip(features, row, strict=True)) for row in to_plain(values)]

    def known(values: Floats | None) -> list[Any]:
        rows = unknown if values is None else by_feature(values)
        return [row and {name: value for name, value in row.items() if value is not None} for row in rows]

    def marked(marks: NDArray[np.bool_] | None) -> list[list[str]] | None:
        """Return the features that are marked for each query; None if none is."""
        if marks is None or not marks.any():
            return None
        return [[features[feature] for feature in np.flatnonzero(row)] for row in marks]

    def largest_first(support: Floats, sign: int) -> list[dict[str, float]]:
        """Return by feature the supports of one sign, beyond rounding."""
        orders = np.argsort(-sign * support, axis=1, kind="stable")
        return [
            {features[feature]: float(row[feature]) for feature in order if sign * row[feature] > ROUNDING}
            for row, order in zip(support, orders, strict=True)
        ]

    typical: dict[Any, Any] = dict.fromkeys(e.predictions)
    if e._distribution is not None:
        typical = {label: dict(zip(features, e.typical_texts(label), strict=True)) for label in typical}
    decisions = None if e.decisions is None else e.decisions.tolist()
    return _records(
        {
            "row": e.query_rows,
            "id": e.query_ids,
            "true_label": e.true_labels,
            "prediction": e.predictions,
            "decision": decisions and [made.decision for made in decisions],
            "decided_by": decisions
            and [made.to_dict() | {"reason": made.reason or None} for made in decisions],
            "probabilities": [dict(zip(classes, row, strict=True)) for row in to_plain(e.probabilities)],
            "runner_up": e.runner_up,
            "values": by_feature(e.query_values),
            "relevances": by_feature(e.relevances),
            "percentiles": known(e.percentiles),
            "category_shares": known(e.category_shares),
            "typical": [typical[label] for label in e.predictions],
            "is_far": unknown if e.is_far is None else e.is_far,
            "left_out": [None if row < 0 else int(row) for row in e.left_out],
            "supporting": largest_first(e.support, 1) if e.has_supports else unknown,
            "opposing": largest_first(e.support, -1) if e.has_supports else unknown,
            "unseen": marked(e.unseen),
            "unmeasured": marked(e.unmeasured),
            "outside": marked(e.outside),
            "neighbors": [_neighbors(e, i, by_feature) for i in range(len(e))],
        }
    )


def _neighbors(
    e: Explanation, i: int, by_feature: Callable[[NDArray[Any]], list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """Return a dictionary for each neighbor of a query."""
    return _records(
        {
            "row": e.neighbors[i],
            "id": None if e.neighbor_ids is None else e.neighbor_ids[i],
            "label": e.neighbor_labels[i],
            "distance": e.distances[i],
            "vote_share": e.vote_shares[i],
            "contributions": by_feature(e.contributions[i]),
        }
    )


def _records(columns: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a dictionary for each entry of columns of plain values or arrays; None is no column."""
    plain = {
        name: to_plain(values) if isinstance(values, np.ndarray) else values
        for name, values in columns.items()
    }
    known = {name: values for name, values in plain.items() if values is not None}
    return [dict(zip(known, row, strict=True)) for row in zip(*known.values(), strict=True)]


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

    rows, class_indices = np.arange(len(explanation)), explanation.predicted_class_indices
    if label is not None:
        check_label(label, explanation.classes, "label")
        class_indices = np.full(len(explanation), np.flatnonzero(explanation.classes == label)[0])
    values = explanation.supports[rows, class_indices]
    return shap.Explanation(
        values=values,
        base_values=explanation.probabilities[rows, class_indices] - values.sum(axis=1),
        data=explanation.queries,
        display_data=_shown_values(explanation),
        feature_names=[str(name) for name in explanation.feature_names],
    )


def _shown_values(explanation: Explanation) -> NDArray[Any] | None:
    """Return values as text: (n_queries, n_features); None if all are numbers."""
    values = explanation.query_values
    if values.dtype.kind == "f" and not np.isnan(values).any():
        return None
    texts = [f"{v:.4g}" if isinstance(v, float) and v == v else value_text(v) for v in values.ravel()]
    shown = np.array(texts, dtype=object).reshape(values.shape)
    shown[:, explanation._feature_columns < 0] = "several"  # groups of features have no single value
    return shown


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
    return np.argsort(order)[found]
