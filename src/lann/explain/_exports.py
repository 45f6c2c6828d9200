"""Explanations in other forms: tables, dictionaries for JSON, and objects of `shap`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lann._support.format import to_plain, value_text
from lann._support.types import Floats, Indices
from lann._support.validation import OneOf, validate
from lann.explain._summaries import overview
from lann.explain._training_rows import check_label, frame_of
from lann.explain._value_view import of_values
from lann.explain._view import rows

if TYPE_CHECKING:
    import pandas as pd
    import shap

    from lann.explain._explanation import Explanation

KINDS = ("reasons", "neighbors", "rows", "relevances")


def to_frame(explanation: Explanation, kind: str = "reasons") -> pd.DataFrame:
    """Return a table.

    Parameters
    ----------
    explanation : Explanation
        Of at least one row.
    kind : {"reasons", "neighbors", "rows", "relevances"}, default="reasons"
        "reasons" has a line per query and feature, those with the largest support for or against the
        prediction first: ``row``, ``id`` (if there is one), ``true_label`` (if it is known), ``prediction``,
        ``decision`` (if there is a reject option), ``probability``, ``base_value``, ``column`` (the feature),
        ``value`` (as text), ``support``, ``standard_error``, ``relevance``, and, where the training rows are
        known, ``percentile``, ``category_share`` and ``typical`` (of the prediction).

        "neighbors" has a line per query and training row that voted, nearest first: ``row``, ``id``,
        ``prediction``, ``neighbor_row``, ``neighbor_id``, ``neighbor_label``, ``distance`` and
        ``vote_share``.

        "rows" has a line per query: ``row``, ``id``, ``true_label``, ``prediction``, ``probability``,
        ``runner_up``, ``runner_up_probability``, ``doubtful``, ``far``, ``left_out``, ``decision`` and
        ``reasons`` (as text).

        Of predicted numbers, the tables have ``low`` and ``high``, the ends of the interval of 90%, and
        ``adjusted`` beside ``neighbor_value``, in place of what is about classes.

        "relevances" has a line per query and a column per feature; the index is that of the queries, if they
        have one.

    Returns
    -------
    frame : DataFrame

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
    >>> explanation.to_frame().shape, explanation.to_frame("neighbors").shape
    ((12, 12), (21, 6))
    """
    import pandas as pd

    validate("kind", kind, OneOf(*KINDS))
    if len(explanation) == 0:
        raise ValueError("There are no explained rows to show.")
    if kind == "rows":
        return overview(explanation).rows
    if kind == "relevances":
        names = list(explanation.feature_names)
        return pd.DataFrame(explanation.relevances, index=explanation.query_ids, columns=names)
    return _reasons(explanation) if kind == "reasons" else _neighbors(explanation)


def _of_rows(e: Any, query: Indices) -> dict[str, Any]:
    """Return the first columns of a table by query."""
    return {
        "row": query if e._query_rows is None else e._query_rows[query],
        "id": None if e.query_ids is None else e.query_ids[query].astype(str),
        "true_label": None if e.true_labels is None else e.true_labels[query],
        "prediction": e.predictions[query],
    } | ({"low": e.intervals[query, 0], "high": e.intervals[query, 1]} if of_values(e) else {})


def _reasons(e: Any) -> pd.DataFrame:
    n_queries, n_features = e.relevances.shape
    query = np.repeat(np.arange(n_queries), n_features)
    feature = np.argsort(-np.abs(e._support), axis=1, kind="stable").ravel()
    at = (query, feature)
    is_value = of_values(e)
    known = e._distribution is not None and not is_value
    typical = np.stack([e._typical_texts(y) for y in e.predictions]) if known else None
    return frame_of(
        _of_rows(e, query)
        | {
            "decision": None if e.decisions is None else [made.decision for made in e.decisions[query]],
            "probability": None if is_value else e.probabilities[query, e._predicted[query]],
            "base_value": e.base_values[query, e._predicted[query]],
            "column": e.feature_names[feature],
            "value": [value_text(value) for value in e.values[at].tolist()],  # numbers and text in one column
            "support": e._support[at],
            "standard_error": e._support_error[at],
            "relevance": e.relevances[at],
            "percentile": None if e._percentiles is None else e._percentiles[at],
            "category_share": None if e._category_shares is None else e._category_shares[at],
            "typical": None if typical is None else typical[at],
        }
    )


def _neighbors(e: Any) -> pd.DataFrame:
    is_value = of_values(e)
    query, neighbor = np.nonzero(e.vote_shares > 0)  # with sample weights, more rows vote on some queries
    return frame_of(
        {name: values for name, values in _of_rows(e, query).items() if name != "true_label"}
        | {
            "neighbor_row": e.neighbors[query, neighbor],
            "neighbor_id": None if e.neighbor_ids is None else e.neighbor_ids[query, neighbor],
            "neighbor_value" if is_value else "neighbor_label": e.neighbor_labels[query, neighbor],
            "adjusted": e.adjusted[query, neighbor] if is_value else None,
            "distance": e.distances[query, neighbor],
            "vote_share": e.vote_shares[query, neighbor],
        }
    )


def to_dict(explanation: Explanation) -> list[dict[str, Any]]:
    """Return a dictionary for each query, ready for JSON.

    Classes and features are strings as keys; numbers that are not finite are None.

    Parameters
    ----------
    explanation : Explanation

    Returns
    -------
    rows : list of dict
        Each with ``prediction``, ``probabilities`` (by class), ``runner_up``, ``similar`` (how many of the
        rows that voted have each label), ``base_value`` (of the prediction), ``reasons`` (a list, the largest
        first, each with ``column``, ``value``, ``support``, ``standard_error`` and ``told``, whether the
        sentences can name it), ``relevances`` (by feature), ``percentiles`` and ``category_shares`` (by
        feature, where there are any), ``typical`` (of the prediction, by feature, as text), ``is_far``,
        ``left_out`` (the row number of the training row that the query is, which did not vote; None if it is
        none), and ``neighbors``, nearest first, each with ``row``, ``id`` (if there are ids), ``label``,
        ``distance`` and ``vote_share``. If the queries have row numbers or ids, ``row`` and ``id`` come
        first, and ``true_label`` follows if labels are known. Of predicted numbers, ``interval``, the ends of
        that of 90%, and ``deviation`` take the place of ``probabilities``, ``runner_up`` and ``similar``, and
        ``value`` that of ``label``. With a reject option, ``decision`` ("accepted",
        "ambiguous" or "far") and ``decided_by`` (the figures of `Decision.to_dict`, and ``reason``, a
        sentence, None if it was accepted) follow the prediction. If a query has a category that no training
        row has, ``unseen`` names these features; if one has a gap that no training row has, ``unmeasured``
        names the features without which distances are measured; if one has a number outside the range of the
        training rows, ``outside`` names these features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> rows = LANNClassifier(random_state=0).fit(X, y).explain(X[:1]).to_dict()
    >>> rows[0]["prediction"], rows[0]["similar"], rows[0]["reasons"][0]["column"]
    (0, {'0': 40}, 'x2')
    """
    e, features = explanation, [str(name) for name in explanation.feature_names]
    unknown = [None] * len(e)

    def by_feature(values: NDArray[Any]) -> list[dict[str, Any]]:
        return [dict(zip(features, row, strict=True)) for row in to_plain(values)]

    def known(values: Floats | None) -> list[Any]:
        found = unknown if values is None else by_feature(values)
        return [row and {name: value for name, value in row.items() if value is not None} for row in found]

    def marked(marks: NDArray[np.bool_] | None) -> list[list[str]] | None:
        """Return the features that are marked for each query; None if none is."""
        if marks is None or not marks.any():
            return None
        return [[features[feature] for feature in np.flatnonzero(row)] for row in marks]

    typical: list[Any] = unknown
    if e._distribution is not None and not of_values(e):
        typical = [dict(zip(features, e._typical_texts(label), strict=True)) for label in e.predictions]
    decisions = None if e.decisions is None else e.decisions.tolist()
    views = list(rows(e))
    return _records(
        {
            "row": e._query_rows,
            "id": e.query_ids,
            "true_label": e.true_labels,
            "prediction": e.predictions,
            "decision": decisions and [made.decision for made in decisions],
            "decided_by": decisions
            and [made.to_dict() | {"reason": made.reason or None} for made in decisions],
            **_outputs(e, views),
            "base_value": [view.base_value for view in views],
            "reasons": [
                _records(
                    {
                        "column": view.feature_names,
                        "value": to_plain(list(e.values[i, view._order])),
                        "support": view.support,
                        "standard_error": view.support_errors,
                        "told": view.is_reason,
                    }
                )
                for i, view in enumerate(views)
            ],
            "relevances": by_feature(e.relevances),
            "percentiles": known(e._percentiles),
            "category_shares": known(e._category_shares),
            "typical": typical,
            "is_far": unknown if e.is_far is None else e.is_far,
            "left_out": [None if row < 0 else int(row) for row in e.left_out],
            "unseen": marked(e._unseen),
            "unmeasured": marked(e._unmeasured),
            "outside": marked(e._outside),
            "neighbors": [
                _records(
                    {
                        "row": e.neighbors[i],
                        "id": None if e.neighbor_ids is None else e.neighbor_ids[i],
                        "value" if of_values(e) else "label": e.neighbor_labels[i],
                        "distance": e.distances[i],
                        "vote_share": e.vote_shares[i],
                    }
                )
                for i in range(len(e))
            ],
        }
    )


def _outputs(e: Any, views: list[Any]) -> dict[str, Any]:
    """Return what is predicted beside the label or the value, by query."""
    if of_values(e):
        return {"interval": e.intervals.tolist(), "deviation": e.deviations}
    classes = [str(label) for label in e.classes]
    return {
        "probabilities": [dict(zip(classes, row, strict=True)) for row in to_plain(e.probabilities)],
        "runner_up": e.runner_up,
        "similar": [{str(label): n for label, n in view.label_counts} for view in views],
    }


def _records(columns: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a dictionary for each entry of columns of plain values or arrays; None is no column."""
    known = {name: values for name, values in columns.items() if values is not None}
    lists = [to_plain(values) if isinstance(values, np.ndarray) else values for values in known.values()]
    return [dict(zip(known, row, strict=True)) for row in zip(*lists, strict=True)]


