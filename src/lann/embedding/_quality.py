"""The quality of an embedding: predictions by neighbors in it, and neighborhoods that it preserves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import accuracy_score
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_consistent_length

from lann._base import NeighborClassifier
from lann._support.types import Floats, Indices
from lann._support.validation import Integer, validate

# Trustworthiness ranks all pairs, some 200 MB for this many rows; of more rows, a sample is used.
MOST_RANKED = 3000


@dataclass(frozen=True)
class EmbeddingQuality:
    """Scores of an embedding; all are between 0 and 1, and larger is better.

    Attributes
    ----------
    accuracy : float
        Share of the training rows whose label is that of the majority of their nearest neighbors in the
        embedding, without the row itself. It is optimistic if the embedding has used the labels: rows of a
        class can then be together that nothing but their labels has in common.
    held_out_accuracy : float or None
        The same for rows that were added by `transform`, whose labels were not used: the score to judge by.
        None without such rows.
    trustworthiness : float
        Whether neighbors in the embedding are neighbors in the data.
    continuity : float
        Whether neighbors in the data are neighbors in the embedding.
    neighborhood_preservation : float or None
        Share of the nearest rows under the metrics of a classifier that are among the nearest in the
        embedding. None without a classifier.
    n_neighbors : int
        Number of neighbors for all scores.

    See Also
    --------
    embedding_quality : Computes it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann.embedding import embedding_quality
    >>> X, y = load_iris(return_X_y=True)
    >>> embedding_quality(X, X[:, 2:], y).trustworthiness > 0.9
    True
    """

    accuracy: float
    held_out_accuracy: float | None
    trustworthiness: float
    continuity: float
    neighborhood_preservation: float | None
    n_neighbors: int


def embedding_quality(
    X: ArrayLike,
    coordinates: ArrayLike,
    y: ArrayLike,
    *,
    held_out_coordinates: ArrayLike | None = None,
    held_out_labels: ArrayLike | None = None,
    classifier: NeighborClassifier | None = None,
    n_neighbors: int = 5,
) -> EmbeddingQuality:
    """Compute the quality of an embedding.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The embedded rows, scaled: their Euclidean neighbors are compared with those in the embedding.
    coordinates : array-like of shape (n_samples, n_components)
        Their coordinates.
    y : array-like of shape (n_samples,)
        Their labels.
    held_out_coordinates : array-like of shape (n_held_out, n_components) or None, default=None
        Coordinates of rows that were not in the fit, as `transform` returns them.
    held_out_labels : array-like of shape (n_held_out,) or None, default=None
        Their labels.
    classifier : estimator or None, default=None
        A LANNClassifier, or a baseline with neighbors, fitted with these rows, whose neighborhoods are
        compared with those in the embedding.
    n_neighbors : int, default=5
        Number of neighbors for all scores: less than half of the rows.

    Returns
    -------
    quality : EmbeddingQuality

    Raises
    ------
    ValueError
        If only one of `held_out_coordinates` and `held_out_labels` is given, or lengths differ.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.decomposition import PCA
    >>> from lann.embedding import embedding_quality
    >>> X, y = load_iris(return_X_y=True)
    >>> pca = PCA(2).fit(X[::2])
    >>> quality = embedding_quality(
    ...     X[::2], pca.transform(X[::2]), y[::2],
    ...     held_out_coordinates=pca.transform(X[1::2]), held_out_labels=y[1::2],
    ... )
    >>> quality.accuracy > 0.9, quality.held_out_accuracy > 0.9, quality.trustworthiness > 0.9
    (True, True, True)
    """
    if (held_out_coordinates is None) != (held_out_labels is None):
        raise ValueError("held_out_coordinates and held_out_labels must be given together, or neither.")
    held_out = preserved = None
    if held_out_coordinates is not None:
        predictions = held_out_predictions(coordinates, y, held_out_coordinates, n_neighbors=n_neighbors)
        held_out = float(accuracy_score(np.asarray(held_out_labels), predictions))
    if classifier is not None:
        preserved = neighborhood_preservation(classifier, coordinates, n_neighbors=n_neighbors)
    by_ranks = trustworthiness_and_continuity(X, coordinates, n_neighbors=n_neighbors)
    predictions = leave_one_out_predictions(coordinates, y, n_neighbors=n_neighbors)
    accuracy = float(accuracy_score(np.asarray(y), predictions))
    return EmbeddingQuality(accuracy, held_out, *by_ranks, preserved, n_neighbors)


def leave_one_out_predictions(coordinates: ArrayLike, y: ArrayLike, *, n_neighbors: int = 5) -> NDArray[Any]:
    """Predict the label of each row from its neighbors in an embedding, without the row itself.

    The majority decides; among classes with equally many neighbors, the one with the nearest.

    Parameters
    ----------
    coordinates : array-like of shape (n_samples, n_components)
    y : array-like of shape (n_samples,)
        Labels.
    n_neighbors : int, default=5

    Returns
    -------
    predictions : ndarray of shape (n_samples,)

    Examples
    --------
    >>> from lann.embedding import leave_one_out_predictions
    >>> leave_one_out_predictions([[0], [1], [2], [10], [11]], ["a", "a", "a", "b", "b"], n_neighbors=1)
    array(['a', 'a', 'a', 'b', 'b'], dtype='<U1')
    """
    labels = np.asarray(y)
    check_consistent_length(coordinates, labels)
    return _majority(labels[_neighbors_of_each(coordinates, n_neighbors)])


def held_out_predictions(
    coordinates: ArrayLike, y: ArrayLike, held_out_coordinates: ArrayLike, *, n_neighbors: int = 5
) -> NDArray[Any]:
    """Predict the labels of held-out rows from the training rows near them in an embedding.

    The majority decides; among classes with equally many neighbors, the one with the nearest.

    Parameters
    ----------
    coordinates : array-like of shape (n_samples, n_components)
        Of the training rows.
    y : array-like of shape (n_samples,)
        Labels of the training rows.
    held_out_coordinates : array-like of shape (n_held_out, n_components)
    n_neighbors : int, default=5

    Returns
    -------
    predictions : ndarray of shape (n_held_out,)

    Examples
    --------
    >>> from lann.embedding import held_out_predictions
    >>> held_out_predictions([[0], [1], [10], [11]], ["a", "a", "b", "b"], [[2], [9]], n_neighbors=3)
    array(['a', 'b'], dtype='<U1')
    """
    labels = np.asarray(y)
    check_consistent_length(coordinates, labels)
    validate("n_neighbors", n_neighbors, Integer(1, len(labels)))
    search = NearestNeighbors(n_neighbors=n_neighbors).fit(coordinates)
    return _majority(labels[search.kneighbors(held_out_coordinates, return_distance=False)])


def trustworthiness_and_continuity(
    X: ArrayLike, coordinates: ArrayLike, *, n_neighbors: int = 5
) -> tuple[float, float]:
    """Compute whether neighbors in an embedding are neighbors in the data, and vice versa.

    Both are 1 minus the mean rank, beyond the first `n_neighbors`, that neighbors in one space have in the
    other, scaled so that the worst value is 0. As all pairs are ranked, a fixed sample of 3000 rows is used
    if there are more.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Scaled.
    coordinates : array-like of shape (n_samples, n_components)
    n_neighbors : int, default=5
        Less than half of the rows.

    Returns
    -------
    trustworthiness, continuity : float

    References
    ----------
    J. Venna, S. Kaski: Neighborhood Preservation in Nonlinear Projection Methods: An Experimental Study.
    ICANN 2001.

    Examples
    --------
    >>> from lann.embedding import trustworthiness_and_continuity
    >>> line = [[0.0], [1.0], [2.5], [4.5], [7.0]]
    >>> trustworthiness_and_continuity(line, line, n_neighbors=2)
    (1.0, 1.0)
    """
    from sklearn.manifold import trustworthiness

    rows, embedded = np.asarray(X, dtype=np.float64), np.asarray(coordinates, dtype=np.float64)
    check_consistent_length(rows, embedded)
    if len(rows) > MOST_RANKED:
        sample = np.sort(np.random.default_rng(0).choice(len(rows), MOST_RANKED, replace=False))
        rows, embedded = rows[sample], embedded[sample]
    validate("n_neighbors", n_neighbors, Integer(1, len(rows) / 2, closed="left"))
    pairs = (rows, embedded), (embedded, rows)
    one, other = (float(trustworthiness(*pair, n_neighbors=n_neighbors)) for pair in pairs)
    return one, other


def neighborhood_preservation(
    classifier: NeighborClassifier, coordinates: ArrayLike, *, n_neighbors: int = 5
) -> float:
    """Compute the share of the nearest rows under learned metrics that are among the nearest in an embedding.

    Parameters
    ----------
    classifier : estimator
        A fitted LANNClassifier, or a baseline with neighbors.
    coordinates : array-like of shape (n_samples, n_components)
        Of the rows that it was fitted with, in their order.
    n_neighbors : int, default=5
        Number of nearest rows in both.

    Returns
    -------
    share : float

    Raises
    ------
    ValueError
        If the number of rows is not that of the fit.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.embedding import neighborhood_preservation
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LANNClassifier(max_iter=0).fit(X, y)
    >>> neighborhood_preservation(clf, X[:, :2]) < neighborhood_preservation(clf, X[:, :3]) < 1
    True
    """
    found = _neighbors_of_each(coordinates, n_neighbors)
    expected = classifier.kneighbors(n_neighbors=n_neighbors, return_distance=False)
    if len(found) != len(expected):
        raise ValueError(
            f"coordinates must be those of the {len(expected)} rows that the classifier was fitted with; "
            f"got {len(found)}."
        )
    columns = np.asarray(expected).T
    return float(np.mean([(column[:, None] == found).any(axis=1).mean() for column in columns]))


def pair_error(y_true: ArrayLike, y_pred: ArrayLike, one: Any, other: Any) -> float:
    """Compute the share of the rows of two classes that are predicted to be the other of the two.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels.
    y_pred : array-like of shape (n_samples,)
        Predictions.
    one, other : object
        The classes.

    Returns
    -------
    error : float

    Raises
    ------
    ValueError
        If the classes are the same, or one of them has no row.

    Examples
    --------
    >>> from lann.embedding import pair_error
    >>> pair_error(["a", "a", "b", "b", "c"], ["a", "b", "b", "c", "a"], "a", "b")
    0.25
    """
    labels, predicted = np.asarray(y_true), np.asarray(y_pred)
    check_consistent_length(labels, predicted)
    is_one, is_other = labels == one, labels == other
    if one == other or not (is_one.any() and is_other.any()):
        raise ValueError(f"one and other must be two classes with rows in y_true; got {one!r} and {other!r}.")
    swapped = (is_one & (predicted == other)) | (is_other & (predicted == one))
    return float(swapped.sum() / (is_one | is_other).sum())


def _neighbors_of_each(coordinates: ArrayLike, n_neighbors: int) -> Indices:
    """Return the nearest rows of every row in an embedding, without itself: (n_samples, n_neighbors)."""
    embedded: Floats = np.asarray(coordinates, dtype=np.float64)
    validate("n_neighbors", n_neighbors, Integer(1, len(embedded) - 1))
    search = NearestNeighbors(n_neighbors=n_neighbors).fit(embedded)
    return search.kneighbors(return_distance=False)


def _majority(labels: NDArray[Any]) -> NDArray[Any]:
    """Return the most frequent label of each row; of equally frequent ones, the first.

    Parameters
    ----------
    labels : (n_rows, k)
        Nearest first.
    """
    # How often each label occurs in its row, (n_rows, k); argmax takes the first of equals.
    counts = sum((labels == labels[:, [slot]]).astype(np.int64) for slot in range(labels.shape[1]))
    return labels[np.arange(len(labels)), np.argmax(counts, axis=1)]
