"""Groups of features, and which features are correlated."""

import numpy as np
import pandas as pd
import pytest

from lann import LANNClassifier
from lann.explain import _feature_groups, correlated_groups, group_features, summarize
from lann.explain._feature_groups import correlated_features


def test_sums_over_the_features_of_a_group(two_rows):
    grouped = group_features(two_rows, {"size": ["width", "area"]})
    assert grouped.feature_names.tolist() == ["size", "texture", "depth"]
    for name in ("relevances", "supports"):
        whole, found = getattr(two_rows, name), getattr(grouped, name)
        expected = [whole[..., 0] + whole[..., 3], whole[..., 1], whole[..., 2]]
        np.testing.assert_allclose(found, np.stack(expected, axis=-1))
    np.testing.assert_allclose(grouped.support_errors[:, :, 0], np.sqrt(2) * 0.001)
    np.testing.assert_array_equal(grouped.base_values, two_rows.base_values)
    np.testing.assert_array_equal(grouped.values, [[np.nan, 1, 2], [np.nan, 5, 6]])
    for name in ("predictions", "probabilities", "runner_up", "neighbors"):
        np.testing.assert_array_equal(getattr(grouped, name), getattr(two_rows, name))


def test_a_group_for_each_feature_is_the_same(two_rows):
    one = group_features(two_rows, ["size", "texture", "depth", "size"])
    two = group_features(two_rows, {"size": ["area", "width"]})
    assert one.feature_names.tolist() == two.feature_names.tolist()
    np.testing.assert_array_equal(one.supports, two.supports)


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        (["a", "b"], "mapping must name a group for each of the 4 features; got 2 names"),
        ({"a": ["red"]}, "mapping must name features of the explanation, each once; got 'red' in 'a'"),
        ({"a": ["area"], "b": ["area"]}, "each once; got 'area' in 'b'"),
        ({"a": "area"}, "mapping must have a list of features for 'a'; got 'area'"),
        ({"area": ["depth"]}, "mapping has a group 'area', which is the name of a feature outside it"),
    ],
)
def test_invalid_mappings_raise(two_rows, mapping, message):
    with pytest.raises(ValueError, match=message):
        group_features(two_rows, mapping)


def test_one_hot_columns_are_one_feature():
    """The label depends on color and size: with the columns grouped, these two are most relevant."""
    rng = np.random.default_rng(0)
    color, shape = rng.integers(0, 4, 600), rng.integers(0, 4, 600)
    size, noise = rng.normal(size=(2, 600))
    y = (color % 2 == 0) ^ (size > 0)
    X = np.column_stack([size, noise, np.eye(4)[color], np.eye(4)[shape]])
    explanation = LANNClassifier(random_state=0).fit(X[:400], y[:400]).explain(X[400:])
    grouped = group_features(explanation, ["size", "noise", *["color"] * 4, *["shape"] * 4])
    means = summarize(grouped).set_index("feature")["mean"]
    assert means["color"] > 0.3
    assert means["size"] > 0.3
    assert means[["noise", "shape"]].max() < 0.05


@pytest.fixture
def noise():
    return np.random.default_rng(0).normal(size=(200, 6))


def test_either_correlation_either_sign_and_over_others(noise):
    X = noise.copy()
    X[:, 1] = -2.0 * X[:, 0]  # Pearson
    X[:, 3] = X[:, 2] ** 9  # Spearman
    X[:, 4] = X[:, 3] + 1e-3 * X[:, 4]
    assert correlated_features(X) == ((0, 1), (2, 3, 4))
    assert correlated_groups(X, threshold=1.0)["x0 + x1"] == ["x0", "x1"]


def test_equals_the_correlations_of_pandas(noise, monkeypatch):
    monkeypatch.setattr(_feature_groups, "BLOCK", 4)
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


def test_invalid_arguments_raise(noise):
    with pytest.raises(ValueError, match="threshold must be a number above 0 and at most 1; got 2"):
        correlated_groups(noise, threshold=2)
    with pytest.raises(ValueError, match="feature_names must name the 6 features of X; got 1 names"):
        correlated_groups(noise, feature_names=["a"])


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

    np.testing.assert_allclose(_feature_groups._cramers_v(one, two), cramers_v(one, two))
    seen = ~np.isnan(number)
    found = _feature_groups._correlation_ratio(one[seen], number[seen])
    np.testing.assert_allclose(found, ratio(one, number))


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
    assert correlated_groups(frame) == {"size + day": ["size", "day"], "color + is_red": ["color", "is_red"]}
    with pytest.raises(ValueError, match=r"5 sample.* a minimum of 20 is required"):
        correlated_groups(frame[:5])
