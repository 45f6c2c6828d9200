"""What training rows do: their votes, their influence on predictions, and labels that look wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._support.threads import map_blocks
from lann._support.types import Floats, Indices, Labels
from lann._support.validation import Integer, validate
from lann.columns.inputs import read_queries, row_ids
from lann.explain._training_rows import check_label, check_rows, frame_of, model_of
from lann.model import NeighborModel
from lann.search import smallest
from lann.vote import VoteRule

if TYPE_CHECKING:
    import pandas as pd

# Candidates of a block of queries that are held at once: 8 MB.
HELD = 2**20


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
        columns = {"row": np.arange(len(self.labels)), "id": self.ids, "label": self.labels}
        columns |= {name: getattr(self, name) for name in ("votes", "correct", "wrong", "n_queries")}
        return frame_of(columns).iloc[self.ranking].reset_index(drop=True)


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
    row_labels, n_rows, exclude = classes[model.labels], len(model.X), None
    if X is None:
        if y is not None:
            raise ValueError("y holds the labels of X; without X, the training rows have their labels.")
        queries, exclude, labels = model.X, np.arange(n_rows), row_labels
    else:
        queries, labels = read_queries(clf, X), None if y is None else np.asarray(y)
    if y is not None:
        if labels.shape != (len(queries),):
            raise ValueError(
                f"y must have a label for each of the {len(queries)} rows; got shape {labels.shape}."
            )
        for label in np.unique(labels).tolist():
            check_label(label, classes, "y")
    indices, distances = model.voters(queries, exclude=exclude, n_jobs=clf.n_jobs)
    shares, probabilities = model.vote(indices, distances)
    if labels is None:
        labels = classes[probabilities.argmax(axis=1)]
    is_correct = row_labels[indices] == labels[:, None]
    correct, wrong = (
        np.bincount(indices.ravel(), np.where(counted, shares, 0.0).ravel(), n_rows).astype(np.float64)
        for counted in (is_correct, ~is_correct)
    )
    n_queries = np.bincount(indices[shares > 0], minlength=n_rows)
    return RowVotes(row_labels, correct, wrong, n_queries, getattr(clf, "ids_", None))


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
        return np.bincount(self.pair_rows, self.changes, len(self.rows)).astype(np.float64)

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
        order = np.lexsort((self.pair_queries, -self.changes, self.pair_rows))
        rows, queries = self.pair_rows[order], self.pair_queries[order]
        return frame_of(
            {
                "row": self.rows[rows],
                "id": None if self.ids is None else self.ids[rows],
                "query": queries,
                "query_id": None if self.query_ids is None else self.query_ids[queries],
                "prediction": self.predictions[queries],
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
    ids, position = getattr(clf, "ids_", None), np.full(len(model.X), -1)
    position[rows] = np.arange(len(rows))

    def compute(part: slice) -> tuple[NDArray[Any], ...]:
        votes, row, query, without = _votes_without(model, queries[part], position, clf.n_jobs)
        return votes, row, query + part.start, without

    found = map_blocks(compute, len(queries), max(HELD // min(len(model.X), 128), 1), n_jobs=1)
    probabilities, pair_rows, pair_queries, without = map(np.concatenate, zip(*found, strict=True))
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


@dataclass(frozen=True, eq=False)
class Suspicion:
    """How much the other training rows contradict the label of each.

    Attributes
    ----------
    labels : ndarray of shape (n_rows,)
        As they were given.
    scores : ndarray of shape (n_rows,)
        From 0 to 1, the most suspicious: half of one plus the probability of the likely label minus that of
        the given one. Above 0.5, the other rows favor another label.
    likely : ndarray of shape (n_rows,)
        The most probable label.
    expected_wrong : float
        Number of labels that are expected to be wrong.
    ids : ndarray of shape (n_rows,) or None
        Names of the rows: the index of the training data.
    row_numbers : ndarray of shape (n_rows,) or None
        Row numbers in the table that the rows come from; None if they go by their positions.
    """

    labels: NDArray[Any]
    scores: Floats
    likely: NDArray[Any]
    expected_wrong: float
    ids: NDArray[Any] | None = None
    row_numbers: Indices | None = None

    @property
    def ranking(self) -> Indices:
        """Positions of the training rows, most suspicious first: (n_rows,)."""
        return np.argsort(-self.scores, kind="stable")

    @property
    def suspects(self) -> Indices:
        """Positions of the most suspicious rows, as many as labels are expected to be wrong."""
        listed = self.ranking[: round(self.expected_wrong)]
        return listed[self.likely[listed] != self.labels[listed]]

    def __repr__(self) -> str:
        return (
            f"<Suspicion of {len(self.labels)} training rows: {len(self.suspects)} labels are expected to be "
            "wrong>"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row per training row, the most suspicious first.

        Returns
        -------
        frame : DataFrame
            With the columns ``row`` (the row number, or the position), ``id`` (if there are ids), ``label``,
            ``likely``, ``score`` and ``suspect`` (whether it is one of the `suspects`).
        """
        numbers = np.arange(len(self.labels)) if self.row_numbers is None else self.row_numbers
        columns = {"row": numbers, "id": self.ids, "label": self.labels, "likely": self.likely}
        columns |= {"score": self.scores, "suspect": np.isin(np.arange(len(numbers)), self.suspects)}
        return frame_of(columns).iloc[self.ranking].reset_index(drop=True)


