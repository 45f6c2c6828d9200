"""Explanations of single predictions: rows, ages, memories, and features before and after a drift."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest

from lann.streams import SAMKNN
from lann.streams._explanation import feature_dependence


def make_drift(n_rows=2000, seed=0):
    """Return rows whose label follows feature 0, and feature 2 from the middle on."""
    X = np.random.default_rng(seed).uniform(size=(n_rows, 3))
    y = np.where(np.arange(n_rows) < n_rows // 2, X[:, 0] > 0.5, X[:, 2] > 0.5)
    return X, np.array(["no", "yes"])[y.astype(int)]


@pytest.fixture(scope="module")
def fitted():
    X, y = make_drift()
    return SAMKNN(random_state=0).fit(pd.DataFrame(X, columns=["before", "noise", "after"]), y)


def test_the_vote_is_that_of_the_prediction(fitted):
    rng = np.random.default_rng(1)
    for x in rng.uniform(size=(20, 3)):
        found = fitted.explain_one(x)
        query = pd.DataFrame(x[None], columns=fitted.feature_names_in_)
        np.testing.assert_array_equal(found.probabilities, fitted.predict_proba(query)[0])
        assert found.prediction == fitted.predict(query)[0]
        assert found.vote_shares.sum() == pytest.approx(1)
        shares = [found.vote_shares[found.neighbor_labels == label].sum() for label in found.classes]
        np.testing.assert_allclose((np.array(shares) + 0.02 / 2) / 1.02, found.probabilities)
        np.testing.assert_allclose(found.contributions, np.square(found.neighbors - x))
        np.testing.assert_allclose(found.contributions.sum(axis=1), found.distances**2)
        assert (np.diff(found.distances) >= 0).all()


def test_ages_and_values_are_those_of_rows_that_were_learned(fitted):
    X, y = make_drift()
    found = fitted.explain_one(X[-1])
    assert found.n_seen == 2000
    assert (found.ages[0], found.distances[0]) == (1, 0)
    short = (found.neighbor_memories == "short-term") & (found.sizes == 1)
    assert short.any()
    for i in np.flatnonzero(short):
        row = int(found.n_seen - found.ages[i])
        np.testing.assert_array_equal(found.neighbors[i], X[row])
        assert found.neighbor_labels[i] == y[row]
        assert found.ages[i] <= fitted.short_term_size_


def test_features_before_and_after_the_drift(fitted):
    found = fitted.explain_one([0.2, 0.2, 0.9])
    assert found.last_reset == fitted.resets_[-1]
    assert found.dependence_now.argmax() == 2
    assert found.dependence_now.sum() == pytest.approx(1)
    assert "after" in found.sentence
    # The rows that the first reset after the change has removed are of the first half.
    X, y = make_drift()
    first = next(reset for reset in fitted.resets_ if reset.row > 1000)
    clf = SAMKNN(random_state=0).fit(X[: first.row + 1], y[: first.row + 1])
    found = clf.explain_one(X[0])
    assert found.dependence_before.argmax() == 0
    assert found.dependence_now.argmax() == 2


@pytest.mark.parametrize("memory", ["short-term", "long-term", "combined"])
def test_every_memory_can_decide(memory):
    X, y = make_drift()
    clf = SAMKNN(window_size=300, random_state=0).fit(X, y)
    number = ["short-term", "long-term", "combined"].index(memory)
    clf.memories_.hit_counts[:] = 0
    clf.memories_.hit_counts[number] = clf.short_term_size_
    found = clf.explain_one(X[7])
    assert found.memory == memory
    np.testing.assert_array_equal(found.probabilities, clf.predict_proba(X[7:8])[0])
    if memory != "combined":
        assert set(found.neighbor_memories) == {memory}
    is_long = found.neighbor_memories == "long-term"
    stored = clf.memories_.long_X[:, : clf.long_term_size_].T
    for row in found.neighbors[is_long]:
        assert (stored == row).all(axis=1).any()
    assert (found.sizes[~is_long] == 1).all()


def test_plain_values_text_and_table(fitted):
    found = fitted.explain_one([0.2, np.nan, 0.9])
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["query"] == [0.2, None, 0.9]
    assert document["prediction"] == found.prediction
    assert document["last_reset"]["row"] == found.last_reset.row
    assert document["sentence"] == found.sentence
    np.testing.assert_allclose(found.contributions.sum(axis=1), found.distances**2)
    assert str(found).startswith(found.sentence)
    assert len(str(found).splitlines()) == 2 + len(found.ages)
    assert f"Predicted {found.prediction} (" in found.sentence
    table = found.to_frame()
    assert table.columns.tolist()[:3] == ["label", "memory", "age"]
    np.testing.assert_array_equal(table[["before", "noise", "after"]], found.neighbors)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(found)).neighbors, found.neighbors)
    assert "<StreamExplanation: " in repr(found)


def test_few_rows():
    clf = SAMKNN().partial_fit([[1.0, np.nan]], ["a"])
    found = clf.explain_one([[np.nan, 2.0]])
    assert found.sentence.startswith("Predicted a (100%) by the short-term memory")
    assert found.distances.tolist() == [np.inf]
    assert not found.contributions.any()
    assert not found.dependence_now.any()
    assert found.dependence_before is None
    assert found.last_reset is None
    assert json.dumps(found.to_dict(), allow_nan=False)


def test_invalid_rows_raise(fitted):
    with pytest.raises(ValueError, match="explains one row; got 2 rows"):
        fitted.explain_one(pd.DataFrame(np.zeros((2, 3)), columns=fitted.feature_names_in_))
    with pytest.raises(ValueError, match="2 features"):
        SAMKNN().fit(*make_drift(100)).explain_one([1.0, 2.0])


def test_dependence_by_its_definition():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    X[:, 1] += 2 * labels
    parts = []
    for row in range(40):
        order = np.argsort(np.square(X - X[row]).sum(axis=1))[1:]
        same = [other for other in order if labels[other] == labels[row]][:5]
        others = [other for other in order if labels[other] != labels[row]][:5]
        far, near = (np.square(X[rows] - X[row]).mean(axis=0) for rows in (others, same))
        parts.append((far - near) / far.sum())
    expected = np.maximum(np.mean(parts, axis=0), 0)
    np.testing.assert_allclose(feature_dependence(X, labels), expected / expected.sum())
    assert not feature_dependence(X, np.zeros(40, int)).any()
    assert feature_dependence(np.empty((0, 3)), np.empty(0, int)).tolist() == [0, 0, 0]
