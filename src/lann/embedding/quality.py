"""How good an embedding is: whether labels can be read off it, and whether it keeps neighborhoods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_consistent_length

from lann._types import Floats, Indices
from lann._validation import Integer, validate
from lann.classifier import LANNClassifier

# Trustworthiness ranks all pairs, some 200 MB for so many points; of more, a sample is judged.
MOST_RANKED = 3000


@dataclass(frozen=True)
class EmbeddingQuality:
    """What is known of how good an embedding is; everything is between 0 and 1, and more is better.

    Parameters
    ----------
    accuracy
        Share of the points whose label is that of the majority of their nearest neighbors in the embedding,
        without the point itself. It flatters an embedding that has seen the labels: this can put points of a
        class together that nothing but their labels tells apart.
    held_out_accuracy
        The same for points that were placed afterwards, by `transform`, whose labels nobody has seen: what
        to judge by. None without such points.
    trustworthiness
        Whether neighbors in the embedding are neighbors in the data.
    continuity
        Whether neighbors in the data are neighbors in the embedding.
    neighborhood_preservation
        Share of the nearest points under a LANNClassifier's metrics that are among the nearest in the
        embedding. None without a classifier.
    n_neighbors
        How many neighbors were looked at, for each figure.

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
    places: ArrayLike,
    y: ArrayLike,
    *,
    held_out_places: ArrayLike | None = None,
    held_out_labels: ArrayLike | None = None,
    classifier: LANNClassifier | None = None,
    n_neighbors: int = 5,
) -> EmbeddingQuality:
    """Judge an embedding.

    Parameters
    ----------
    X : (n_samples, n_features) what was embedded, scaled: its Euclidean neighbors are those to keep
    places : (n_samples, n_components) where it went
    y : (n_samples,) labels
    held_out_places : (n_held_out, n_components) where `transform` has put points that were not in the fit
    held_out_labels : (n_held_out,) theirs
    classifier : LANNClassifier
        Fitted with these very points. Its neighborhoods are compared with those in the embedding.
    n_neighbors
        How many neighbors are looked at, for each figure: fewer than half of the points.

    Returns
    -------
    EmbeddingQuality

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.decomposition import PCA
    >>> from lann.embedding import embedding_quality
    >>> X, y = load_iris(return_X_y=True)
    >>> pca = PCA(2).fit(X[::2])
    >>> quality = embedding_quality(
    ...     X[::2], pca.transform(X[::2]), y[::2],
    ...     held_out_places=pca.transform(X[1::2]), held_out_labels=y[1::2],
    ... )
    >>> quality.accuracy > 0.9, quality.held_out_accuracy > 0.9, quality.trustworthiness > 0.9
    (True, True, True)
    """
    if (held_out_places is None) != (held_out_labels is None):
        raise ValueError("held_out_places and held_out_labels must be given together, or neither.")
    labels = np.asarray(y)
    held_out = None
    if held_out_places is not None:
        predictions = held_out_predictions(places, labels, held_out_places, n_neighbors=n_neighbors)
        held_out = _share_right(np.asarray(held_out_labels), predictions)
    trustworthiness, continuity = trustworthiness_and_continuity(X, places, n_neighbors=n_neighbors)
    preserved = None
    if classifier is not None:
        preserved = neighborhood_preservation(classifier, places, n_neighbors=n_neighbors)
    return EmbeddingQuality(
        accuracy=_share_right(labels, leave_one_out_predictions(places, labels, n_neighbors=n_neighbors)),
        held_out_accuracy=held_out,
        trustworthiness=trustworthiness,
        continuity=continuity,
        neighborhood_preservation=preserved,
        n_neighbors=n_neighbors,
    )


def leave_one_out_predictions(places: ArrayLike, y: ArrayLike, *, n_neighbors: int = 5) -> NDArray[Any]:
    """What each point's neighbors in an embedding take it for, without the point itself: (n_samples,).

    The majority counts; of classes with as many neighbors, the one that has the nearest.

    Parameters
    ----------
    places : (n_samples, n_components)
    y : (n_samples,) labels
    n_neighbors
        How many neighbors vote.

    Examples
    --------
    >>> from lann.embedding import leave_one_out_predictions
    >>> leave_one_out_predictions([[0], [1], [2], [10], [11]], ["a", "a", "a", "b", "b"], n_neighbors=1)
    array(['a', 'a', 'a', 'b', 'b'], dtype='<U1')
    """
    labels = np.asarray(y)
    check_consistent_length(places, labels)
    return _majority(labels[_neighbors_of_each(places, n_neighbors)])


