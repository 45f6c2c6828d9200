"""Votes of the training rows."""

import numpy as np
import pytest

from lann import LANNClassifier
from lann.explain import prototypical_rows


@pytest.fixture
def fitted(blobs):
    X, y = blobs
    return LANNClassifier(random_state=0, max_iter=3).fit(X[::2], np.array(["a", "b", "c"])[y[::2]])


def test_votes_on_queries_add_up_one_by_one(fitted, blobs):
    X, y = blobs
    X, y = X[1::2], np.array(["a", "b", "c"])[y[1::2]]
    found = prototypical_rows(fitted, X, y)
    explanation = fitted.explain(X)
    correct, wrong, n_queries = np.zeros(45), np.zeros(45), np.zeros(45)
    for query in range(len(X)):
        for slot, row in enumerate(explanation.neighbors[query]):
            right = explanation.neighbor_labels[query, slot] == y[query]
            (correct if right else wrong)[row] += explanation.vote_shares[query, slot]
            n_queries[row] += 1
    np.testing.assert_allclose(found.correct, correct, atol=1e-12)
    np.testing.assert_allclose(found.wrong, wrong, atol=1e-12)
    np.testing.assert_array_equal(found.n_queries, n_queries)
    assert found.wrong.sum() > 0


def test_training_rows_do_not_vote_on_themselves(fitted):
    found = prototypical_rows(fitted)
    indices = fitted.kneighbors(return_distance=False)
    np.testing.assert_array_equal(found.n_queries, np.bincount(indices.ravel(), minlength=45))
    assert found.votes.sum() == pytest.approx(45)


def test_without_labels_wrong_votes_are_those_against_the_prediction(fitted, blobs):
    X = blobs[0]
    found, given = prototypical_rows(fitted, X), prototypical_rows(fitted, X, fitted.predict(X))
    np.testing.assert_array_equal(found.correct, given.correct)


def test_the_frame_is_ranked(fitted):
    frame = prototypical_rows(fitted).to_frame()
    assert (frame["correct"] - frame["wrong"]).is_monotonic_decreasing
    assert sorted(frame["row"]) == list(range(45))
    assert "45 training rows" in repr(prototypical_rows(fitted))


def test_labels_are_checked(fitted, blobs):
    with pytest.raises(ValueError, match="y must have a label for each of the 90 rows"):
        prototypical_rows(fitted, blobs[0], ["a"])
    with pytest.raises(ValueError, match="y holds the labels of X"):
        prototypical_rows(fitted, y=["a"])
