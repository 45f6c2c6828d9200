import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lann import Explanation, LANNClassifier
from lann.explain._landmarks import landmarks_of

ROWWISE = (
    "predictions", "probabilities", "neighbors", "neighbor_labels", "distances", "vote_shares",
    "contributions", "relevances", "feature_weights", "queries", "supports", "runner_up", "support",
    "separation",
)  # fmt: skip


@pytest.fixture(
    scope="module",
    params=[{}, {"levels": ("point",), "power": 0.0}, {"n_candidates": None, "power": 2.0}],
    ids=["default", "uniform", "exhaustive"],
)
def fitted(request, wine):
    X, y = wine
    names = np.array(["a", "b", "c"])[y]
    return LANNClassifier(random_state=0, max_iter=7, **request.param).fit(X[::2], names[::2])


@pytest.fixture(scope="module")
def queries(wine):
    return np.concatenate([wine[0][1::2], wine[0][:6]])  # some of them training rows


@pytest.fixture
def explanation(fitted, queries):
    return fitted.explain(queries, leave_out=None)


def test_shapes(explanation):
    assert isinstance(explanation, Explanation)
    q, k, n = 95, 7, 13
    assert explanation.predictions.shape == (q,)
    assert explanation.probabilities.shape == (q, 3)
    assert explanation.contributions.shape == (q, k, n)
    assert explanation.relevances.shape == (q, n)
    for name in ("neighbors", "neighbor_labels", "distances", "vote_shares"):
        assert getattr(explanation, name).shape == (q, k)
    assert len(explanation) == q


def test_contributions_add_up_to_the_distance(explanation):
    assert np.all(explanation.contributions >= 0)
    lengths = np.sqrt(explanation.contributions.sum(axis=2))
    np.testing.assert_allclose(lengths, explanation.distances, rtol=1e-12)


def test_it_explains_the_neighbors_of_kneighbors(fitted, queries, explanation):
    lengths, indices = fitted.kneighbors(queries)
    np.testing.assert_array_equal(explanation.neighbors, indices)
    np.testing.assert_allclose(explanation.distances, lengths, rtol=1e-10, atol=1e-12)


def test_it_explains_the_prediction(fitted, queries, explanation):
    np.testing.assert_array_equal(explanation.predictions, fitted.predict(queries))
    np.testing.assert_allclose(
        explanation.probabilities, fitted.predict_proba(queries), rtol=1e-9, atol=1e-12
    )


def test_probabilities_are_the_shares_of_the_labels_with_the_floor(explanation):
    np.testing.assert_allclose(explanation.vote_shares.sum(axis=1), 1, rtol=1e-12)
    for index, label in enumerate(explanation.classes):
        votes = np.where(explanation.neighbor_labels == label, explanation.vote_shares, 0).sum(axis=1)
        np.testing.assert_allclose(explanation.class_votes[:, index], votes, atol=1e-12)
        expected = (votes + explanation.floor / 3) / (1 + explanation.floor)
        np.testing.assert_allclose(explanation.probabilities[:, index], expected, atol=1e-12)
    assert explanation.floor > 0


def test_the_neighbors_that_hold_most_of_the_vote_are_listed(explanation):
    listed = explanation.n_listed
    assert listed.min() >= 5
    assert listed.max() <= 7
    shares = [share[:n].sum() for share, n in zip(explanation.vote_shares, listed, strict=True)]
    assert min(shares) >= 0.9
    for n, row in zip(listed, explanation.rows(), strict=True):
        assert row.n_listed == n
        assert (row.others is None) == (n == 7)
        if row.others is not None:
            assert row.others.n_rows == 7 - n == sum(count for _, count in row.others.labels)
            assert row.others.vote_share == pytest.approx(row.vote_shares[n:].sum())


def test_of_many_neighbors_ten_are_listed(wine):
    X, y = wine
    explanation = LANNClassifier(40, power=0.0, max_iter=0, n_candidates=None).fit(X, y).explain(X[:3])
    np.testing.assert_array_equal(explanation.n_listed, 10)
    others = explanation.row(0).others
    assert (others.n_rows, others.title) == (30, "30 others")
    assert others.vote_share == pytest.approx(0.75)
    label, count = others.labels[0]
    assert others.label_text.startswith(f"{count} {label}")
    sizes = [count for _, count in others.labels]
    assert sizes == sorted(sizes, reverse=True)