def held_out_predictions(
    places: ArrayLike, y: ArrayLike, held_out_places: ArrayLike, *, n_neighbors: int = 5
) -> NDArray[Any]:
    """What points of the fit take held-out points for that lie near them in an embedding: (n_held_out,).

    The majority counts; of classes with as many neighbors, the one that has the nearest.

    Parameters
    ----------
    places : (n_samples, n_components) of the points of the fit
    y : (n_samples,) their labels
    held_out_places : (n_held_out, n_components)
    n_neighbors
        How many neighbors vote.

    Examples
    --------
    >>> from lann.embedding import held_out_predictions
    >>> held_out_predictions([[0], [1], [10], [11]], ["a", "a", "b", "b"], [[2], [9]], n_neighbors=3)
    array(['a', 'b'], dtype='<U1')
    """
    labels = np.asarray(y)
    check_consistent_length(places, labels)
    validate("n_neighbors", n_neighbors, Integer(1, len(labels)))
    search = NearestNeighbors(n_neighbors=n_neighbors).fit(places)
    return _majority(labels[search.kneighbors(held_out_places, return_distance=False)])


def trustworthiness_and_continuity(
    X: ArrayLike, places: ArrayLike, *, n_neighbors: int = 5
) -> tuple[float, float]:
    """Whether neighbors in an embedding are neighbors in the data, and the other way round.

    Both are 1 minus the mean of how far down the list of the one space a neighbor in the other is, beyond
    the first `n_neighbors`, scaled so that the worst is 0. As all pairs are ranked, of more than 3000 points
    a sample of 3000 is judged, always the same.

    Parameters
    ----------
    X : (n_samples, n_features) scaled
    places : (n_samples, n_components)
    n_neighbors
        Fewer than half of the points.

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

    points, placed = np.asarray(X, dtype=np.float64), np.asarray(places, dtype=np.float64)
    check_consistent_length(points, placed)
    if len(points) > MOST_RANKED:
        chosen = np.sort(np.random.default_rng(0).choice(len(points), MOST_RANKED, replace=False))
        points, placed = points[chosen], placed[chosen]
    validate("n_neighbors", n_neighbors, Integer(1, len(points) / 2, closed="left"))
    return (
        float(trustworthiness(points, placed, n_neighbors=n_neighbors)),
        float(trustworthiness(placed, points, n_neighbors=n_neighbors)),
    )


def neighborhood_preservation(
    classifier: LANNClassifier, places: ArrayLike, *, n_neighbors: int = 5
) -> float:
    """Share of the nearest points under the learned metrics that are among the nearest in an embedding.

    Parameters
    ----------
    classifier : LANNClassifier, fitted
    places : (n_train, n_components) of the points that it was fitted with, in their order
    n_neighbors
        How many are the nearest, in both.

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
    found = _neighbors_of_each(places, n_neighbors)
    _, wanted = classifier.kneighbors(n_neighbors=n_neighbors)
    if len(found) != len(wanted):
        raise ValueError(
            f"places must be those of the {len(wanted)} points that the classifier was fitted with; "
            f"got {len(found)}."
        )
    # (n_train, k, k), in as many steps as there are neighbors
    return float(np.mean([(wanted[:, [place]] == found).any(axis=1).mean() for place in range(n_neighbors)]))


def pair_error(y_true: ArrayLike, y_pred: ArrayLike, one: Any, other: Any) -> float:
    """Of the points of two classes, the share that is taken for the other of the two.

    Parameters
    ----------
    y_true, y_pred : (n_samples,) labels, and predictions
    one, other
        The classes.

    Examples
    --------
    >>> from lann.embedding import pair_error
    >>> pair_error(["a", "a", "b", "b", "c"], ["a", "b", "b", "c", "a"], "a", "b")
    0.25
    """
    if one == other:
        raise ValueError(f"one and other must be two classes; got {one!r} for both.")
    right, predicted = np.asarray(y_true), np.asarray(y_pred)
    check_consistent_length(right, predicted)
    is_one, is_other = right == one, right == other
    for name, there in ((one, is_one), (other, is_other)):
        if not there.any():
            raise ValueError(f"y_true has no point of class {name!r}.")
    swapped = (is_one & (predicted == other)) | (is_other & (predicted == one))
    return float(swapped.sum() / (is_one | is_other).sum())


def _neighbors_of_each(places: ArrayLike, n_neighbors: int) -> Indices:
    """The nearest of every place, without itself: (n_samples, n_neighbors)."""
    placed: Floats = np.asarray(places, dtype=np.float64)
    validate("n_neighbors", n_neighbors, Integer(1, len(placed) - 1))
    search = NearestNeighbors(n_neighbors=n_neighbors).fit(placed)
    return search.kneighbors(return_distance=False)


def _majority(labels: NDArray[Any]) -> NDArray[Any]:
    """The most frequent label of each row; of labels as frequent, the one that comes first.

    labels : (n_rows, k), nearest first
    """
    # How often the label in each place is in its row, (n_rows, k); argmax takes the first of equals.
    counts = sum((labels == labels[:, [place]]).astype(np.int64) for place in range(labels.shape[1]))
    return labels[np.arange(len(labels)), np.argmax(counts, axis=1)]


def _share_right(labels: NDArray[Any], predictions: NDArray[Any]) -> float:
    check_consistent_length(labels, predictions)
    return float(np.mean(labels == predictions))
