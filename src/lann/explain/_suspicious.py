"""Suspicious training rows: those whose label their neighbors contradict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lann._types import Floats, Indices
from lann._validation import Integer, validate
from lann.explain._fitted import id_columns, model_of, training_ids
from lann.vote import VoteRule, zero_distance_guard

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Suspicion:
    """How much their neighbors contradict the labels of training rows.

    Attributes
    ----------
    labels : ndarray of shape (n_rows,)
        As they were given.
    scores : ndarray of shape (n_rows,)
        Share of the neighbors' votes that is not for the label: 1 is most suspicious.
    likely : ndarray of shape (n_rows,)
        The label with the most votes.
    ids : ndarray of shape (n_rows,) or None
        Names of the rows: the index of the training data.
    row_numbers : ndarray of shape (n_rows,) or None
        Row numbers in the table that the rows come from; None if they go by their positions.
    """

    labels: NDArray[Any]
    scores: Floats
    likely: NDArray[Any]
    ids: NDArray[Any] | None = None
    row_numbers: Indices | None = None

    @property
    def ranking(self) -> Indices:
        """Positions of the training rows, most suspicious first: (n_rows,)."""
        return np.argsort(-self.scores, kind="stable")

    @property
    def suspects(self) -> Indices:
        """Positions of the rows whose neighbors vote for another label, most suspicious first."""
        order = self.ranking
        return order[self.likely[order] != self.labels[order]]

    def __repr__(self) -> str:
        return (
            f"<Suspicion of {len(self.labels)} training rows: the neighbors of {len(self.suspects)} vote for "
            "another class>"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row per training row, the most suspicious first.

        Returns
        -------
        frame : DataFrame
            With the columns ``row`` (the row number, or the position), ``id`` (if there are ids), ``label``,
            ``likely`` and ``score``.
        """
        import pandas as pd

        order = self.ranking
        return pd.DataFrame(
            {
                "row": order if self.row_numbers is None else self.row_numbers[order],
                **id_columns("id", self.ids, order),
                "label": self.labels[order],
                "likely": self.likely[order],
                "score": self.scores[order],
            }
        )


def suspicious_rows(clf: Any, *, n_neighbors: int = 20) -> Suspicion:
    """Find training rows whose label may be wrong: their neighbors vote for another label.

    Point metrics have been fitted to the labels, wrong ones included. The neighbors are therefore those under
    the class metrics, four times as many as usually vote, and a vote falls as 1/distance, so that no single
    neighbor decides. On data with labels flipped at random this finds the flipped ones as well as models that
    were fitted without the row (5-fold), and costs one search instead of five fits.

    Parameters
    ----------
    clf : estimator
        A fitted LANNClassifier, or a baseline with neighbors (neighbors under its own metric).
    n_neighbors : int, default=20
        Number of neighbors that vote. Rows of a class with hardly more rows than that look suspicious only
        because they are few; use fewer neighbors then.

    Returns
    -------
    suspicion : Suspicion

    Raises
    ------
    ValueError
        If the classifier keeps no training rows.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lann import LANNClassifier
    >>> from lann.explain import suspicious_rows
    >>> X, y = load_wine(return_X_y=True)
    >>> y[[20, 100]] = 2
    >>> found = suspicious_rows(LANNClassifier(random_state=0).fit(X, y))
    >>> sorted(found.ranking[:2].tolist())
    [20, 100]
    """
    validate("n_neighbors", n_neighbors, Integer(1))
    model, classes = model_of(clf), clf.classes_
    n_rows = len(model.X)
    indices, distances = model.shared_kneighbors(min(n_neighbors, n_rows - 1), n_jobs=clf.n_jobs)
    rule = VoteRule(0.5, zero_distance_guard(distances[:, :5]))
    n_votes = model.mean_weight * indices.shape[1]
    votes = model.count_votes(indices, distances, n_votes, rule).probabilities
    return Suspicion(
        labels=classes[model.labels],
        scores=1.0 - votes[np.arange(n_rows), model.labels],
        likely=classes[votes.argmax(axis=1)],
        ids=training_ids(clf),
    )
