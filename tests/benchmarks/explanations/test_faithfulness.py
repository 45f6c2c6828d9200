from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.explanations.faithfulness import brute_force_supports, rank_correlations, score_faithfulness
from lann import LANNClassifier


class Linear:
    """The probability of the second class is linear in the features; the first holds most of the distance."""

    classes_ = np.array([0, 1])
    slopes = np.array([0.3, 0.2, 0.0])
    model_ = SimpleNamespace(
        X=np.array([[0.0, 0.0, 0.0], [0.5, 1.0, 1.0]]),
        contributions=lambda queries, indices: np.array([[[3.0, 2.0, 1.0]]]),
    )

    def predict_proba(self, X):
        share = X @ self.slopes
        return np.column_stack([1 - share, share])


class Product(Linear):
    def predict_proba(self, X):
        share = X[:, 0] * X[:, 1]
        return np.column_stack([1 - share, share])


def test_a_linear_vote_is_divided_as_it_adds_up():
    supports = brute_force_supports(Linear(), np.ones((1, 3)), np.array([[0, -1]]))
    np.testing.assert_allclose(supports, [[[-0.3, -0.2, 0.0], [0.3, 0.2, 0.0]]], atol=1e-12)
    means = brute_force_supports(Linear(), np.ones((1, 3)), np.array([[0, 1]]))
    np.testing.assert_allclose(means[0, 1], [0.5 * (0.3 + 0.15), 0.1, 0.0], atol=1e-12)


def test_both_orders_share_an_interaction():
    supports = brute_force_supports(Product(), np.ones((1, 3)), np.array([[0]]))
    np.testing.assert_allclose(supports[0, 1], [0.5, 0.5, 0.0])


def test_features_beyond_the_most_share_by_what_they_hold(monkeypatch):
    monkeypatch.setattr("benchmarks.explanations.faithfulness.MOST_ALONE", 1)
    supports = brute_force_supports(Linear(), np.ones((1, 3)), np.array([[0]]))
    np.testing.assert_allclose(supports[0, 1], [0.3, 0.2 * 2 / 3, 0.2 / 3])


def test_a_fitted_model_is_faithful(task):
    model = LANNClassifier(max_iter=2, random_state=0).fit(task.X, task.y)
    found = score_faithfulness(model, task.X_test[:10])
    assert found["rank"] >= found["rank_min"] > 0.9
    assert found["wrong_signs"] == 0
    assert found["n_large"] > 0
    assert found["difference"] < 0.05
    assert found["sum_error"] < 0.05
    assert -1 <= found["relevances"] <= 1


def test_other_numbers_are_found(task, monkeypatch):
    model = LANNClassifier(max_iter=2, random_state=0).fit(task.X, task.y)
    module = "benchmarks.explanations.faithfulness.brute_force_supports"
    monkeypatch.setattr(module, lambda model, queries, rows: -model.explain(queries).supports)
    found = score_faithfulness(model, task.X_test[:10])
    assert found["rank"] == pytest.approx(-1)
    assert found["wrong_signs"] == 1


def test_rank_correlation_of_constant_rows():
    rows = rank_correlations(np.array([[1.0, 1, 1], [1, 1, 1]]), np.array([[2.0, 2, 2], [1, 2, 3]]))
    np.testing.assert_array_equal(rows, [1.0, 0.0])
