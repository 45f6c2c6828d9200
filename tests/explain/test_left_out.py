"""The influence of a training point, against a vote without it."""

import numpy as np
import pytest

from lann import LANNClassifier
from lann.explain import influence


def vote_without(clf, row, X):
    """The vote with one point excluded, by a search of its own."""
    model = clf._model
    k = min(model.n_neighbors, len(model.levels.X) - 1)
    indices, distances = model.nearest(model.place(X), k, exclude=np.full(len(X), row))
    return model.votes(model.shares(indices, distances), indices)


PARAMETERS = [
    {},
    {"n_candidates": 6},
    {"n_candidates": 5, "levels": ("point",), "solver": "online", "learning_rate": 0.3},
    {"n_candidates": 3},
    {"n_candidates": None, "weights": "uniform"},
    {"n_candidates": 500, "class_weight": "balanced", "power": 2.0},
]


@pytest.mark.parametrize("parameters", PARAMETERS, ids=[str(p) for p in PARAMETERS])
def test_it_is_the_change_of_the_vote_without_the_point(blobs, parameters):
    X, y = blobs
    clf = LANNClassifier(random_state=0, max_iter=4, **parameters).fit(X[::2], y[::2])
    found = influence(clf, None, X)
    before = clf.predict_proba(X)
    np.testing.assert_array_equal(found.probabilities, before)
    for row in range(len(X[::2])):
        after = vote_without(clf, row, X)
        expected = np.flatnonzero((after != before).any(axis=1))
        mine = found.points == row
        np.testing.assert_array_equal(found.queries[mine], expected)
        np.testing.assert_array_equal(found.probabilities_without[mine], after[expected])
        assert found.totals[row] == pytest.approx(0.5 * np.abs(after - before).sum())
        assert found.n_flipped[row] == (after.argmax(axis=1) != before.argmax(axis=1)).sum()
    assert found.n_flipped.sum() > 0


def test_who_is_asked_in_its_place_can_vote(blobs):
    """With few candidates, a point that does not vote keeps another from being asked."""
    X, y = blobs
    clf = LANNClassifier(random_state=0, n_neighbors=3, n_candidates=5).fit(X[::2], y[::2])
    voters = clf.kneighbors(X, return_distance=False)
    found = influence(clf, None, X)
    silent = ~(voters[found.queries] == found.rows[found.points][:, None]).any(axis=1)
    assert silent.any()


def test_some_rows_only(blobs):
    X, y = blobs
    clf = LANNClassifier(random_state=0).fit(X, y)
    every, some = influence(clf, None, X), influence(clf, [40, 3], X)
    np.testing.assert_array_equal(some.rows, [40, 3])
    np.testing.assert_array_equal(some.totals, every.totals[[40, 3]])
    np.testing.assert_array_equal(influence(clf, 3, X).n_flipped, every.n_flipped[[3]])


def test_as_few_points_as_neighbors():
    X, y = np.arange(5.0)[:, None], np.array([0, 0, 1, 1, 1])
    clf = LANNClassifier(n_neighbors=5, weights="uniform", max_iter=0).fit(X, y)
    found = influence(clf, [0, 4], X)
    np.testing.assert_allclose(found.probabilities_without, [[0.25, 0.75]] * 5 + [[0.5, 0.5]] * 5)


def test_frame_and_repr(blobs):
    X, y = blobs
    found = influence(LANNClassifier(random_state=0).fit(X, y), [5, 7], X)
    frame = found.to_frame()
    assert len(frame) == len(found.points) > 0
    assert frame.groupby("point")["change"].is_monotonic_decreasing.all()
    np.testing.assert_array_equal(frame["prediction"], found.predictions[frame["query"]])
    assert "2 training points on 90 predictions" in repr(found)


@pytest.mark.parametrize("rows", [[90], [-1], [1, 1], [0.5], [[1]]])
def test_rows_are_checked(blobs, rows):
    clf = LANNClassifier(max_iter=0).fit(*blobs)
    with pytest.raises(ValueError, match="rows must be different rows of the training data, from 0 to 89"):
        influence(clf, rows, blobs[0])
