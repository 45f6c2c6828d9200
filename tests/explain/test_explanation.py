import numpy as np
import pytest

from lann import Explanation, LANNClassifier

ROWWISE = (
    "predictions", "probabilities", "neighbors", "neighbor_labels", "distances", "vote_shares", "relevances",
    "values", "supports", "support_errors", "base_values", "runner_up",
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


def test_there_are_few_public_members(explanation):
    assert len([name for name in dir(explanation) if not name.startswith("_")]) <= 25


def test_contributions_add_up_to_the_distance(fitted, queries, explanation):
    contributions = fitted.contributions(queries)
    assert np.all(contributions >= 0)
    np.testing.assert_allclose(np.sqrt(contributions.sum(axis=2)), explanation.distances, rtol=1e-12)
    of_given = fitted.contributions(queries, explanation.neighbors[:, :2])
    np.testing.assert_array_equal(of_given, contributions[:, :2])


def test_feature_weights_are_those_of_the_neighbors(fitted, queries, explanation):
    weights = fitted.feature_weights_[explanation.neighbors]
    expected = np.einsum("qk,qkf->qf", explanation.vote_shares, weights)
    np.testing.assert_allclose(fitted.neighbor_feature_weights(queries), expected)


def test_it_explains_the_prediction(fitted, queries, explanation):
    np.testing.assert_array_equal(explanation.predictions, fitted.predict(queries))
    np.testing.assert_allclose(
        explanation.probabilities, fitted.predict_proba(queries), rtol=1e-9, atol=1e-12
    )


def test_probabilities_are_the_shares_of_the_labels_with_the_floor(fitted, explanation):
    np.testing.assert_allclose(explanation.vote_shares.sum(axis=1), 1, rtol=1e-12)
    floor = fitted.model_.vote_rule.floor
    for index, label in enumerate(explanation.classes):
        votes = np.where(explanation.neighbor_labels == label, explanation.vote_shares, 0).sum(axis=1)
        expected = (votes + floor / 3) / (1 + floor)
        np.testing.assert_allclose(explanation.probabilities[:, index], expected, atol=1e-12)
    assert floor > 0


def test_the_neighbors_that_hold_most_of_the_vote_are_listed(explanation):
    n_voters = explanation.neighbors.shape[1]
    for i in range(len(explanation)):
        row = explanation.row(i)
        n = row.n_listed
        assert 5 <= n <= 10
        assert row.vote_shares[:n].sum() >= 0.9 or n == 10
        assert (row.others is None) == (n == n_voters)
        if row.others is not None:
            assert row.others.n_rows == n_voters - n == sum(count for _, count in row.others.labels)
            assert row.others.vote_share == pytest.approx(row.vote_shares[n:].sum())


def test_supports_and_base_values_add_up_to_the_probabilities(explanation):
    total = explanation.base_values + explanation.supports.sum(axis=2)
    np.testing.assert_allclose(total, explanation.probabilities, atol=1e-12)
    np.testing.assert_allclose(explanation.supports.sum(axis=1), 0.0, atol=1e-12)
    # Nothing is known of the row: the same for all.
    np.testing.assert_allclose(explanation.base_values, explanation.base_values[:1].repeat(95, 0), atol=1e-12)


def test_training_rows_can_have_names(fitted, queries):
    ids = np.array([f"patient {row}" for row in range(89)])
    explanation = fitted.explain(queries[:3], ids=ids)
    assert np.array_equal(explanation.neighbor_ids, ids[explanation.neighbors])
    assert explanation.to_frame("neighbors")["neighbor_id"][0] == ids[explanation.neighbors[0, 0]]
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
