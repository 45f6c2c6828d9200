"""The nearest training row of another class than predicted, and the features in which it differs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._support.inputs import get_feature_names
from lann._support.types import Floats, Indices
from lann.columns.inputs import read_queries, row_ids
from lann.explain._supports import split_distances
from lann.explain._training_rows import check_label, frame_of, model_of, values_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class RowPairs:
    """Queries with another row beside each: their numbers, labels and values as they are shown."""

    queries: Floats
    predictions: NDArray[Any]
    rows: NDArray[Any]
    labels: NDArray[Any]
    distances: Floats
    feature_names: NDArray[Any]
    query_values: NDArray[Any]
    row_values: NDArray[Any]

    def __len__(self) -> int:
        return len(self.predictions)


@dataclass(frozen=True, eq=False)
class Contrast(RowPairs):
    """The nearest training row of another class for some queries.

    Attributes
    ----------
    queries : ndarray of shape (n_queries, n_features)
    predictions : ndarray of shape (n_queries,)
        Predicted labels.
    rows : ndarray of shape (n_queries,)
        Positions of the training rows.
    labels : ndarray of shape (n_queries,)
        Their labels.
    values : ndarray of shape (n_queries, n_features)
        Their values as numbers.
    distances : ndarray of shape (n_queries,)
        Lengths, as each row measures.
    contributions : ndarray of shape (n_queries, n_features)
        What each feature adds to the squared distance: the features in which the row differs.
    feature_names : ndarray of shape (n_features,)
    query_values, row_values : ndarray of shape (n_queries, n_features)
        The queries and the training rows in the user's values.
    ids : ndarray of shape (n_queries,) or None
        Names of the training rows: the index of the training data.
    query_ids : ndarray of shape (n_queries,) or None
        Names of the queries.
    """

    values: Floats
    contributions: Floats
    ids: NDArray[Any] | None = None
    query_ids: NDArray[Any] | None = None

    def __repr__(self) -> str:
        queries = "1 query" if len(self) == 1 else f"{len(self)} queries"
        return f"<Contrast of {queries} with the nearest training rows of other classes>"

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row per query.

        Returns
        -------
        frame : DataFrame
            With the columns ``query``, ``query_id`` (if there are ids), ``prediction``, ``row``, ``id`` (if
            there are ids), ``label``, ``distance`` and ``contribution of ...`` for every feature.
        """
        columns: dict[str, Any] = {
            "query": np.arange(len(self)), "query_id": self.query_ids, "prediction": self.predictions,
            "row": self.rows, "id": self.ids, "label": self.labels, "distance": self.distances,
        }  # fmt: skip
        for feature, name in enumerate(self.feature_names):
            columns[f"contribution of {name}"] = self.contributions[:, feature]
        return frame_of(columns)


def nearest_other_class(clf: Any, X: ArrayLike, *, target: Any = None) -> Contrast:
    """Find the nearest training row of another class than predicted, as that row measures.

    The search is that of the model: among the `n_candidates` nearest rows of each class under the class
    metrics, or among all rows.

    Parameters
    ----------
    clf : estimator
        A fitted LANNClassifier, or a baseline with neighbors.
    X : array-like of shape (n_queries, n_features)
    target : object, default=None
        The class to search, also if it is the predicted one; None is every class but the predicted one.

    Returns
    -------
    contrast : Contrast

    Raises
    ------
    ValueError
        If `target` is not one of the classes, there is no training row to find, or the classifier keeps no
        training rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.explain import nearest_other_class
    >>> X, y = load_iris(return_X_y=True)
    >>> contrast = nearest_other_class(LANNClassifier(random_state=0).fit(X, y), X[[0, 60, 120]])
    >>> contrast.predictions, contrast.labels
    (array([0, 1, 2]), array([1, 2, 1]))
    >>> contrast.contributions.shape
    (3, 4)
    """
    model, classes = model_of(clf), clf.classes_
    queries = read_queries(clf, X)
    if target is not None:
        check_label(target, classes)
    predictions = clf.predict(X)
    one_class = np.tile(classes == target, (len(queries), 1))
    allowed = classes != predictions[:, None] if target is None else one_class
    found, squared = model.kneighbors_of_classes(queries, allowed, 1, n_jobs=clf.n_jobs)
    if (found < 0).any():
        what = "another class than predicted" if target is None else f"the class {target!r}"
        raise ValueError(f"There is no training row of {what}.")
    contrast = _contrast(clf, queries, found[:, 0], predictions, values_of(clf, queries, X))
    return replace(contrast, distances=np.sqrt(squared[:, 0]), query_ids=row_ids(X))


def _contrast(
    clf: Any, queries: Floats, rows: Indices, predictions: NDArray[Any], query_values: NDArray[Any]
) -> Contrast:
    """Return the contrast of queries with given training rows."""
    model, ids = clf.model_, getattr(clf, "ids_", None)
    contributions = split_distances(model, queries, rows[:, None])[:, 0]
    return Contrast(
        queries=queries,
        predictions=predictions,
        rows=rows,
        labels=clf.classes_[model.labels[rows]],
        values=model.X[rows],
        distances=np.sqrt(np.maximum(contributions.sum(axis=1), 0.0)),
        contributions=contributions,
        feature_names=get_feature_names(clf),
        query_values=query_values,
        row_values=values_of(clf, model.X[rows]),
        ids=None if ids is None else ids[rows],
    )
