"""Counterfactuals: the smallest change in few features that leads to another prediction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._support.inputs import differ, get_feature_names
from lann._support.types import Floats, Indices
from lann._support.validation import Integer, validate
from lann.columns.inputs import frame_of_values, read_queries, row_ids
from lann.columns.schema import TableSchema
from lann.explain._contrast import RowPairs
from lann.explain._counterfactual_search import Goal, Search, target_class_indices
from lann.explain._training_rows import frame_of, model_of, values_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Counterfactuals(RowPairs):
    """Rows that differ little from some queries, and have another prediction.

    Attributes
    ----------
    queries : ndarray of shape (n_queries, n_features)
    predictions : ndarray of shape (n_queries,)
        Predicted labels of the queries.
    rows : ndarray of shape (n_queries, n_features)
        The changed queries, as numbers; where no change was found, the query itself.
    labels : ndarray of shape (n_queries,)
        Predicted labels of `rows`.
    found : ndarray of shape (n_queries,)
        Whether the predicted label is now the wanted one.
    distances : ndarray of shape (n_queries,)
        Total size of the changes, in standard deviations of the features; another category, and a value in
        place of a gap, counts 1.
    feature_names : ndarray of shape (n_features,)
    query_ids : ndarray of shape (n_queries,) or None
        Names of the queries: the index of their table.
    query_values : ndarray of shape (n_queries, n_features)
        The queries in the user's values.
    row_values : ndarray of shape (n_queries, n_features)
        The changed queries in the user's values.
    query_rows : ndarray of shape (n_queries,) or None
        Row numbers of the queries in the table they come from; None numbers them from 0.
    probabilities, row_probabilities : ndarray of shape (n_queries,) or None
        Probabilities of `predictions` for the queries, and of `labels` for the changed queries; None if they
        are unknown.
    """

    found: NDArray[np.bool_]
    query_ids: NDArray[Any] | None = None
    query_rows: Indices | None = None
    probabilities: Floats | None = None
    row_probabilities: Floats | None = None
    _schema: TableSchema | None = field(default=None, repr=False)

    @property
    def changed(self) -> NDArray[np.bool_]:
        """Which features differ: (n_queries, n_features)."""
        return differ(self.rows, self.queries)

    def __repr__(self) -> str:
        queries = "1 query" if len(self) == 1 else f"{len(self)} queries"
        return f"<Counterfactuals of {queries}: {self.found.sum()} found>"

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row per changed feature; unchanged queries are missing.

        Returns
        -------
        frame : DataFrame
            With the columns ``query`` (the row number, or the position), ``query_id`` (if there are ids),
            ``prediction``, ``becomes``, ``feature``, ``from`` and ``to``, the latter two in the user's
            values.
        """
        query, feature = np.nonzero(self.changed)
        return frame_of(
            {
                "query": query if self.query_rows is None else self.query_rows[query],
                "query_id": None if self.query_ids is None else self.query_ids[query],
                "prediction": self.predictions[query],
                "becomes": self.labels[query],
                "feature": self.feature_names[feature],
                "from": self.query_values[query, feature],
                "to": self.row_values[query, feature],
            }
        )

    def to_dict(self) -> list[dict[str, Any]]:
        """Return a dictionary for each query.

        Returns
        -------
        rows : list of dict
            Each with ``row`` (the row number, or the position), ``id`` (if there are ids), ``prediction``,
            ``probability`` (None if it is unknown), ``found``, ``becomes`` and ``new_probability`` (None if
            no change was found), ``distance`` and ``changes``: a list of the features that change, each with
            ``column``, ``from`` and ``to``.
        """
        rows = np.arange(len(self)) if self.query_rows is None else self.query_rows
        before, after = self.probabilities, self.row_probabilities
        documents = []
        for i, changed in enumerate(self.changed):
            values = zip(self.feature_names, self.query_values[i], self.row_values[i], strict=True)
            of_row = compress(values, changed)
            changes = [{"column": str(name), "from": old, "to": new} for name, old, new in of_row]
            documents.append(
                {"row": int(rows[i])}
                | ({} if self.query_ids is None else {"id": str(self.query_ids[i])})
                | {
                    "prediction": self.predictions[i],
                    "probability": None if before is None else float(before[i]),
                    "found": bool(self.found[i]),
                    "becomes": self.labels[i] if changes else None,
                    "new_probability": float(after[i]) if changes and after is not None else None,
                    "distance": float(self.distances[i]) if changes else None,
                    "changes": changes,
                }
            )
        return documents

    def to_table(self) -> Any:
        """Return the changed queries as the classifier takes them.

        Returns
        -------
        table : DataFrame or ndarray of shape (n_queries, n_features)
            A DataFrame in the user's values, with the index of the queries, if the classifier was fitted to a
            table; otherwise an array.
        """
        if self._schema is None or not self._schema.has_names:
            return self.row_values.copy()
        return frame_of_values(self._schema, self.row_values, self.query_ids)


