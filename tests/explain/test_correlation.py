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


def test_gaps_are_left_out_pair_by_pair(noise):
    X = noise.copy()
    X[:, 1] = X[:, 0] + 0.2 * X[:, 1]
    X[:60, 0] = np.nan
    X[40:90, 1] = np.nan
    X[30:, 4] = np.nan
    both = pd.DataFrame(X).corr().abs().fillna(0).to_numpy()
    assert both[0, 1] > 0.9
    assert correlated_features(X) == ((0, 1),)
    # Too few rows have both.
    few = X.copy()
    few[108:, 0] = np.nan
    assert correlated_features(few) == ()


def test_categories_and_numbers(noise):
    rng = np.random.default_rng(1)
    X = noise.copy()
    X[:, 0] = rng.integers(0, 5, 200)
    X[:, 1] = np.array([3.0, -1.0, 7.0, 0.0, 2.0])[X[:, 0].astype(int)] + 0.3 * X[:, 1]
    X[:, 3] = rng.integers(0, 150, 200)  # nearly every row has its own category: nothing to tell
    X[rng.random(200) < 0.1, 0] = np.nan
    X[rng.random(200) < 0.1, 1] = np.nan
    is_category = np.array([True, False, False, True, False, False])
    assert correlated_features(X, is_category=is_category) == ((0, 1),)
    assert correlated_features(X) == ()


def test_cramers_v_and_correlation_ratio_equal_their_formulas():
    rng = np.random.default_rng(0)
    one, two = rng.integers(0, 4, 300).astype(float), rng.integers(0, 3, 300).astype(float)
    two = np.where(rng.random(300) < 0.8, one % 3, two)
    one[::7], two[::11] = np.nan, np.nan
    number = one + rng.normal(size=300)
    number[::13] = np.nan

    def cramers_v(a, b):
        table = pd.crosstab(a, b).to_numpy()
        n, (r, k) = table.sum(), table.shape
        expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
        phi = ((table - expected) ** 2 / expected).sum() / n
        phi = max(0.0, phi - (r - 1) * (k - 1) / (n - 1))
        return np.sqrt(phi / min(r - (r - 1) ** 2 / (n - 1) - 1, k - (k - 1) ** 2 / (n - 1) - 1))

    def ratio(a, b):
        frame = pd.DataFrame({"a": a, "b": b}).dropna()
        groups = frame.groupby("a")["b"]
        within = (groups.var(ddof=0) * groups.size()).sum() / (len(frame) - len(groups))
        return np.sqrt(1 - within / frame["b"].var())

    categories, numbers = np.stack([one, two], axis=1), number[:, None]
    codes = np.where(np.isnan(categories), -1, categories + np.array([0, 4])).astype(int)
    owner = np.repeat([0, 1], [4, 3])
    found = _correlation._cramers_v(codes, owner, 0)
    np.testing.assert_allclose(found[1], cramers_v(one, two))
    filled = np.where(np.isnan(numbers), 0.0, numbers)
    ratios = _correlation._correlation_ratios(codes[:, 0], filled, ~np.isnan(numbers))
    np.testing.assert_allclose(ratios, [ratio(one, number)])


def test_thousands_of_categories_are_cheap_and_not_correlated_by_chance():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2000, (3000, 4)).astype(float)
    X[:, 1] = X[:, 0] % 7
    X[:, 2] = (X[:, 1] * 3) % 7
    X[:, 3] = rng.normal(size=3000)
    is_category = np.array([True, True, True, False])
    assert correlated_features(X, is_category=is_category) == ((1, 2),)


def test_tables(noise):
    frame = pd.DataFrame(
        {
            "size": noise[:, 0],
            "color": np.where(noise[:, 1] > 0, "red", "blue"),
            "is_red": noise[:, 1] > 0,
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.rint(100 * noise[:, 0]), "D"),
        }
    )
    frame.loc[3, "color"] = None
    assert correlated_groups(frame) == {
        "size + day": ["size", "day"],
        "color + is_red": ["color", "is_red"],
    }
    with pytest.raises(ValueError, match="X has 5 rows; at least 20 are needed"):
        correlated_groups(frame[:5])