def test_labels_are_those_of_the_training_rows(wine, explanation):
    names = np.array(["a", "b", "c"])[wine[1]][::2]
    np.testing.assert_array_equal(explanation.neighbor_labels, names[explanation.neighbors])


def test_feature_weights_are_those_of_the_neighbors(fitted, explanation):
    for row in (0, 50):
        expected = explanation.vote_shares[row] @ fitted.feature_weights_[explanation.neighbors[row]]
        np.testing.assert_allclose(explanation.feature_weights[row], expected)


def test_relevances_are_means_over_landmarks(fitted, queries, explanation):
    landmarks = landmarks_of(fitted.model_)
    near = landmarks.near(fitted.model_, queries)
    for row in (0, 50):
        expected = landmarks.readings.relevances[near[row]].mean(axis=0)
        np.testing.assert_allclose(explanation.relevances[row], expected)


def test_supports_and_base_values_add_up_to_the_probabilities(explanation):
    total = explanation.base_values + explanation.supports.sum(axis=2)
    np.testing.assert_allclose(total, explanation.probabilities, atol=1e-12)
    np.testing.assert_allclose(explanation.supports.sum(axis=1), 0.0, atol=1e-12)
    every = np.arange(len(explanation))
    own, second = explanation.predicted_class_indices, explanation.runner_up_class_indices
    np.testing.assert_array_equal(explanation.support, explanation.supports[every, own])
    separation = explanation.supports[every, own] - explanation.supports[every, second]
    np.testing.assert_array_equal(explanation.separation, separation)


def test_what_is_computed_when_it_is_read_is_the_same_for_some_rows(fitted, queries, explanation):
    again = fitted.explain(queries)[[3, 1]]
    for name in ("contributions", "feature_weights", "contrast_rows", "supports"):
        np.testing.assert_allclose(getattr(again, name), getattr(explanation, name)[[3, 1]], atol=1e-12)
    copied = pickle.loads(pickle.dumps(again))
    assert copied._details is None
    np.testing.assert_array_equal(copied.supports, again.supports)


def test_the_runner_up_has_the_second_most_votes(explanation):
    assert (explanation.runner_up != explanation.predictions).all()
    second = np.sort(explanation.probabilities, axis=1)[:, -2]
    rows = np.arange(len(explanation))
    assert np.array_equal(explanation.probabilities[rows, explanation.runner_up_class_indices], second)
    assert (second > 0).any()


def test_training_rows_can_have_names(fitted, queries):
    ids = np.array([f"patient {row}" for row in range(89)])
    explanation = fitted.explain(queries[:3], ids=ids)
    assert np.array_equal(explanation.neighbor_ids, ids[explanation.neighbors])
    assert explanation.to_frame()["neighbor_id"][0] == ids[explanation.neighbors[0, 0]]
    with pytest.raises(ValueError, match=r"ids must name the 89 training rows, without .* shape \(3,\)"):
        fitted.explain(queries, ids=ids[:3])


def test_rows_can_be_selected(explanation):
    mask = np.zeros(95, bool)
    mask[[3, 8]] = True
    for rows, expected in [
        (4, [4]),
        (-1, [94]),
        (np.int64(4), [4]),
        (slice(2, 9, 3), [2, 5, 8]),
        ([3, 1], [3, 1]),
        (np.array([3, 1]), [3, 1]),
        (mask, [3, 8]),
    ]:
        part = explanation[rows]
        assert isinstance(part, Explanation)
        assert len(part) == len(expected)
        for name in ROWWISE:
            np.testing.assert_array_equal(getattr(part, name), getattr(explanation, name)[expected])
        np.testing.assert_array_equal(part.feature_names, explanation.feature_names)
        np.testing.assert_array_equal(part.classes, explanation.classes)


@pytest.mark.parametrize("row", [95, -96, 1000])
def test_a_row_out_of_bounds_raises(explanation, row):
    with pytest.raises(IndexError, match=f"The explanation has 95 queries; {row} is out of bounds"):
        explanation[row]


