"""Counterfactuals: small changes in few features that lead to another prediction."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._support.inputs import differ, get_feature_names
from lann._support.types import Floats, Indices
from lann._support.validation import Integer, Number, validate
from lann.columns.inputs import frame_of_values, read_queries, row_ids
from lann.columns.schema import TableSchema
from lann.explain._constraints import Constraints
from lann.explain._contrast import RowPairs
from lann.explain._counterfactual_search import Goal, Search, target_class_indices
from lann.explain._training_rows import frame_of, model_of, values_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Counterfactuals(RowPairs):
    """Rows that differ from some queries in few features, and have another prediction.

    Queries have one result, or several that change different features, the best first. All arrays have one
    entry for each result.

    Attributes
    ----------
    queries : ndarray of shape (n_results, n_features)
    predictions : ndarray of shape (n_results,)
        Predicted labels of the queries.
    rows : ndarray of shape (n_results, n_features)
        The changed queries, as numbers; where no change was found, the query itself.
    labels : ndarray of shape (n_results,)
        Predicted labels of `rows`.
    found : ndarray of shape (n_results,)
        Whether the predicted label is now the wanted one, with the probability that it is to have.
    positions : ndarray of shape (n_results,)
        Positions of the queries.
    distances : ndarray of shape (n_results,)
        Total size of the changes, in standard deviations of the features; another category, and a value in
        place of a gap, counts 1.
    plausibility : ndarray of shape (n_results,)
        Share of the ten nearest training rows of `rows` that have its label, if all features count alike; of
        more than 2000 training rows, of a sample. NaN for a query that is not changed.
    probabilities, row_probabilities : ndarray of shape (n_results,)
        Probabilities of `predictions` for the queries, and of `labels` for the changed queries.
    label_probabilities : ndarray of shape (n_results,)
        Probabilities of `labels` for the queries.
    feature_names : ndarray of shape (n_features,)
    query_ids : ndarray of shape (n_results,) or None
        Names of the queries: the index of their table.
    query_values : ndarray of shape (n_results, n_features)
        The queries in the user's values.
    row_values : ndarray of shape (n_results, n_features)
        The changed queries in the user's values.
    query_rows : ndarray of shape (n_results,) or None
        Row numbers of the queries in the table they come from; None numbers them from 0.
    """

    found: NDArray[np.bool_]
    positions: Indices
    plausibility: Floats
    probabilities: Floats
    row_probabilities: Floats
    label_probabilities: Floats
    query_ids: NDArray[Any] | None = None
    query_rows: Indices | None = None
    _schema: TableSchema | None = field(default=None, repr=False)

    @property
    def changed(self) -> NDArray[np.bool_]:
        """Which features differ: (n_results, n_features)."""
        return differ(self.rows, self.queries)

    @property
    def ranks(self) -> Indices:
        """Rank of each result among those of its query, from 1: (n_results,)."""
        return np.arange(len(self)) - np.searchsorted(self.positions, self.positions) + 1

    @property
    def n_queries(self) -> int:
        """Number of queries, changed or not."""
        return len(np.unique(self.positions))

    def __repr__(self) -> str:
        queries = "1 query" if self.n_queries == 1 else f"{self.n_queries} queries"
        return f"<Counterfactuals of {queries}: {self.found.sum()} found>"

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row per changed feature; unchanged queries are missing.

        Returns
        -------
        frame : DataFrame
            With the columns ``query`` (the row number, or the position), ``query_id`` (if there are ids),
            ``rank`` (from 1), ``prediction``, ``becomes``, ``probability_before`` and
            ``probability_after`` (of the label that it becomes), ``plausibility``, ``feature``, ``from`` and
            ``to``, the latter two in the user's values.
        """
        result, feature = np.nonzero(self.changed)
        rows = self.positions if self.query_rows is None else self.query_rows
        columns: dict[str, Any] = {
            "query": rows, "query_id": self.query_ids, "rank": self.ranks,
            "prediction": self.predictions, "becomes": self.labels,
            "probability_before": self.label_probabilities, "probability_after": self.row_probabilities,
            "plausibility": self.plausibility,
        }  # fmt: skip
        by_result = {name: None if of is None else of[result] for name, of in columns.items()}
        old, new = self.query_values[result, feature], self.row_values[result, feature]
        return frame_of(by_result | {"feature": self.feature_names[feature], "from": old, "to": new})

    def to_dict(self) -> list[dict[str, Any]]:
        """Return a dictionary for each result.

        Returns
        -------
        rows : list of dict
            Each with ``row`` (the row number, or the position), ``id`` (if there are ids), ``rank``,
            ``prediction``, ``probability``, ``found``, and, which are None without a change, ``becomes``,
            ``probability_before`` and ``probability_after`` (of the label that it becomes), ``plausibility``
            and ``distance``; and ``changes``: a list of the features that change, each with ``column``,
            ``from`` and ``to``.
        """
        rows = self.positions if self.query_rows is None else self.query_rows
        of_change = {
            "becomes": self.labels, "probability_before": self.label_probabilities,
            "probability_after": self.row_probabilities, "plausibility": self.plausibility,
            "distance": self.distances,
        }  # fmt: skip
        documents = []
        for i, (changed, rank) in enumerate(zip(self.changed, self.ranks.tolist(), strict=True)):
            values = zip(self.feature_names, self.query_values[i], self.row_values[i], strict=True)
            changes = [
                {"column": str(name), "from": old, "to": new} for name, old, new in compress(values, changed)
            ]
            documents.append(
                {"row": int(rows[i])}
                | ({} if self.query_ids is None else {"id": str(self.query_ids[i])})
                | {
                    "rank": rank,
                    "prediction": self.predictions[i],
                    "probability": float(self.probabilities[i]),
                    "found": bool(self.found[i]),
                    **{name: values[i] if changes else None for name, values in of_change.items()},
                    "changes": changes,
                }
            )
        return documents

    def to_table(self) -> Any:
        """Return the changed queries as the classifier takes them.

        Returns
        -------
        table : DataFrame or ndarray of shape (n_results, n_features)
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
    at_least: float = 0.6,
    constraints: Constraints | Mapping[str, Any] | str | os.PathLike[str] | None = None,
    n_results: int = 1,
    max_features: int = 3,
) -> Counterfactuals:
    """Find a small change of each query, in few features, that leads to another prediction.

    Queries are changed toward the nearest training rows of other labels, and toward typical values of the
    features, one feature at a time until the prediction changes; then every change is made as small as
    possible. The more plausible change comes first, that after which all ten nearest training rows have the
    wanted label; where none is found, eight, six, and so on. Among these, the change costs least, where each
    feature that changes costs 1 and the size of its change. Each result is verified by predicting again. A
    smaller change than the one found may exist.

    Values have as many decimals as those of the training rows, at most as many as a thousandth of the
    standard deviation needs. Of more than 200 features, those 100 are changed that have the largest weights
    in the metrics.

    A category becomes another one of the data. No value becomes a gap, and a gap stays one unless the
    constraints name its feature in `allow`. Bools, ordered categories and dates stay on their steps. Changed
    numbers are between the 1st and the 99th percentile of the training rows; only if nothing else reaches the
    goal, between the smallest and the largest.

    Parameters
    ----------
    clf : estimator
        A fitted LANNClassifier, or a baseline with neighbors.
    X : array-like or table of shape (n_queries, n_features)
    target : object or array-like of shape (n_queries,), default=None
        The label that is wanted, one for all or one per query; None is any other than the predicted one. A
        query that has it already, with the probability that is wanted, is not changed.
    at_least : float, default=0.6
        The probability that the wanted label is to have.
    constraints : Constraints, mapping, path or None, default=None
        What may change: a mapping with the parameters of `Constraints`, or a TOML file of it.
    n_results : int, default=1
        Number of changes of each query, at most. None of them changes all features that another changes.
    max_features : int, default=3
        Number of features that change together, at most.

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
    >>> only = {"frozen": ["sepal length (cm)"], "direction": {"petal width (cm)": "up"}}
    >>> changes = counterfactuals(clf, X[60:62], target=2, at_least=0.8, constraints=only)
    >>> changes.labels, (changes.row_probabilities >= 0.8).all()
    (array([2, 2]), np.True_)
    """
    model, queries, names = model_of(clf), read_queries(clf, X), get_feature_names(clf)
    validate("at_least", at_least, Number(0, 1))
    validate("n_results", n_results, Integer(1))
    validate("max_features", max_features, Integer(1))
    schema: TableSchema | None = getattr(clf, "schema_", None)
    limits = Constraints.of(constraints).limits(
        list(names), schema or TableSchema.numeric(list(names), has_names=False), model.X
    )
    search = Search(model, limits, n_results=n_results, max_features=max_features, n_jobs=clf.n_jobs)
    before = search.predict(queries)
    goal = Goal(before.argmax(axis=1), target_class_indices(target, clf.classes_, len(queries)), at_least)
    changes = search.run(queries, goal)
    positions, rows, after = changes.queries, changes.rows, changes.probabilities
    origins, labels, every = goal.origins[positions], after.argmax(axis=1), np.arange(len(rows))
    ids, shown = row_ids(X), values_of(clf, queries, X)[positions]
    return Counterfactuals(
        queries=queries[positions],
        predictions=clf.classes_[origins],
        rows=rows,
        labels=clf.classes_[labels],
        found=goal[positions].reached(after),
        positions=positions,
        distances=limits.amounts(rows, queries[positions]).sum(axis=1),
        plausibility=changes.plausibility,
        probabilities=before[positions, origins],
        row_probabilities=after[every, labels],
        label_probabilities=before[positions, labels],
        feature_names=names,
        query_values=shown,
        row_values=np.where(differ(rows, queries[positions]), values_of(clf, rows), shown),
        query_ids=None if ids is None else ids[positions],
        _schema=schema,
    )