def suspicious_rows(clf: Any, *, n_neighbors: int = 30) -> Suspicion:
    """Find training rows whose label may be wrong: the other rows predict another label.

    The probabilities of a row are the mean of two: those of the model when the row itself does not vote, and
    the shares of the labels among more of its nearest rows, each with one vote, so that no single neighbor
    decides. The score is their margin against the label. On tables with labels flipped at random it ranks the
    flipped ones better than a forest that was fitted without the row (5-fold), and it costs one search.

    The number of labels that are expected to be wrong is the count of confident learning [1]_ for these
    shares: a row counts for another label if the share of this label is at least as large as it is, on
    average, for the rows that have it. Where classes overlap, rows are counted that are exceptions and no
    errors.

    Parameters
    ----------
    clf : estimator
        A fitted LANNClassifier, or a baseline with neighbors.
    n_neighbors : int, default=30
        Number of nearest rows with one vote each. Rows of a class with hardly more rows than that look
        suspicious only because they are few; use fewer neighbors then.

    Returns
    -------
    suspicion : Suspicion

    Raises
    ------
    ValueError
        If the classifier keeps no training rows, or only one.

    References
    ----------
    .. [1] C. Northcutt, L. Jiang, I. Chuang (2021). Confident learning: estimating uncertainty in dataset
       labels. Journal of Artificial Intelligence Research 70.

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
    if n_rows < 2:
        raise ValueError(
            "The only training row cannot be compared with others; at least two rows are needed."
        )
    rows, k = np.arange(n_rows), min(model.n_voters, n_rows - 1)
    k_alike = min(n_neighbors, n_rows - 1)
    indices, distances = model.kneighbors(model.X, max(k, k_alike), exclude=rows, n_jobs=clf.n_jobs)
    votes = model.vote(indices[:, :k], distances[:, :k]).probabilities
    shares = model.count_votes(
        indices[:, :k_alike], distances[:, :k_alike], model.mean_weight * k_alike, VoteRule(0.0, 1.0)
    ).probabilities
    probabilities = (votes + shares) / 2
    own = probabilities[rows, model.labels]
    others = probabilities.copy()
    others[rows, model.labels] = 0.0
    return Suspicion(
        classes[model.labels],
        (1.0 + others.max(axis=1) - own) / 2,
        classes[probabilities.argmax(axis=1)],
        _expected_wrong(shares, model.labels),
        getattr(clf, "ids_", None),
    )


def _expected_wrong(shares: Floats, labels: Labels) -> float:
    """Return the number of wrong labels by the joint counts of confident learning."""
    n_classes = shares.shape[1]
    sizes, own = np.bincount(labels, minlength=n_classes), shares[np.arange(len(labels)), labels]
    means = np.bincount(labels, own, n_classes) / np.maximum(sizes, 1)
    is_confident = (shares >= means - 1e-12) & (sizes > 0)
    best = np.where(is_confident, shares, -1.0).argmax(axis=1)
    counted = is_confident.any(axis=1)
    n_counted = np.bincount(labels[counted], minlength=n_classes)
    n_others = np.bincount(labels[counted & (best != labels)], minlength=n_classes)
    return float((sizes * n_others / np.maximum(n_counted, 1)).sum())


def local_matrices(clf: Any, rows: Any = None) -> Floats:
    """Return the metrics of training rows near themselves, as matrices.

    d_j(x) ≈ (x − x_j)ᵀ A_j (x − x_j), in the user's units, with all levels of the metric. The eigenvectors of
    A_j are the directions in which row j measures differences most and least. Without curves the form is
    exact everywhere; with curves it holds while no feature leaves its segment of the curve or crosses a
    threshold at which the curve jumps. The diagonals, scaled, are `feature_weights_`.

    Parameters
    ----------
    clf : estimator
        A fitted LANNClassifier, or a baseline with neighbors.
    rows : int, array-like of int or None, default=None
        Positions of training rows; None is all of them. Each takes n_features² numbers.

    Returns
    -------
    matrices : ndarray of shape (n_rows, n_features, n_features)

    Raises
    ------
    ValueError
        If the classifier keeps no training rows, or `rows` are not distinct training rows.

    Examples
    --------
    >>> import numpy as np
    >>> from lann import LANNClassifier
    >>> from lann.datasets import make_licorice
    >>> from lann.explain import local_matrices
    >>> X, y, cylinders = make_licorice(400, random_state=0, return_axes=True)
    >>> clf = LANNClassifier(metric="full", random_state=0).fit(X, y)
    >>> sizes, directions = np.linalg.eigh(local_matrices(clf, [0, 1, 2]))  # ascending
    >>> directions[:, :, 0].shape  # the direction that counts least for each row
    (3, 3)
    """
    model = model_of(clf, needs_classes=False)
    return model.local_matrices(check_rows(rows, len(model.X)))
