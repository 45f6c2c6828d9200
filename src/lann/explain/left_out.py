"""The influence of single training points: which predictions change without one, and by how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._types import Floats, Indices
from lann.explain.voters import Voters, voters_of
from lann.search.topk import smallest

if TYPE_CHECKING:
    import pandas as pd

# Candidates of a block of queries that are held at once: 8 MB.
HELD = 2**20


@dataclass(frozen=True, eq=False)
class Influence:
    """What becomes of some predictions without one training point or another.

    Kept are the pairs of a point and a query whose vote changes; on other queries the point has no influence.

    Attributes
    ----------
    rows : (n_rows,) the training points in question
    predictions : (n_queries,) predicted labels, with all points
    probabilities : (n_queries, n_classes) the vote with all points
    points : (n_pairs,) places in `rows`
    queries : (n_pairs,) places in the queries, ascending for each point
    probabilities_without : (n_pairs, n_classes) the vote on the query without the point
    predictions_without : (n_pairs,) the label then
    changes : (n_pairs,) the share of the vote that changes, from 0 to 1
    classes : (n_classes,)
    """

    rows: Indices
    predictions: NDArray[Any]
    probabilities: Floats
    points: Indices
    queries: Indices
    probabilities_without: Floats
    classes: NDArray[Any]

    @property
    def predictions_without(self) -> NDArray[Any]:
        return self.classes[self.probabilities_without.argmax(axis=1)]

    @property
    def changes(self) -> Floats:
        return 0.5 * np.abs(self.probabilities_without - self.probabilities[self.queries]).sum(axis=1)

    @property
    def totals(self) -> Floats:
        """The votes that change without each point, over all queries: (n_rows,)."""
        totals = np.bincount(self.points, weights=self.changes, minlength=len(self.rows))
        return totals.astype(np.float64)

    @property
    def n_flipped(self) -> Indices:
        """The number of predictions that become others without each point: (n_rows,)."""
        flipped = self.predictions_without != self.predictions[self.queries]
        return np.bincount(self.points[flipped], minlength=len(self.rows))

    def __repr__(self) -> str:
        points = "1 training point" if len(self.rows) == 1 else f"{len(self.rows)} training points"
        return (
            f"<Influence of {points} on {len(self.predictions)} predictions: "
            f"{len(self.points)} votes change, {self.n_flipped.sum()} labels>"
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per point and query whose vote changes, the largest changes of each point first."""
        import pandas as pd

        order = np.lexsort((self.queries, -self.changes, self.points))
        return pd.DataFrame(
            {
                "point": self.rows[self.points[order]],
                "query": self.queries[order],
                "prediction": self.predictions[self.queries[order]],
                "without": self.predictions_without[order],
                "change": self.changes[order],
            }
        )


def influence(clf: Any, rows: Any, X: ArrayLike) -> Influence:
    """Which predictions on X change without one training point, for each of some points on its own.

    The vote is counted again without the point, exactly: the next nearest neighbor takes its place. What was
    learned stays as it is, the metrics of the other points too; a new fit without the point might learn
    slightly different ones.

    Parameters
    ----------
    clf
        A fitted LANNClassifier, or a baseline whose neighbors vote.
    rows : int, (n_rows,) or None
        Rows of the training data; None asks for every one. However many, it costs little more than
        predicting X.
    X : (n_queries, n_features)

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
    voters = voters_of(clf)
    queries, rows = voters.check(X), check_rows(rows, len(voters.X))
    if len(voters.X) < 2:
        raise ValueError("Without its only training point nobody votes; at least two are needed.")
    places = np.full(len(voters.X), -1)
    places[rows] = np.arange(len(rows))
    n_queries, n_classes = len(queries), len(voters.classes)
    probabilities = np.empty((n_queries, n_classes))
    found: list[tuple[Indices, Indices, Floats]] = []
    block = max(HELD // min(len(voters.X), 128), 1)
    for start in range(0, n_queries, block):
        part = slice(start, min(start + block, n_queries))
        probabilities[part], points, asked, without = _votes_without(voters, queries[part], places)
        found.append((points, asked + start, without))
    points, asked, without = (np.concatenate([f[i] for f in found]) for i in range(3))
    differ = (without != probabilities[asked]).any(axis=1)
    order = np.flatnonzero(differ)[np.lexsort((asked[differ], points[differ]))]
    return Influence(
        rows=rows,
        predictions=voters.classes[probabilities.argmax(axis=1)],
        probabilities=probabilities,
        points=points[order],
        queries=asked[order],
        probabilities_without=without[order],
        classes=voters.classes,
    )


def _votes_without(
    voters: Voters, queries: Floats, places: Indices
) -> tuple[Floats, Indices, Indices, Floats]:
    """The vote on some queries, and what it would be without each of the points that can change it.

    places : (n_points,) of each training point among those in question, or -1

    Returns
    -------
    votes : (n_queries, n_classes)
    points, asked : (n_pairs,) places among the points in question, and in the queries
    without : (n_pairs, n_classes)
    """
    k = voters.n_voters
    indices, distances, n_asked = voters.candidates(queries)
    now, lengths = smallest(distances[:, :n_asked], np.ascontiguousarray(indices[:, :n_asked]), k)
    votes = voters.votes(voters.shares(now, lengths), now)
    # Should one of those asked be missing, the last candidate is asked, too: who is nearest then, and next.
    then, lengths = smallest(distances, indices, min(k + 1, indices.shape[1]))
    # A point matters if it votes, or if the one that would be asked in its place would.
    in_question = (places[indices] >= 0) & (indices >= 0)
    asked, slot = np.nonzero(in_question[:, :n_asked])
    point = indices[asked, slot]
    where = (then[asked] == point[:, None]).argmax(axis=1)
    there = then[asked, where] == point
    newcomer = (then[:, :k] != now).any(axis=1)
    matters = (there & (where < k)) | newcomer[asked]
    asked, point = asked[matters], point[matters]
    where = np.where(there, where, then.shape[1])[matters]
    columns = np.arange(then.shape[1] - 1)
    columns = columns + (columns >= where[:, None])  # (n_pairs, k) all but the point itself
    others, lengths = then[asked[:, None], columns], lengths[asked[:, None], columns]
    without = voters.votes(voters.shares(others, lengths), others)
    return votes, places[point], asked, without


def check_rows(rows: Any, n_points: int) -> Indices:
    """Rows of the training data, each once; None is all of them."""
    if rows is None:
        return np.arange(n_points)
    wanted = np.atleast_1d(np.asarray(rows))
    whole = wanted.ndim == 1 and (wanted.dtype.kind in "iu" or wanted.size == 0)
    if not whole or ((wanted < 0) | (wanted >= n_points)).any() or len(np.unique(wanted)) < len(wanted):
        raise ValueError(
            f"rows must be different rows of the training data, from 0 to {n_points - 1}; got {rows!r}."
        )
    return wanted.astype(np.int64)