def counterfactuals(
    clf: Any,
    X: ArrayLike,
    *,
    target: Any = None,
    frozen: Iterable[Any] = (),
    max_features: int = 3,
    integers: str | Iterable[Any] = "auto",
    n_candidates: int = 5,
) -> Counterfactuals:
    """Find the smallest change of each query, in few features, that leads to another prediction.

    Queries are changed toward the nearest training rows of other labels, and toward typical values of the
    features (extreme values only if that fails), one feature at a time until the prediction changes; then
    every change is made as small as possible. Fewer features come first, then smaller changes. Each result is
    verified by predicting again. A smaller change than the one found may exist.

    Of more than 200 features, those 100 are changed that have the largest weights in the metrics.

    A category becomes another one of the data, a gap can become a value, and no value becomes a gap. Bools,
    ordered categories and dates stay on their steps.

    Parameters
    ----------
    clf : estimator
        A fitted LANNClassifier, or a baseline with neighbors.
    X : array-like or table of shape (n_queries, n_features)
    target : object or array-like of shape (n_queries,), default=None
        The label that is wanted, one for all or one per query; None is any other than the predicted one. A
        query that has it already is not changed.
    frozen : iterable of str or int, default=()
        Names or positions of features that must not change.
    max_features : int, default=3
        Number of features that change together, at most.
    integers : "auto" or iterable of str or int, default="auto"
        Names or positions of features that stay integer; "auto" is those with nothing else in the data.
    n_candidates : int, default=5
        Number of rows toward which each query is changed, and of changes that are made small.

    Returns
    -------
    counterfactuals : Counterfactuals

    Raises
    ------
    ValueError
        If an argument is invalid, or the classifier keeps no training rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.explain import counterfactuals
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = LANNClassifier(random_state=0).fit(X, y)
    >>> changes = counterfactuals(clf, X[60:62], target=2, frozen=["sepal length (cm)"])
    >>> changes.found.all(), changes.labels
    (np.True_, array([2, 2]))
    """
    model, queries, names = model_of(clf), read_queries(clf, X), get_feature_names(clf)
    validate("max_features", max_features, Integer(1))
    validate("n_candidates", n_candidates, Integer(1))
    schema: TableSchema | None = getattr(clf, "schema_", None)
    search = Search(
        model, list(names), schema, frozen=frozen, integers=integers, n_candidates=n_candidates,
        max_features=max_features, n_jobs=clf.n_jobs,
    )  # fmt: skip
    origins = search.predict(queries)
    goal = Goal(origins, target_class_indices(target, clf.classes_, len(queries)))
    rows, labels = search.run(queries, goal)
    shown = values_of(clf, queries, X)
    return Counterfactuals(
        queries=queries.copy(),
        predictions=clf.classes_[origins],
        rows=rows,
        labels=clf.classes_[labels],
        found=goal.reached(labels),
        distances=search.sizes(rows, queries),
        feature_names=names,
        query_values=shown.copy(),
        row_values=np.where(differ(rows, queries), values_of(clf, rows), shown),
        query_ids=row_ids(X),
        _schema=schema,
    )
