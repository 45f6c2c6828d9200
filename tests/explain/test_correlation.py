"""Correlated features: found by either correlation, also indirectly, and not among few rows."""

import numpy as np
import pandas as pd
import pytest

from lann import LANNClassifier
from lann.explain import _correlation, correlated_groups
from lann.explain._correlation import correlated_features


@pytest.fixture
def noise():
    return np.random.default_rng(0).normal(size=(200, 6))


def test_independent_features_have_no_groups(noise):
    assert correlated_groups(noise) == {}


def test_either_correlation_either_sign_and_over_others(noise):
    X = noise.copy()
    X[:, 1] = -2.0 * X[:, 0]  # Pearson
    X[:, 3] = X[:, 2] ** 9  # Spearman
    X[:, 4] = X[:, 3] + 1e-3 * X[:, 4]
    assert correlated_features(X) == ((0, 1), (2, 3, 4))
    assert correlated_groups(X, threshold=1.0)["x0 + x1"] == ["x0", "x1"]


def test_equals_the_correlations_of_pandas(noise, monkeypatch):
    monkeypatch.setattr(_correlation, "BLOCK", 4)
    X = np.column_stack([noise, noise @ np.random.default_rng(1).normal(size=(6, 6))])
    frame = pd.DataFrame(X)
    high = (frame.corr().abs() >= 0.6) | (frame.corr("spearman").abs() >= 0.6)
    groups = [{feature} for feature in range(12)]
    for one in range(12):
        for other in np.flatnonzero(high.loc[one]):
            first = next(group for group in groups if one in group)
            second = next(group for group in groups if other in group)
            if first is not second:
                groups.remove(second)
                first |= second
    expected = sorted(tuple(sorted(group)) for group in groups if len(group) > 1)
    assert correlated_features(X, 0.6) == tuple(expected)
    assert len(expected) > 0


def test_names(noise):
    X = pd.DataFrame(np.repeat(noise[:, :2], [4, 2], axis=1), columns=list("abcdef"))
    assert correlated_groups(X) == {"a + b + 2 more": list("abcd"), "e + f": list("ef")}
    assert list(correlated_groups(X.to_numpy(), feature_names=list("uvwxyz"))) == ["u + v + 2 more", "y + z"]


def test_constants_and_huge_values(noise):
    X = noise.copy()
    X[:, 0] = 0.1
    X[:, 1] = 1e300 * X[:, 2]
    X[:, 3] = 0.1
    assert correlated_features(X) == ((1, 2),)


def test_few_rows_have_no_groups(noise):
    X = np.repeat(noise[:19, :1], 2, axis=1)
    assert correlated_features(X) == ()
    with pytest.raises(ValueError, match="19 sample"):
        correlated_groups(X)


def test_invalid_arguments_raise(noise):
    with pytest.raises(ValueError, match="threshold must be a number above 0 and at most 1; got 2"):
        correlated_groups(noise, threshold=2)
    with pytest.raises(ValueError, match="feature_names must name the 6 features of X; got 1 names"):
        correlated_groups(noise, feature_names=["a"])


def test_a_warning_stays_short(recwarn):
    _correlation.warn_of_correlated([f"a{n} + b{n}" for n in range(8)], stacklevel=1)
    text = str(recwarn[0].message)
    assert "(a4 + b4), 3 more groups;" in text
    assert "a5" not in text


def test_an_explanation_has_the_groups_of_the_training_data(iris):
    X, y = iris
    explanation = LANNClassifier(max_iter=0).fit(X, y).explain(X[:1])
    assert explanation.correlated == correlated_groups(X)
    assert explanation.correlated == {"x2 + x3": ["x2", "x3"]}
    assert explanation[:1].correlated == explanation.correlated
