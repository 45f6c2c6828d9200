import numpy as np
import pytest

from lann.plot._quantities import row_quantities


def test_relevances_are_those_of_the_explanation(clf, iris_frame):
    X = iris_frame[0][::10]
    result = row_quantities(clf, X, None, quantity="relevances", max_rows=2000)
    np.testing.assert_array_equal(result.values, clf.explain(X).relevances)


def test_feature_weights_of_training_rows_are_their_own(clf, iris_frame):
    weights = clf.feature_weights_ / clf.feature_weights_.sum(axis=1, keepdims=True)
    result = row_quantities(clf, None, None, quantity="feature_weights", max_rows=2000)
    np.testing.assert_allclose(result.values, weights)


def test_feature_weights_of_queries_sum_to_one(clf, iris_frame):
    X = iris_frame[0][::10]
    result = row_quantities(clf, X, None, quantity="feature_weights", max_rows=2000)
    expected = clf.explain(X).feature_weights
    np.testing.assert_allclose(result.values, expected / expected.sum(axis=1, keepdims=True))


def test_an_invalid_quantity_raises(clf):
    with pytest.raises(ValueError, match="quantity must be one of 'relevances', 'feature_weights'"):
        row_quantities(clf, None, None, quantity="shap", max_rows=5)


def test_baselines_have_both(baseline):
    relevances = row_quantities(baseline, None, None, quantity="relevances", max_rows=20)
    assert relevances.values.max() > 0.1
    weights = row_quantities(baseline, None, None, quantity="feature_weights", max_rows=20)
    np.testing.assert_allclose(weights.values.sum(axis=1), 1)
