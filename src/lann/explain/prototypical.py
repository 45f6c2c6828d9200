"""Prototypical training points: those that carry the votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._types import Floats, Indices
from lann.explain.contrast import check_target
from lann.explain.voters import voters_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class PointVotes:
    """How many votes each training point carries.

    Attributes
    ----------
    labels : (n_points,)
    votes : (n_points,) the point's shares of the votes, added up over the queries
    correct : (n_points,) votes on queries of its own label
    wrong : (n_points,) votes on queries of other labels
    n_queries : (n_points,) the queries on which it votes
    """

    labels: NDArray[Any]
    correct: Floats
    wrong: Floats
    n_queries: Indices

    @property
    def votes(self) -> Floats:
        return self.correct + self.wrong

    @property
    def ranking(self) -> Indices:
        """Rows of the training data, most correct votes (less the wrong ones) first: (n_points,)."""
        return np.argsort(self.wrong - self.correct, kind="stable")

    def __repr__(self) -> str:
        correct, wrong = self.correct.sum(), self.wrong.sum()
        return f"<PointVotes of {len(self.labels)} training points: {correct:.1f} correct, {wrong:.1f} wrong>"

    def to_frame(self) -> pd.DataFrame:
        """One row per training point, the most prototypical first."""
        import pandas as pd

        order = self.ranking
        columns = {"point": order, "label": self.labels[order], "votes": self.votes[order]}
        columns |= {name: getattr(self, name)[order] for name in ("correct", "wrong", "n_queries")}
        return pd.DataFrame(columns)


def prototypical_points(clf: Any, X: ArrayLike | None = None, y: ArrayLike | None = None) -> PointVotes:
    """How many votes each training point carries, correct and wrong ones.

    Parameters
    ----------
    clf
        A fitted LANNClassifier, or a baseline whose neighbors vote.
    X : (n_queries, n_features) or None
        On whom they vote; None is the training points themselves, each without itself.
    y : (n_queries,) or None
        The labels of X. None takes the predicted ones: a wrong vote is then one that was outvoted.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.explain import prototypical_points
    >>> X, y = load_iris(return_X_y=True)
    >>> found = prototypical_points(LANNClassifier(random_state=0).fit(X, y))
    >>> round(found.votes.sum()), bool(found.correct.sum() > 130)
    (150, True)
    """
    voters = voters_of(clf)
    n_points = len(voters.X)
    if X is None:
        if y is not None:
            raise ValueError("y belongs to X; without X the training points and their own labels are taken.")
        queries, own = voters.X, np.arange(n_points)
        k = min(voters.n_voters, n_points - 1)
    else:
        queries, own, k = voters.check(X), None, voters.n_voters
    indices, distances = voters.nearest(queries, k, exclude=own)
    shares = voters.shares(indices, distances)
    if own is not None:
        labels = voters.classes[voters.labels]
    elif y is not None:
        labels = np.asarray(y)
        if labels.shape != (len(queries),):
            raise ValueError(
                f"y must have a label for each of the {len(queries)} rows; got shape {labels.shape}."
            )
        for label in np.unique(labels).tolist():
            check_target(label, voters.classes, "y")
    else:
        labels = voters.classes[voters.votes(shares, indices).argmax(axis=1)]
    right = voters.classes[voters.labels][indices] == labels[:, None]

    def added_up(weights: Floats) -> Floats:
        return np.bincount(indices.ravel(), weights=weights.ravel(), minlength=n_points).astype(np.float64)

    return PointVotes(
        labels=voters.classes[voters.labels],
        correct=added_up(np.where(right, shares, 0.0)),
        wrong=added_up(np.where(right, 0.0, shares)),
        n_queries=np.bincount(indices.ravel(), minlength=n_points),
    )
