import doctest

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from benchmarks.explanations import scores


@pytest.fixture
def found():
    """Relevances with ties, and a mask with 1 to 3 planted features per row."""
    rng = np.random.default_rng(0)
    relevances = rng.integers(0, 4, size=(40, 7)).astype(float)
    planted = np.zeros((40, 7), bool)
    for row, count in enumerate(rng.integers(1, 4, size=40)):
        planted[row, rng.choice(7, count, replace=False)] = True
    return relevances, planted


def share_by_drawing(relevances, planted, k, n_draws=4000):
    """The slow way: break ties at random, many times, and count."""
    rng = np.random.default_rng(0)
    hits = 0.0
    for _ in range(n_draws):
        order = np.lexsort((rng.random(len(relevances)), -relevances))
        hits += planted[order[:k]].sum()
    return hits / n_draws / min(k, planted.sum())


def test_auc_is_that_of_scikit_learn(found):
    relevances, planted = found
    expected = [roc_auc_score(mask, row) for row, mask in zip(relevances, planted, strict=True)]
    np.testing.assert_allclose(scores.planted_auc(relevances, planted), expected)


def test_the_most_relevant_count_and_ties_are_drawn(found):
    relevances, planted = found
    threes, ranks = (
        scores.top_k_intersection(relevances, planted, 3),
        scores.rank_accuracy(relevances, planted),
    )
    for row in range(6):
        assert threes[row] == pytest.approx(share_by_drawing(relevances[row], planted[row], 3), abs=0.04)
        k = planted[row].sum()
        assert ranks[row] == pytest.approx(share_by_drawing(relevances[row], planted[row], k), abs=0.04)


def test_a_perfect_and_a_reversed_explanation():
    planted = np.array([[True, True, False, False, False]])
    for score in (scores.planted_auc, scores.rank_accuracy, scores.mass_accuracy):
        assert score(planted.astype(float), planted) == [1.0]
        assert score(1.0 - planted, planted) == [0.0]
    assert scores.top_k_intersection([[0.0, 1.0, 2.0, 3.0, 4.0]], planted, 4) == [0.5]


def test_without_relevances_the_score_is_by_chance_and_without_planted_features_there_is_none():
    nothing, planted = np.zeros((1, 4)), np.array([[True, False, False, False]])
    assert scores.planted_auc(nothing, planted) == [0.5]
    assert scores.mass_accuracy(nothing, planted) == [0.25]
    assert scores.rank_accuracy(nothing, planted) == [0.25]
    assert scores.sparseness(nothing) == [0.0]
    assert scores.similarity(nothing, nothing) == [0.0]
    for score in (scores.planted_auc, scores.rank_accuracy):
        assert np.isnan(score(np.ones((1, 4)), ~np.ones((1, 4), bool))).all()


def test_sparseness_is_the_mean_difference(found):
    relevances = found[0] + 0.1
    differences = np.abs(relevances[:, :, None] - relevances[:, None, :]).mean(axis=(1, 2))
    np.testing.assert_allclose(scores.sparseness(relevances), differences / (2 * relevances.mean(axis=1)))


def test_scale_does_not_matter(found):
    relevances, planted = found
    scale = np.linspace(0.1, 9.0, len(relevances))[:, None]
    for score in (scores.planted_auc, scores.rank_accuracy, scores.mass_accuracy):
        np.testing.assert_allclose(score(relevances * scale, planted), score(relevances, planted))
    np.testing.assert_allclose(scores.sparseness(relevances * scale), scores.sparseness(relevances))
    np.testing.assert_allclose(scores.similarity(relevances * scale, relevances), 1.0)


def test_only_the_given_features_are_replaced_by_rows_of_the_pool():
    rng = np.random.default_rng(0)
    queries, pool = rng.random((30, 5)), rng.random((8, 5)) + 10
    seen = []

    def predict_proba(X):
        seen.append(X.copy())
        share = np.clip(X[:, 2] / 20, 0, 1)
        return np.column_stack([1 - share, share])

    features = np.tile([2, 4], (30, 1))
    change = scores.probability_change(predict_proba, queries, features, pool, n_draws=3)
    assert len(seen) == 4
    for changed in seen[1:]:
        np.testing.assert_array_equal(changed[:, [0, 1, 3]], queries[:, [0, 1, 3]])
        # Both values are of the same row.
        donors = (changed[:, None, [2, 4]] == pool[None, :, [2, 4]]).all(axis=2)
        assert (donors.sum(axis=1) == 1).all()
    expected = np.mean([np.abs(changed[:, 2] - queries[:, 2]) / 20 for changed in seen[1:]], axis=0)
    np.testing.assert_allclose(change, expected)


def test_other_features_in_every_draw():
    queries, pool = np.zeros((4, 3)), np.ones((2, 3))

    def predict_proba(X):
        return np.column_stack([1 - X[:, 0] / 2, X[:, 0] / 2])

    by_draw = np.array([[[0]] * 4, [[1]] * 4])  # (n_draws, n_queries, 1)
    np.testing.assert_allclose(
        scores.probability_change(predict_proba, queries, by_draw, pool, n_draws=2), [0.25] * 4
    )


def test_most_relevant_first():
    np.testing.assert_array_equal(scores.most_relevant([[0, 5, 5, 9]], 3), [[3, 1, 2]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: scores.planted_auc([[1.0, -2.0]], [[True, False]]), "must not be negative; got -2"),
        (lambda: scores.sparseness([[np.nan, 1.0]]), "must not be negative; got nan"),
        (lambda: scores.mass_accuracy([[1.0, 2.0]], [[True]]), r"\(1, 2\).*\(1, 1\)"),
        (lambda: scores.similarity([[1.0, 2.0]], [[1.0]]), r"\(1, 2\).*\(1, 1\)"),
        (lambda: scores.top_k_intersection([[1.0, 2.0]], [[True, False]], 3), "k=3 must be from 1 to 2"),
        (lambda: scores.sparseness([1.0, 2.0]), "one row per query; got an array of 1 dimensions"),
    ],
)
def test_wrong_input_is_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_examples_run():
    result = doctest.testmod(scores)
    assert result.attempted > 0
    assert result.failed == 0