def test_it_can_be_iterated(explanation):
    parts = list(explanation)
    assert len(parts) == 95
    np.testing.assert_array_equal([part.predictions[0] for part in parts], explanation.predictions)


def test_repr(explanation):
    assert repr(explanation) == "<Explanation of 95 predictions by 7 neighbors over 13 features>"


def test_to_frame(explanation):
    frame = explanation.to_frame()
    assert len(frame) == 95 * 7
    np.testing.assert_array_equal(frame["query"], np.repeat(np.arange(95), 7))
    np.testing.assert_array_equal(frame["neighbor"], explanation.neighbors.ravel())
    np.testing.assert_array_equal(frame["label"].astype(object), explanation.neighbor_labels.ravel())
    columns = [f"contribution of x{number}" for number in range(13)]
    np.testing.assert_allclose(frame[columns].sum(axis=1), frame["distance"] ** 2)
    np.testing.assert_allclose(frame.groupby("query")["vote_share"].sum(), 1)
    assert frame.loc[7, "prediction"] == explanation.predictions[1]


def test_relevance_frame(explanation):
    frame = explanation.relevance_frame()
    assert frame.shape == (95, 13)
    assert list(frame.columns) == [f"x{number}" for number in range(13)]
    np.testing.assert_allclose(frame.sum(axis=1), 1)


def test_names_of_a_data_frame_are_kept(wine):
    X = pd.DataFrame(wine[0][:, :3], columns=["alcohol", "acid", "ash"])
    explanation = LANNClassifier(max_iter=0).fit(X, wine[1]).explain(X[:2])
    assert list(explanation.feature_names) == ["alcohol", "acid", "ash"]
    assert list(explanation.relevance_frame().columns) == ["alcohol", "acid", "ash"]
    assert "contribution of acid" in explanation.to_frame()


@given(st.integers(0, 10**6), st.integers(1, 7), st.sampled_from([0.0, 1.0]))
def test_explanation_and_prediction_agree_on_ties(seed, n_neighbors, power):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (30, 2)) * 0.1
    y = np.concatenate([[0, 1], rng.integers(0, 2, 28)])
    clf = LANNClassifier(n_neighbors, power=power, max_iter=0).fit(X, y)
    queries = rng.integers(0, 7, (40, 2)) * 0.05
    explanation = clf.explain(queries, leave_out=None)
    np.testing.assert_array_equal(explanation.predictions, clf.predict(queries))
    lengths = np.sqrt(explanation.contributions.sum(axis=2))
    np.testing.assert_allclose(lengths, explanation.distances, rtol=1e-12)


def test_values_to_show_default_to_the_numbers(fitted, wine, explanation, queries):
    np.testing.assert_array_equal(explanation.query_values, queries)
    np.testing.assert_array_equal(explanation.neighbor_values, wine[0][::2][explanation.neighbors])
    shown = explanation.with_values(queries.astype(str), None)
    np.testing.assert_array_equal(shown[3].query_values, queries[3:4].astype(str))
    assert shown.neighbor_values is None
    training = np.full((89, 13), "red")
    assert (explanation.with_values(queries, training)[:2].neighbor_values == "red").all()


def test_a_changed_array_does_not_change_the_explanation(fitted, queries):
    given = np.array(queries[:5])
    explanation = fitted.explain(given)
    given[:] = 0.0
    np.testing.assert_array_equal(explanation.queries, queries[:5])
    np.testing.assert_allclose(explanation.supports, fitted.explain(queries[:5]).supports)


def test_values_that_are_as_large_as_possible(fitted, queries):
    explanation = fitted.explain(queries[:2] * 1e130)
    total = explanation.base_values + explanation.supports.sum(axis=2)
    np.testing.assert_allclose(total, explanation.probabilities, atol=1e-12)
    assert explanation.is_far.all()


@pytest.mark.parametrize("rows", [None, (0,), (slice(2), 1)])
def test_indices_that_select_no_queries(explanation, rows):
    with pytest.raises(IndexError, match="position, a slice, a list or a mask"):
        explanation[rows]
