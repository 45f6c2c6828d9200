"""Training rows are found among the queries, and explained without themselves."""

import numpy as np
import pandas as pd
import pytest

from lann import LANNClassifier
from lann.explain import find_training_rows


@pytest.fixture(scope="module")
def fitted(wine):
    X, y = wine
    return LANNClassifier(max_iter=2, random_state=0).fit(X[::2], y[::2])


def slow_find(training, queries, names=None, training_names=None):
    found = []
    for i, query in enumerate(queries):
        same = [j for j, row in enumerate(training) if np.array_equal(row, query, equal_nan=True)]
        if names is not None and training_names is not None:
            same = [j for j in same if training_names[j] == names[i]][:1]
        found.append(same[0] if len(same) == 1 else -1)
    return found


def test_rows_are_found_by_values_and_names():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (60, 3)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    model = LANNClassifier(max_iter=0).fit(X, rng.integers(0, 2, 60)).model_
    queries = np.concatenate([X[::3], rng.integers(0, 4, (30, 3)), [[-0.0, 1.0, 2.0]]])
    names, training_names = rng.integers(0, 20, len(queries)), rng.integers(0, 20, 60)
    names[:20] = training_names[::3]
    unnamed = find_training_rows(model, queries)
    assert unnamed.tolist() == slow_find(X, queries)
    assert (unnamed >= 0).any()
    assert (unnamed < 0).any()
    named = find_training_rows(model, queries, names=names, training_names=training_names)
    assert named.tolist() == slow_find(X, queries, names, training_names)
    assert (named[:20] >= 0).all()
    # Numbers and text name different things: both go by their values.
    mixed = find_training_rows(model, queries, names=names.astype(str), training_names=training_names)
    assert mixed.tolist() == unnamed.tolist()
    one = find_training_rows(model, queries, names=names)
    assert one.tolist() == unnamed.tolist()


def test_training_rows_are_explained_without_themselves(fitted, wine):
    X, _ = wine
    queries = np.concatenate([X[1:20:2], X[:20:2]])
    explanation = fitted.explain(queries)
    assert explanation.left_out.tolist() == [-1] * 10 + list(range(10))
    for i in range(10):
        assert i not in explanation.neighbors[10 + i]
    lengths, indices = fitted.kneighbors()
    np.testing.assert_array_equal(explanation.neighbors[10:], indices[:10])
    np.testing.assert_allclose(explanation.distances[10:], lengths[:10], rtol=1e-10)
    model = fitted.model_
    voters = model.voters(X[:20:2], exclude=np.arange(10))
    np.testing.assert_array_equal(explanation.probabilities[10:], model.vote(*voters).probabilities)
    np.testing.assert_array_equal(explanation.vote_shares[10:], model.vote(*voters).shares)
    # All else stays as it is predicted, to the bit.
    np.testing.assert_array_equal(explanation.probabilities[:10], fitted.predict_proba(queries)[:10])
    everything = fitted.explain(queries, leave_out=None)
    assert everything.left_out.tolist() == [-1] * 20
    np.testing.assert_array_equal(everything.probabilities, fitted.predict_proba(queries))
    np.testing.assert_array_equal(everything.neighbors[:10], explanation.neighbors[:10])


def test_the_training_rows_without_x(fitted):
    explanation = fitted.explain()
    assert explanation.left_out.tolist() == list(range(89))
    np.testing.assert_array_equal(explanation.neighbors, fitted.kneighbors(return_distance=False))
    np.testing.assert_array_equal(explanation.values, fitted.model_.X)
    with_own = fitted.explain(leave_out=None)
    np.testing.assert_array_equal(with_own.probabilities, fitted.predict_proba(fitted.model_.X))
    one = fitted.explain(leave_out=np.where(np.arange(89) == 3, 3, -1))
    np.testing.assert_array_equal(one.probabilities[3], explanation.probabilities[3])
    np.testing.assert_array_equal(one.probabilities[4], with_own.probabilities[4])


def test_rows_that_are_given_are_left_out(fitted, wine):
    query = wine[0][1:2]
    nearest = int(fitted.explain(query).neighbors[0, 0])
    explanation = fitted.explain(query, leave_out=[nearest])
    assert explanation.left_out.tolist() == [nearest]
    assert nearest not in explanation.neighbors
    for wrong, message in (
        ("all", "leave_out must be 'auto', None, or the position"),
        ([0, 1], "for each of the 1 queries"),
        ([0.0], "for each of the 1 queries"),
        ([89], r"one of the 89 training rows .*; got \[89\]"),
        ([-2], "one of the 89 training rows"),
    ):
        with pytest.raises(ValueError, match=message):
            fitted.explain(query, leave_out=wrong)


def test_copies_are_told_apart_by_their_names():
    frame = pd.DataFrame({"x": [0.0, 0.0, 1.0, 5.0, 6.0, 7.0]}, index=list("abcdef"))
    y = [0, 1, 0, 1, 1, 1]
    clf = LANNClassifier(1, max_iter=0).fit(frame, y)
    explanation = clf.explain(frame)
    assert explanation.left_out.tolist() == [0, 1, 2, 3, 4, 5]
    assert explanation.neighbor_ids[:2, 0].tolist() == ["b", "a"]
    assert explanation.predictions[:2].tolist() == [1, 0]
    # A new row of another name that has the same values.
    assert clf.explain(frame.rename(index={"a": "g", "c": "h"})).left_out.tolist() == [-1, 1, -1, 3, 4, 5]
    # Without names, a row with copies can be any of them, or another one.
    assert clf.explain(frame.reset_index(drop=True)).left_out.tolist() == [-1, -1, 2, 3, 4, 5]
    assert clf.explain().query_ids.tolist() == list("abcdef")


def test_the_only_row_votes():
    clf = LANNClassifier(1, max_iter=0).partial_fit([[1.0]], [0], classes=[0, 1])
    assert clf.explain([[1.0]]).left_out.tolist() == [-1]
    with pytest.raises(ValueError, match="The only training row cannot be left out"):
        clf.explain()
