"""Contrasts: training rows of other classes, and the features in which they differ from a query.

Near contrast rows show what keeps the query from the other class, but often are similar to it in what matters
most. Therefore half of those that supports are based on are representative of their classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._support.inputs import get_feature_names
from lann._support.threads import single_threaded_blas
from lann._support.types import Floats, Indices, Labels
from lann.columns.inputs import read_queries, row_ids
from lann.explain._build import split_distances
from lann.explain._fitted import (
    Queries,
    check_label,
    frame_of,
    model_of,
    values_of_queries,
    values_of_rows,
)
from lann.search import smallest

if TYPE_CHECKING:
    import pandas as pd

    from lann.explain._explanation import Explanation
    from lann.model import NeighborModel

# Number of contrast rows of a row.
N_CONTRASTS = 6
# Number of near ones that are chosen for a query, and of representative ones.
N_NEAR, N_REPRESENTATIVE = 2, 2
# Number of rows that represent a class.
N_OF_CLASS = 4
# The nearest rows of other classes among which typical ones are searched, per row that is wanted.
N_SEARCHED = 4
# Coordinates that are held at once for a block of queries: 32 MB.
HELD_COORDINATES = 2**22


@dataclass(frozen=True, eq=False)
class Contrast:
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

    queries: Floats
    predictions: NDArray[Any]
    rows: Indices
    labels: NDArray[Any]
    values: Floats
    distances: Floats
    contributions: Floats
    feature_names: NDArray[Any]
    query_values: NDArray[Any]
    row_values: NDArray[Any]
    ids: NDArray[Any] | None = None
    query_ids: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.predictions)

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
    wanted = classes[None, :] != predictions[:, None] if target is None else classes[None, :] == target
    allowed = np.broadcast_to(wanted, (len(queries), len(classes)))
    found, squared = model.kneighbors_of_classes(queries, allowed, 1, n_jobs=clf.n_jobs)
    rows = found[:, 0]
    if (rows < 0).any():
        what = "another class than predicted" if target is None else f"the class {target!r}"
        raise ValueError(f"There is no training row of {what}.")
    return _contrast(
        Queries(model, queries), clf, rows, np.sqrt(squared[:, 0]), predictions,
        query_values=values_of_queries(clf, X, queries), query_ids=row_ids(X),
    )  # fmt: skip


def _contrast(
    queries: Queries,
    clf: Any,
    nearest: Indices,
    distances: Floats | None,
    predictions: NDArray[Any],
    **others: Any,
) -> Contrast:
    """Return the contrast of queries with given training rows."""
    model, ids = queries.model, getattr(clf, "ids_", None)
    contributions = split_distances(model, queries.rows, nearest[:, None])[:, 0]
    if distances is None:
        distances = np.sqrt(np.maximum(contributions.sum(axis=1), 0.0))
    return Contrast(
        **{
            "queries": queries.rows,
            "predictions": predictions,
            "rows": nearest,
            "labels": clf.classes_[model.labels[nearest]],
            "values": model.X[nearest],
            "distances": distances,
            "contributions": contributions,
            "feature_names": get_feature_names(clf),
            "row_values": values_of_rows(clf, model.X[nearest]),
            "ids": None if ids is None else ids[nearest],
        }
        | others
    )


def contrast_of_explanation(
    clf: Any, explanation: Explanation, *, row_numbers: Indices | None = None
) -> Contrast | None:
    """Find the nearest training row of another class for explained rows, in the values that they show.

    A training row that was left out of its own vote is left out here, too.

    Parameters
    ----------
    clf : estimator
        The classifier that explained: a LANNClassifier, or a baseline with neighbors.
    explanation : Explanation
        Of rows with the features of the classifier.
    row_numbers : ndarray of shape (n_train,) or None, default=None
        Row numbers of the training rows, by which the explanation names them; None is their positions.

    Returns
    -------
    contrast : Contrast or None
        Its rows go by the row numbers. None if the features were grouped, or there is no other class.

    Raises
    ------
    ValueError
        If the classifier keeps no training rows.

    See Also
    --------
    nearest_other_class : The same for rows that are not explained.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.explain import contrast_of_explanation
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LANNClassifier(random_state=0).fit(X, y)
    >>> contrast_of_explanation(clf, clf.explain(X[[0, 60, 120]])).labels
    array([1, 2, 1])
    """
    model, classes, queries = model_of(clf), clf.classes_, explanation.queries
    if queries.shape[1] != model.X.shape[1] or explanation.has_groups:
        return None
    numbers = np.arange(len(model.X)) if row_numbers is None else row_numbers
    allowed = classes[None, :] != explanation.predictions[:, None]
    found, _ = model.kneighbors_of_classes(queries, allowed, 2, n_jobs=clf.n_jobs)
    nearest = np.where(numbers[found[:, 0]] == explanation.left_out, found[:, 1], found[:, 0])
    if (nearest < 0).any():
        return None
    values = explanation._training_values
    others: dict[str, Any] = {} if values is None else {"row_values": values[numbers[nearest]]}
    if explanation.neighbor_ids is None:
        others["ids"] = None
    return _contrast(
        Queries(model, queries), clf, nearest, None, explanation.predictions, rows=numbers[nearest],
        feature_names=explanation.feature_names, query_values=explanation.query_values,
        query_ids=explanation.query_ids, **others,
    )  # fmt: skip


def nearest_contrasts(queries: Queries, class_indices: Labels, k: int = N_CONTRASTS) -> Indices:
    """Return the nearest typical rows of other classes: (n_queries, k).

    A row is typical if the others predict its label: one that is mislabeled says nothing about its class.
    Where there are fewer typical rows, others are taken; -1 where there is none.

    Parameters
    ----------
    queries : Queries
    class_indices : (n_queries,)
        The class of each query.
    k : int
    """
    model, n_jobs = queries.model, queries.n_jobs
    allowed = np.arange(model.n_classes) != class_indices[:, None]
    n_searched = min(N_SEARCHED * k, len(model.X)) if model.has_training_rows else k
    found, _ = model.kneighbors_of_classes(queries.rows, allowed, n_searched, n_jobs=n_jobs)
    if queries.exclude is not None:
        found = np.where(found == queries.exclude[:, None], -1, found)
    rank = np.where(found < 0, 2, 0)
    if model.has_training_rows:
        rows, position = np.unique(found[found >= 0], return_inverse=True)
        rank[found >= 0] = ~_are_typical(model, rows, n_jobs)[position]
    first = np.argsort(rank, axis=1, kind="stable")[:, :k]
    chosen = np.take_along_axis(found, first, axis=1)
    return np.pad(chosen, ((0, 0), (0, k - chosen.shape[1])), constant_values=-1)


def representative_rows(model: NeighborModel, rows: Indices, *, n_jobs: int | None = None) -> Indices:
    """Choose rows that represent each class: (n_classes, N_OF_CLASS), -1 where there are fewer.

    Of the typical ones, each is the row with which the mean distance of all rows of the class to the nearest
    chosen one becomes smallest, on the axes.

    Parameters
    ----------
    model : NeighborModel
    rows : (n_rows,)
        Rows to choose from.
    n_jobs : int or None
        Number of threads.
    """
    chosen = np.full((model.n_classes, N_OF_CLASS), -1)
    are_typical = _are_typical(model, rows, n_jobs)
    for label in range(model.n_classes):
        is_own = model.labels[rows] == label
        own = rows[is_own]
        if len(own) == 0:
            continue
        usable = are_typical[is_own] if are_typical[is_own].any() else np.ones(len(own), bool)
        points = model.transform(model.X[own])
        gaps = np.sqrt(np.maximum(_squared_gaps(points), 0.0))  # (n_own, n_own)
        nearest = np.full(len(own), np.inf)
        for number in range(min(N_OF_CLASS, int(usable.sum()))):
            totals = np.minimum(nearest[:, None], gaps).sum(axis=0)
            best = int(np.where(usable, totals, np.inf).argmin())
            chosen[label, number], usable = own[best], usable & (np.arange(len(own)) != best)
            nearest = np.minimum(nearest, gaps[:, best])
    return chosen


def _squared_gaps(points: Floats) -> Floats:
    """Return the squared distances of points to each other, the same bits for any number of threads."""
    with single_threaded_blas():
        sizes = np.einsum("ia,ia->i", points, points)
        return sizes[:, None] + sizes - 2.0 * points @ points.T


def nearest_representatives(queries: Queries, class_indices: Labels, representatives: Indices) -> Indices:
    """Return the nearest rows that represent other classes: (n_queries, 2), -1 where there are fewer.

    Parameters
    ----------
    queries, class_indices
        As for `nearest_contrasts`.
    representatives : (n_classes, N_OF_CLASS)
        -1 for none.
    """
    model, k = queries.model, N_REPRESENTATIVE
    rows = np.sort(representatives[representatives >= 0])
    candidates = np.tile(rows, (len(queries), 1))
    distances = model.distances(queries.rows, candidates)
    candidates[model.labels[rows] == class_indices[:, None]] = -1
    found, _ = smallest(distances, candidates, min(k, len(rows)))
    return np.pad(found, ((0, 0), (0, k - found.shape[1])), constant_values=-1)


def _are_typical(model: NeighborModel, rows: Indices, n_jobs: int | None) -> NDArray[np.bool_]:
    """Return whether the others predict the label of each of some rows; the only row is typical."""
    if len(rows) == 0 or len(model.X) == 1:
        return np.ones(len(rows), bool)
    votes = model.vote(*Queries(model, model.X[rows], rows, n_jobs).voters())
    return votes.probabilities.argmax(axis=1) == model.labels[rows]


def spread_contrasts(queries: Queries, class_indices: Labels, pool: Indices) -> Indices:
    """Choose rows of other classes in different directions: (n_queries, 2), -1 where there are fewer.

    The first is the nearest row of the pool; each further one is the row that is farthest from those chosen,
    on the axes.

    Parameters
    ----------
    queries, class_indices
        As for `nearest_contrasts`.
    pool : (n_queries, n_pool)
        Rows to choose from; those of the class of the query are left out. Where none remains, the nearest
        typical rows are chosen.
    """
    model, pool = queries.model, np.sort(pool, axis=1)
    usable = (pool >= 0) & (model.labels[np.maximum(pool, 0)] != class_indices[:, None])
    usable[:, 1:] &= pool[:, 1:] != pool[:, :-1]
    if queries.exclude is not None:
        usable &= pool != queries.exclude[:, None]
    chosen = np.full((len(queries), N_NEAR), -1)
    rows, position = np.unique(pool[usable], return_inverse=True)
    positions = np.zeros(pool.shape, np.int64)
    positions[usable] = position
    points = model.transform(model.X[rows]) if len(rows) else np.zeros((1, model.n_axes))
    block = max(HELD_COORDINATES // max(pool.shape[1] * max(model.n_axes, 1), 1), 1)
    for start in range(0, len(queries), block):
        part = slice(start, start + block)
        distances = np.where(
            usable[part], model.distances(queries.rows[part], np.maximum(pool[part], 0)), np.inf
        )
        chosen[part] = _spread(distances, pool[part], usable[part], points[positions[part]])
    without = np.flatnonzero(chosen[:, 0] < 0)
    if len(without):
        chosen[without] = nearest_contrasts(queries[without], class_indices[without], N_NEAR)
    return chosen


def _spread(distances: Floats, pool: Indices, usable: NDArray[np.bool_], points: Floats) -> Indices:
    """Choose rows given their distances and points: (n_queries, n_pool) and (n_queries, n_pool, n_axes)."""
    every, chosen = np.arange(len(pool)), np.full((len(pool), N_NEAR), -1)
    next_one, any_left = distances.argmin(axis=1), usable.any(axis=1)
    left, gaps = usable.copy(), np.full(pool.shape, np.inf)
    for number in range(N_NEAR if any_left.any() else 0):
        chosen[any_left, number] = pool[every, next_one][any_left]
        left[every, next_one] = False
        any_left = left.any(axis=1)
        gaps = np.minimum(gaps, np.square(points - points[every, next_one][:, None]).sum(axis=2))
        next_one = np.where(left, gaps, -1.0).argmax(axis=1)
    return chosen