def to_shap(explanation: Explanation, label: Any = None) -> shap.Explanation:
    """Return a `shap.Explanation`, for waterfall, beeswarm and other plots of the `shap` package.

    The values are the supports of a class, which estimate its Shapley values where features are drawn
    independently of each other; the base value is the mean probability at the reference rows.

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
    >>> from lann.explain import to_shap
    >>> X, y = load_iris(return_X_y=True)
    >>> found = to_shap(LANNClassifier(random_state=0).fit(X, y).explain(X[:3]))
    >>> found.shape, (found.base_values + found.values.sum(axis=1)).round(6).tolist()
    ((3, 4), [0.995962, 0.995962, 0.995962])
    """
    try:
        import shap
    except ImportError as error:
        raise ImportError("to_shap needs the shap package: pip install 'lann[shap]'.") from error

    every, class_indices = np.arange(len(explanation)), explanation._predicted
    if label is not None:
        check_label(label, explanation.classes, "label")
        class_indices = np.full(len(explanation), np.flatnonzero(explanation.classes == label)[0])
    values, shown = explanation.values, None
    if values.dtype.kind != "f" or np.isnan(values).any():
        texts = [f"{v:.4g}" if isinstance(v, float) and v == v else value_text(v) for v in values.ravel()]
        shown = np.array(texts, dtype=object).reshape(values.shape)
        shown[:, explanation._feature_columns < 0] = "several"  # groups of features have no single value
    return shap.Explanation(
        values=explanation.supports[every, class_indices],
        base_values=explanation.base_values[every, class_indices],
        data=explanation._queries,
        display_data=shown,
        feature_names=[str(name) for name in explanation.feature_names],
    )
