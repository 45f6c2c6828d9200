"""The influence of a training row equals the change of the vote without it."""

import numpy as np
import pytest

from lann import LANNClassifier
from lann.explain import influence


def vote_without(clf, row, X):
    """Return the vote with one row excluded from the search."""
    model = clf.model_
    voters = model.voters(X, exclude=np.full(len(X), row))
    return model.vote(*voters).probabilities


PARAMETERS = [
    {},
    {"n_candidates": 6},
    {"n_candidates": 5, "levels": ("point",), "learning_rate": 0.3},
    {"n_candidates": 3},
    {"n_candidates": None, "power": 0.0},
    {"n_candidates": 500, "class_weight": "balanced", "power": 2.0},
]


@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize("parameters", PARAMETERS, ids=[str(p) for p in PARAMETERS])
def test_it_is_the_change_of_the_vote_without_the_row(blobs, parameters, weighted):
    X, y = blobs
    weights = np.random.default_rng(0).choice([0.3, 1.0, 2.5], len(X[::2])) if weighted else None
    clf = LANNClassifier(random_state=0, max_iter=4, **parameters).fit(X[::2], y[::2], weights)
    found = influence(clf, None, X)
    before = clf.predict_proba(X)
    np.testing.assert_array_equal(found.probabilities, before)
    for row in range(len(X[::2])):
        after = vote_without(clf, row, X)
        expected = np.flatnonzero((after != before).any(axis=1))
        mine = found.pair_rows == row
        np.testing.assert_array_equal(found.pair_queries[mine], expected)
        np.testing.assert_array_equal(found.probabilities_without[mine], after[expected])
        assert found.totals[row] == pytest.approx(0.5 * np.abs(after - before).sum())
        assert found.n_flipped[row] == (after.argmax(axis=1) != before.argmax(axis=1)).sum()
    assert found.n_flipped.sum() > 0


def test_a_candidate_that_does_not_vote_can_matter(blobs):
    """With few candidates, a row that does not vote can exclude one that would."""
    X, y = blobs
    clf = LANNClassifier(random_state=0, n_neighbors=3, n_candidates=5).fit(X[::2], y[::2])
    voters = clf.kneighbors(X, return_distance=False)
    found = influence(clf, None, X)
    without_vote = ~(voters[found.pair_queries] == found.rows[found.pair_rows][:, None]).any(axis=1)
    assert without_vote.any()


def test_some_rows_only(blobs):
    X, y = blobs
    clf = LANNClassifier(random_state=0).fit(X, y)
    every, some = influence(clf, None, X), influence(clf, [40, 3], X)
    np.testing.assert_array_equal(some.rows, [40, 3])
    np.testing.assert_array_equal(some.totals, every.totals[[40, 3]])
    np.testing.assert_array_equal(influence(clf, 3, X).n_flipped, every.n_flipped[[3]])


def test_as_few_rows_as_neighbors():
    X, y = np.arange(5.0)[:, None], np.array([0, 0, 1, 1, 1])
    clf = LANNClassifier(n_neighbors=5, power=0.0, max_iter=0).fit(X, y)
    found = influence(clf, [0, 4], X)
    shares, floor = np.array([[0.25, 0.75]] * 5 + [[0.5, 0.5]] * 5), clf.vote_.floor
    np.testing.assert_allclose(found.probabilities_without, (shares + floor / 2) / (1 + floor))


def test_frame_and_repr(blobs):
    X, y = blobs
    found = influence(LANNClassifier(random_state=0).fit(X, y), [5, 7], X)
    frame = found.to_frame()
    assert len(frame) == len(found.pair_rows) > 0
    assert frame.groupby("row")["change"].is_monotonic_decreasing.all()
    np.testing.assert_array_equal(frame["prediction"], found.predictions[frame["query"]])
    assert "2 training rows on 90 predictions" in repr(found)


@pytest.mark.parametrize("rows", [[90], [-1], [1, 1], [0.5], [[1]]])
def test_rows_are_checked(blobs, rows):
    clf = LANNClassifier(max_iter=0).fit(*blobs)
    with pytest.raises(ValueError, match="rows must be different rows of the training data, from 0 to 89"):
        influence(clf, rows, blobs[0])
