import numpy as np
import pytest

from lann import Explanation, LANNClassifier

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


def test_contributions_add_up_to_the_distance(explanation):
    assert np.all(explanation.contributions >= 0)
    lengths = np.sqrt(explanation.contributions.sum(axis=2))
    np.testing.assert_allclose(lengths, explanation.distances, rtol=1e-12)


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
    assert listed.max() <= 10
    shares = np.array([share[:n].sum() for share, n in zip(explanation.vote_shares, listed, strict=True)])
    assert ((shares >= 0.9) | (listed == 10)).all()
    n_voters = explanation.neighbors.shape[1]
    for n, row in zip(listed, explanation.rows(), strict=True):
        assert row.n_listed == n
        assert (row.others is None) == (n == n_voters)
        if row.others is not None:
            assert row.others.n_rows == n_voters - n == sum(count for _, count in row.others.labels)
            assert row.others.vote_share == pytest.approx(row.vote_shares[n:].sum())


def test_supports_and_base_values_add_up_to_the_probabilities(explanation):
    total = explanation.base_values + explanation.supports.sum(axis=2)
    np.testing.assert_allclose(total, explanation.probabilities, atol=1e-12)
    np.testing.assert_allclose(explanation.supports.sum(axis=1), 0.0, atol=1e-12)
    every = np.arange(len(explanation))
    own, second = explanation.predicted_class_indices, explanation.runner_up_class_indices
    np.testing.assert_array_equal(explanation.support, explanation.supports[every, own])
    separation = explanation.supports[every, own] - explanation.supports[every, second]
    np.testing.assert_array_equal(explanation.separation, separation)


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
    with pytest.raises(IndexError, match="95 is out of bounds"):
        explanation[95]


def test_to_frame(explanation):
    frame, n_voters = explanation.to_frame(), explanation.neighbors.shape[1]
    assert len(frame) == 95 * n_voters
    np.testing.assert_array_equal(frame["query"], np.repeat(np.arange(95), n_voters))
    np.testing.assert_array_equal(frame["neighbor"], explanation.neighbors.ravel())
    np.testing.assert_array_equal(frame["label"].astype(object), explanation.neighbor_labels.ravel())
    columns = [f"contribution of x{number}" for number in range(13)]
    np.testing.assert_allclose(frame[columns].sum(axis=1), frame["distance"] ** 2)
    np.testing.assert_allclose(frame.groupby("query")["vote_share"].sum(), 1)
    assert frame.loc[n_voters, "prediction"] == explanation.predictions[1]
