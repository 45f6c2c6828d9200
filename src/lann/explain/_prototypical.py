"""Prototypical training rows: those with the most votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._table_inputs import read_queries
from lann._types import Floats, Indices
from lann.explain._fitted import check_label, id_columns, model_of, training_ids

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class RowVotes:
    """The votes of training rows, added up over queries.

    Attributes
    ----------
    labels : ndarray of shape (n_rows,)
    correct : ndarray of shape (n_rows,)
        Vote shares on queries with the label of the row.
    wrong : ndarray of shape (n_rows,)
        Vote shares on queries with other labels.
    n_queries : ndarray of shape (n_rows,)
        Number of queries on which the row votes.
    ids : ndarray of shape (n_rows,) or None
        Names of the rows: the index of the training data.
    """

    labels: NDArray[Any]
    correct: Floats
    wrong: Floats
    n_queries: Indices
    ids: NDArray[Any] | None = None

    @property
    def votes(self) -> Floats:
        """Vote shares on all queries: (n_rows,)."""
        return self.correct + self.wrong

    @property
    def ranking(self) -> Indices:
        """Positions of the training rows, the largest difference of correct and wrong votes first."""
        return np.argsort(self.wrong - self.correct, kind="stable")

    def __repr__(self) -> str:
        correct, wrong = self.correct.sum(), self.wrong.sum()
        return f"<RowVotes of {len(self.labels)} training rows: {correct:.1f} correct, {wrong:.1f} wrong>"

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row per training row, the most prototypical first.

        Returns
        -------
        frame : DataFrame
            With the columns ``row`` (the position), ``id`` (if there are ids), ``label``, ``votes``,
            ``correct``, ``wrong`` and ``n_queries``.
        """
        import pandas as pd

        order = self.ranking
        columns = {"row": order, **id_columns("id", self.ids, order)}
        columns |= {"label": self.labels[order], "votes": self.votes[order]}
        columns |= {name: getattr(self, name)[order] for name in ("correct", "wrong", "n_queries")}
        return pd.DataFrame(columns)


def prototypical_rows(clf: Any, X: ArrayLike | None = None, y: ArrayLike | None = None) -> RowVotes:
    """Add up the correct and the wrong votes of each training row.

    Parameters
    ----------
    clf : estimator
        A fitted LANNClassifier, or a baseline with neighbors.
    X : array-like of shape (n_queries, n_features) or None, default=None
        The queries; None is the training rows, each without itself.
    y : array-like of shape (n_queries,) or None, default=None
        Labels of X. None is the predicted ones: a wrong vote is then one for another class than predicted.

    Returns
    -------
    votes : RowVotes

    Raises
    ------
    ValueError
        If y is given without X, does not fit X, or has unknown labels; or if the classifier keeps no training
        rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.explain import prototypical_rows
    >>> X, y = load_iris(return_X_y=True)
    >>> found = prototypical_rows(LANNClassifier(random_state=0).fit(X, y))
    >>> round(found.votes.sum()), bool(found.correct.sum() > 130)
    (150, True)
    """
    model, classes = model_of(clf), clf.classes_
    n_rows = len(model.X)
    if X is None:
        if y is not None:
            raise ValueError(
                "y holds the labels of X; without X, the training rows and their labels are used."
            )
        queries, own = model.X, np.arange(n_rows)
    else:
        queries, own = read_queries(clf, X), None
    indices, distances = model.voters(queries, exclude=own, n_jobs=clf.n_jobs)
    shares, probabilities = model.vote(indices, distances)
    if own is not None:
        labels = classes[model.labels]
    elif y is not None:
        labels = np.asarray(y)
        if labels.shape != (len(queries),):
            raise ValueError(
                f"y must have a label for each of the {len(queries)} rows; got shape {labels.shape}."
            )
        for label in np.unique(labels).tolist():
            check_label(label, classes, "y")
    else:
        labels = classes[probabilities.argmax(axis=1)]
    correct = classes[model.labels][indices] == labels[:, None]

    def added_up(weights: Floats) -> Floats:
        return np.bincount(indices.ravel(), weights=weights.ravel(), minlength=n_rows).astype(np.float64)

    return RowVotes(
        labels=classes[model.labels],
        correct=added_up(np.where(correct, shares, 0.0)),
        wrong=added_up(np.where(correct, 0.0, shares)),
        n_queries=np.bincount(indices[shares > 0], minlength=n_rows),
        ids=training_ids(clf),
    )
