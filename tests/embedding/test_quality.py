from collections import Counter

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from lann import LANNClassifier
from lann.embedding import (
    embedding_quality,
    held_out_predictions,
    leave_one_out_predictions,
    neighborhood_preservation,
    pair_error,
    trustworthiness_and_continuity,
)


@pytest.fixture
def scattered():
    """Points in five dimensions, coordinates in two that know a little of them, and three classes by name."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 5))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.4, 0.4])]
    return X, X[:, :2] + 0.3 * rng.normal(size=(80, 2)), y


def ranked(points, others=None):
    """Indices from the nearest on; without the point itself where there are no others."""
    distances = cdist(points, points if others is None else others)
    if others is None:
        np.fill_diagonal(distances, np.inf)
    return np.argsort(distances, axis=1)


def slow_vote(labels):
    """The most frequent, of equals the nearest."""
    counts = Counter(labels)
    return next(label for label in labels if counts[label] == max(counts.values()))


def slow_trustworthiness(X, coordinates, k):
    n, penalty = len(X), 0
    near, order = ranked(coordinates)[:, :k], ranked(X)
    for i in range(n):
        ranks = {j: rank + 1 for rank, j in enumerate(order[i])}
        penalty += sum(max(0, ranks[j] - k) for j in near[i])
    return 1 - 2 * penalty / (n * k * (2 * n - 3 * k - 1))


@pytest.mark.parametrize("k", [1, 2, 5, 6])
def test_leave_one_out_predictions_are_votes(scattered, k):
    _, coordinates, y = scattered
    expected = [slow_vote(y[near[:k]].tolist()) for near in ranked(coordinates)]
    np.testing.assert_array_equal(leave_one_out_predictions(coordinates, y, n_neighbors=k), expected)


@pytest.mark.parametrize("k", [1, 4, 5])
def test_held_out_predictions_are_votes_of_training_rows(scattered, k):
    _, coordinates, y = scattered
    expected = [slow_vote(y[:50][near[:k]].tolist()) for near in ranked(coordinates[50:], coordinates[:50])]
    found = held_out_predictions(coordinates[:50], y[:50], coordinates[50:], n_neighbors=k)
    np.testing.assert_array_equal(found, expected)


def test_trustworthiness_and_continuity_equal_their_definition(scattered):
    X, coordinates, _ = scattered
    trust, continuity = trustworthiness_and_continuity(X, coordinates, n_neighbors=7)
    assert trust == pytest.approx(slow_trustworthiness(X, coordinates, 7))
    assert continuity == pytest.approx(slow_trustworthiness(coordinates, X, 7))
    assert trust != pytest.approx(continuity)


def test_preserved_neighborhoods_are_shares_of_neighbors(scattered):
    X, coordinates, y = scattered
    clf = LANNClassifier(max_iter=2, random_state=0).fit(X, y)
    wanted = clf.kneighbors(n_neighbors=6, return_distance=False)
    near = ranked(coordinates)[:, :6]
    expected = np.mean([len(set(w) & set(n)) / 6 for w, n in zip(wanted, near, strict=True)])
    assert neighborhood_preservation(clf, coordinates, n_neighbors=6) == pytest.approx(expected)
    assert 0.1 < expected < 0.9


def test_pair_error_counts_confusions_of_the_two_classes():
    right = np.array(["sky", "foliage", "foliage", "window", "window", "window"])
    taken = np.array(["window", "window", "sky", "window", "foliage", "foliage"])
    assert pair_error(right, taken, "foliage", "window") == pytest.approx(3 / 5)
    assert pair_error(right, taken, "window", "foliage") == pytest.approx(3 / 5)
    assert pair_error(right, right, "foliage", "window") == 0


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda X, E, y: embedding_quality(X, E, y, held_out_coordinates=E), "given together"),
        (lambda X, E, y: embedding_quality(X, E, y, n_neighbors=40), "n_neighbors .* got 40"),
        (lambda X, E, y: leave_one_out_predictions(E, y[:-1]), "inconsistent numbers of samples"),
        (lambda X, E, y: pair_error(y, y, "a", "z"), "must be two classes with rows in y_true"),
        (
            lambda X, E, y: neighborhood_preservation(LANNClassifier(max_iter=0).fit(X[:70], y[:70]), E),
            "the 70 rows that the classifier was fitted with; got 80",
        ),
    ],
)
def test_invalid_arguments_raise(scattered, call, said):
    with pytest.raises(ValueError, match=said):
        call(*scattered)
