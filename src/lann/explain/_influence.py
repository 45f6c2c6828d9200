"""The influence of training rows: which predictions change without a row, and by how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._table_inputs import read_queries, row_ids
from lann._types import Floats, Indices
from lann.explain._fitted import check_rows, id_columns, model_of, training_ids
from lann.model import NeighborModel
from lann.search import smallest

if TYPE_CHECKING:
    import pandas as pd

# Candidates of a block of queries that are held at once: 8 MB.
HELD = 2**20


@dataclass(frozen=True, eq=False)
class Influence:
    """How predictions change if one training row or another is left out.

    Only pairs of a row and a query whose vote changes are kept; on other queries the row has no influence.

    Attributes
    ----------
    rows : ndarray of shape (n_rows,)
        The training rows that were left out, one at a time.
    predictions : ndarray of shape (n_queries,)
        Predicted labels with all rows.
    probabilities : ndarray of shape (n_queries, n_classes)
        The vote with all rows.
    pair_rows : ndarray of shape (n_pairs,)
        Positions in `rows`.
    pair_queries : ndarray of shape (n_pairs,)
        Positions of the queries, ascending for each row.
    probabilities_without : ndarray of shape (n_pairs, n_classes)
        The vote on the query without the row.
    classes : ndarray of shape (n_classes,)
    ids : ndarray of shape (n_rows,) or None
        Names of `rows`: the index of the training data.
    query_ids : ndarray of shape (n_queries,) or None
        Names of the queries.
    """

    rows: Indices
    predictions: NDArray[Any]
    probabilities: Floats
    pair_rows: Indices
    pair_queries: Indices
    probabilities_without: Floats
    classes: NDArray[Any]
    ids: NDArray[Any] | None = None
    query_ids: NDArray[Any] | None = None

    @property
    def predictions_without(self) -> NDArray[Any]:
        """Predicted label of each pair's query without its row: (n_pairs,)."""
        return self.classes[self.probabilities_without.argmax(axis=1)]

    @property
    def changes(self) -> Floats:
        """Probability that moves to other classes, from 0 to 1: (n_pairs,)."""
        return 0.5 * np.abs(self.probabilities_without - self.probabilities[self.pair_queries]).sum(axis=1)

    @property
    def totals(self) -> Floats:
        """Changes without each row, added up over all queries: (n_rows,)."""
        totals = np.bincount(self.pair_rows, weights=self.changes, minlength=len(self.rows))
        return totals.astype(np.float64)

    @property
    def n_flipped(self) -> Indices:
        """Number of predicted labels that change without each row: (n_rows,)."""
        flipped = self.predictions_without != self.predictions[self.pair_queries]
        return np.bincount(self.pair_rows[flipped], minlength=len(self.rows))

    def __repr__(self) -> str:
        rows = "1 training row" if len(self.rows) == 1 else f"{len(self.rows)} training rows"
        return (
            f"<Influence of {rows} on {len(self.predictions)} predictions: "
            f"{len(self.pair_rows)} votes change, {self.n_flipped.sum()} labels>"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row per training row and query whose vote changes.

        Returns
        -------
        frame : DataFrame
            With the columns ``row``, ``id`` (if there are ids), ``query``, ``query_id`` (if there are ids),
            ``prediction``, ``without`` (the prediction without the row) and ``change``; the largest changes
            of each row first.
        """
        import pandas as pd

        order = np.lexsort((self.pair_queries, -self.changes, self.pair_rows))
        return pd.DataFrame(
            {
                "row": self.rows[self.pair_rows[order]],
                **id_columns("id", self.ids, self.pair_rows[order]),
                "query": self.pair_queries[order],
                **id_columns("query_id", self.query_ids, self.pair_queries[order]),
                "prediction": self.predictions[self.pair_queries[order]],
                "without": self.predictions_without[order],
                "change": self.changes[order],
            }
        )


def influence(clf: Any, rows: Any, X: ArrayLike) -> Influence:
    """Compute which predictions on X change without a training row, for each of some rows separately.

    The vote is counted again without the row, exactly: the next nearest neighbor takes its place. The metrics
    stay as they are; a new fit without the row might learn slightly different ones.

    Parameters
    ----------
    clf : estimator
        A fitted LANNClassifier, or a baseline with neighbors.
    rows : int, array-like of int or None
        Positions of training rows; None is every one. For any number of rows it costs little more than
        predicting.
    X : array-like of shape (n_queries, n_features)

    Returns
    -------
    influence : Influence

    Raises
    ------
    ValueError
        If the classifier keeps no training rows or only one, or `rows` are not distinct training rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.explain import influence
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LANNClassifier(random_state=0).fit(X[::2], y[::2])
    >>> found = influence(clf, [3, 40], X[1::2])
    >>> found.totals.shape, bool((found.changes > 0).all())
    ((2,), True)
    """
    model = model_of(clf)
    queries, rows = read_queries(clf, X), check_rows(rows, len(model.X))
    if len(model.X) < 2:
        raise ValueError("Without its only training row a model has no vote; at least two rows are needed.")
    ids = training_ids(clf)
    position = np.full(len(model.X), -1)
    position[rows] = np.arange(len(rows))
    n_queries = len(queries)
    probabilities = np.empty((n_queries, model.n_classes))
    found: list[tuple[Indices, Indices, Floats]] = []
    block = max(HELD // min(len(model.X), 128), 1)
    for start in range(0, n_queries, block):
        part = slice(start, min(start + block, n_queries))
        probabilities[part], row, query, vote = _votes_without(model, queries[part], position, clf.n_jobs)
        found.append((row, query + start, vote))
    pair_rows, pair_queries, without = (np.concatenate([f[i] for f in found]) for i in range(3))
    differ = (without != probabilities[pair_queries]).any(axis=1)
    order = np.flatnonzero(differ)[np.lexsort((pair_queries[differ], pair_rows[differ]))]
    return Influence(
        rows=rows,
        predictions=clf.classes_[probabilities.argmax(axis=1)],
        probabilities=probabilities,
        pair_rows=pair_rows[order],
        pair_queries=pair_queries[order],
        probabilities_without=without[order],
        classes=clf.classes_,
        ids=None if ids is None else ids[rows],
        query_ids=row_ids(X),
    )


def _votes_without(
    model: NeighborModel, queries: Floats, position: Indices, n_jobs: int | None
) -> tuple[Floats, Indices, Indices, Floats]:
    """Return the vote on some queries, and the vote without each row that can change it.

    Parameters
    ----------
    position : (n_train,)
        Of each training row among those in question, or -1.

    Returns
    -------
    votes : (n_queries, n_classes)
    pair_rows, pair_queries : (n_pairs,)
        Positions of the rows in question and of the queries.
    without : (n_pairs, n_classes)
    """
    k = model.n_voters
    indices, distances, n_searched = model.candidates(queries, n_jobs=n_jobs)
    now, squared = smallest(distances[:, :n_searched], np.ascontiguousarray(indices[:, :n_searched]), k)
    votes = model.vote(now, squared).probabilities
    # If one of the candidates is left out, the next one replaces it: the nearest then, and one more.
    then, squared = smallest(distances, indices, min(k + 1, indices.shape[1]))
    # A row matters if it votes, or if the candidate that replaces it would.
    in_question = (position[indices] >= 0) & (indices >= 0)
    query, slot = np.nonzero(in_question[:, :n_searched])
    row = indices[query, slot]
    where = (then[query] == row[:, None]).argmax(axis=1)
    there = then[query, where] == row
    replaced = (then[:, :k] != now).any(axis=1)
    matters = (there & (where < k)) | replaced[query]
    query, row = query[matters], row[matters]
    where = np.where(there, where, then.shape[1])[matters]
    columns = np.arange(then.shape[1] - 1)
    columns = columns + (columns >= where[:, None])  # (n_pairs, k) all but the row itself
    others, squared = then[query[:, None], columns], squared[query[:, None], columns]
    without = model.vote(others, squared).probabilities
    return votes, position[row], query, without
