"""Explanations in other forms: tables, dictionaries for JSON, and objects of `shap`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lann._support.format import to_plain, value_text
from lann._support.types import Floats
from lann.explain._training_rows import check_label, frame_of, scaled

if TYPE_CHECKING:
    import pandas as pd
    import shap

    from lann.explain._explanation import Explanation

# Supports up to this size are rounding errors.
ROUNDING = 1e-12


def to_frame(explanation: Explanation) -> pd.DataFrame:
    """Return a table with a row per query and neighbor.

    Parameters
    ----------
    explanation : Explanation

    Returns
    -------
    frame : DataFrame
        With the columns ``query``, ``query_id`` (if the queries have ids), ``prediction``, ``neighbor``,
        ``neighbor_id`` (if there are ids), ``label``, ``distance``, ``vote_share`` and
        ``contribution of ...`` for every feature.
    """
    e, (n_queries, k) = explanation, explanation.neighbors.shape
    by_feature = e.contributions.reshape(n_queries * k, -1).T
    contributions = zip(e.feature_names, by_feature, strict=True)
    return frame_of(
        {
            "query": np.repeat(np.arange(n_queries), k),
            "query_id": None if e.query_ids is None else np.repeat(e.query_ids, k),
            "prediction": np.repeat(e.predictions, k),
            "neighbor": e.neighbors.ravel(),
            "neighbor_id": None if e.neighbor_ids is None else e.neighbor_ids.ravel(),
            "label": e.neighbor_labels.ravel(),
            "distance": e.distances.ravel(),
            "vote_share": e.vote_shares.ravel(),
        }
        | {f"contribution of {name}": values for name, values in contributions}
    )


def to_long_frame(explanation: Explanation) -> pd.DataFrame:
    """Return a table with a row per query, neighbor and feature, which has everything that is explained.

    Parameters
    ----------
    explanation : Explanation
        Of at least one row.

    Returns
    -------
    frame : DataFrame
        With the columns ``row``, ``id`` (if there is one), ``true_label`` (if it is known), ``prediction``,
        ``runner_up``, ``neighbor_row``, ``neighbor_id`` (if there are ids), ``neighbor_label``, ``distance``,
        ``vote_share``, ``column`` (the feature), ``relevance``, ``support`` and ``separation`` (if these are
        known), ``percentile``, ``category_share`` and ``typical`` (of the prediction; if these are known),
        ``contribution``, ``value`` and ``neighbor_value`` (if these are known), ``is_far`` and ``left_out``
        (the row number of the training row that this row is), and ``decision`` ("accepted", "ambiguous" or
        "far", if there is a reject option). Values are text. The most relevant features of a row come first.

    Raises
    ------
    ValueError
        If no row is explained.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> explanation = LANNClassifier(7, random_state=0).fit(X, y).explain(X[:3])
    >>> explanation.to_long_frame().shape  # 3 queries, 7 neighbors, 4 features
    (84, 19)
    """
    import pandas as pd

    e = explanation
    if len(e) == 0:
        raise ValueError("There are no explained rows to show.")
    query, neighbor = np.nonzero(e.vote_shares > 0)  # with sample weights, more rows vote on some queries
    order = np.argsort(-e.relevances, axis=1, kind="stable")[query]
    feature, n_features = order.ravel(), order.shape[1]
    query, neighbor = np.repeat(query, n_features), np.repeat(neighbor, n_features)

    def at(values: Any, *position: Any) -> Any:
        return None if values is None else values[position]

    def as_text(values: Any) -> list[str]:
        return [value_text(value) for value in values.tolist()]

    values = e.neighbor_values
    typical = None if e._distribution is None else np.stack([e.typical_texts(y) for y in e.predictions])
    left_out = pd.array(e.left_out[query], "Int64")
    left_out[left_out < 0] = pd.NA
    return frame_of(
        {
            "row": query if e.query_rows is None else e.query_rows[query],
            "id": None if e.query_ids is None else e.query_ids[query].astype(str),
            "true_label": at(e.true_labels, query),
            "prediction": e.predictions[query],
            "runner_up": e.runner_up[query],
            "neighbor_row": e.neighbors[query, neighbor],
            "neighbor_id": at(e.neighbor_ids, query, neighbor),
            "neighbor_label": e.neighbor_labels[query, neighbor],
            "distance": e.distances[query, neighbor],
            "vote_share": e.vote_shares[query, neighbor],
            "column": e.feature_names[feature],
            "relevance": e.relevances[query, feature],
            "support": e.support[query, feature] if e.has_supports else None,
            "separation": e.separation[query, feature] if e.has_supports else None,
            "percentile": at(e.percentiles, query, feature),
            "category_share": at(e.category_shares, query, feature),
            "typical": at(typical, query, feature),
            "contribution": e.contributions[query, neighbor, feature],
            "value": as_text(e.query_values[query, feature]),  # numbers and text share a column
            "neighbor_value": None if values is None else as_text(values[query, neighbor, feature]),
            "is_far": np.zeros(len(query), bool) if e.is_far is None else e.is_far[query],
            "left_out": left_out,
            "decision": None if e.decisions is None else [made.decision for made in e.decisions[query]],
        }
    )


def relevance_frame(explanation: Explanation) -> pd.DataFrame:
    """Return the relevances as a table with a row per query and a column per feature.

    Parameters
    ----------
    explanation : Explanation

    Returns
    -------
    frame : DataFrame
        Rows are scaled to add up to 1. The index is that of the queries, if they have one.
    """
    import pandas as pd

    e = explanation
    return pd.DataFrame(scaled(e.relevances), index=e.query_ids, columns=list(e.feature_names))


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

    typical: list[Any] = unknown
    if e._distribution is not None:
        typical = [dict(zip(features, e.typical_texts(label), strict=True)) for label in e.predictions]
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
            "typical": typical,
            "is_far": unknown if e.is_far is None else e.is_far,
            "left_out": [None if row < 0 else int(row) for row in e.left_out],
            "supporting": largest_first(e.support, 1) if e.has_supports else unknown,
            "opposing": largest_first(e.support, -1) if e.has_supports else unknown,
            "unseen": marked(e.unseen),
            "unmeasured": marked(e.unmeasured),
            "outside": marked(e.outside),
            "neighbors": [
                _records(
                    {
                        "row": e.neighbors[i],
                        "id": None if e.neighbor_ids is None else e.neighbor_ids[i],
                        "label": e.neighbor_labels[i],
                        "distance": e.distances[i],
                        "vote_share": e.vote_shares[i],
                        "contributions": by_feature(e.contributions[i]),
                    }
                )
                for i in range(len(e))
            ],
        }
    )


def _records(columns: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a dictionary for each entry of columns of plain values or arrays; None is no column."""
    known = {name: values for name, values in columns.items() if values is not None}
    lists = [to_plain(values) if isinstance(values, np.ndarray) else values for values in known.values()]
    return [dict(zip(known, row, strict=True)) for row in zip(*lists, strict=True)]


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
    ((3, 4), [0.995962, 0.995962, 0.995962])
    """
    try:
        import shap
    except ImportError as error:
        raise ImportError("to_shap needs the shap package: pip install 'lann[shap]'.") from error

    rows, class_indices = np.arange(len(explanation)), explanation.predicted_class_indices
    if label is not None:
        check_label(label, explanation.classes, "label")
        class_indices = np.full(len(explanation), np.flatnonzero(explanation.classes == label)[0])
    supports, values = explanation.supports[rows, class_indices], explanation.query_values
    shown = None
    if values.dtype.kind != "f" or np.isnan(values).any():
        texts = [f"{v:.4g}" if isinstance(v, float) and v == v else value_text(v) for v in values.ravel()]
        shown = np.array(texts, dtype=object).reshape(values.shape)
        shown[:, explanation._feature_columns < 0] = "several"  # groups of features have no single value
    return shap.Explanation(
        values=supports,
        base_values=explanation.probabilities[rows, class_indices] - supports.sum(axis=1),
        data=explanation.queries,
        display_data=shown,
        feature_names=[str(name) for name in explanation.feature_names],
    )
