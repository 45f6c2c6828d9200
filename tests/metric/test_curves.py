import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lann.metric._curves import FeatureCurves


def random_curves(rng, n_rows=60, n_features=3, n_bins=6):
    """Curves with random slopes over data of which one feature has few values and one has one."""
    X = rng.normal(size=(n_rows, n_features))
    X[:, 1] = rng.integers(0, 3, n_rows)
    X[:, -1] = 4.0
    curves = FeatureCurves.straight(X, n_bins)
    return X, FeatureCurves(curves.edges, np.exp(rng.normal(size=curves.slopes.shape)))


def random_steps(rng, curves, n_steps=3):
    """The same curves with jumps: none in the last feature, one fewer in the second."""
    thresholds = np.sort(rng.normal(size=(curves.n_features, n_steps)), axis=1)
    thresholds[1, -1:], thresholds[-1] = np.inf, np.inf
    jumps = np.where(np.isfinite(thresholds), rng.random(thresholds.shape), 0.0)
    return curves.with_thresholds(thresholds).with_slopes(curves.slopes, jumps)


def jumps_one_by_one(curves, X):
    """The jumps that each value is to the right of, added up in loops."""
    total = np.zeros(X.shape)
    for row in range(X.shape[0]):
        for feature in range(X.shape[1]):
            for threshold, jump in zip(curves.thresholds[feature], curves.jumps[feature], strict=True):
                if threshold <= X[row, feature]:
                    total[row, feature] += jump
    return total


@pytest.mark.parametrize("n_bins", [1, 2, 3, 16])
def test_straight_curves_keep_differences(n_bins):
    X = np.random.default_rng(1).normal(size=(50, 3)) * 10 + 100
    curved = FeatureCurves.straight(X, n_bins).transform(X)
    np.testing.assert_allclose(curved - curved[0], X - X[0], atol=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 12))
def test_curves_are_increasing_and_continuous(seed, n_bins):
    rng = np.random.default_rng(seed)
    _, curves = random_curves(rng, n_bins=n_bins)
    values = np.sort(np.concatenate([rng.normal(size=50) * 3, curves.edges[np.isfinite(curves.edges)]]))
    X = np.repeat(values[:, None], 3, axis=1)
    rise = np.diff(curves.transform(X), axis=0)
    assert np.all(rise[np.diff(values) > 1e-12] > 0)
    steepest = curves.slopes.max()
    assert np.all(rise <= steepest * np.diff(values)[:, None] + 1e-12)


@given(st.integers(0, 10**6), st.integers(0, 4))
def test_a_curve_with_jumps_is_the_curve_plus_the_jumps(seed, n_steps):
    rng = np.random.default_rng(seed)
    X, smooth = random_curves(rng)
    curves = random_steps(rng, smooth, n_steps)
    X[:n_steps] = curves.thresholds.T  # a value on a threshold is to the right of it
    X[np.isinf(X)] = 0.0
    np.testing.assert_allclose(
        curves.transform(X), smooth.transform(X) + jumps_one_by_one(curves, X), atol=1e-12
    )
    np.testing.assert_array_equal(curves.slopes_at(X), smooth.slopes_at(X))
    assert np.all(np.diff(curves.transform(np.sort(X, axis=0)), axis=0) >= 0)


def test_the_mean_slope_of_a_bin_has_the_jumps_in_it():
    edges = np.array([[0.0, 1.0, 3.0], [0.0, 1.0, np.inf]])
    thresholds = np.array([[-5.0, 2.5, 9.0], [0.5, np.inf, np.inf]])
    jumps = np.array([[1.0, 4.0, 6.0], [0.25, 0.0, 0.0]])
    curves = FeatureCurves(edges, np.ones((2, 4)), thresholds, jumps)
    np.testing.assert_allclose(curves.mean_slopes, [[2.0, 1.0, 3.0, 4.0], [1.0, 1.25, 1.0, 1.0]])
    inner = np.array([[1.0, 0.0], [3.0 - 1e-12, 1.0 - 1e-12]])
    rise = np.diff(curves.transform(inner), axis=0)[0] / np.diff(inner, axis=0)[0]
    np.testing.assert_allclose(curves.mean_slopes_at(inner)[0], rise)
    np.testing.assert_array_equal(curves.with_slopes(curves.slopes, 0 * jumps).mean_slopes, np.ones((2, 4)))


@pytest.mark.parametrize("n_steps", [0, 3])
@given(seed=st.integers(0, 10**6))
def test_curves_in_other_units_are_the_same_curves(seed, n_steps):
    rng = np.random.default_rng(seed)
    X, curves = random_curves(rng)
    curves = random_steps(rng, curves, n_steps)
    center, scale = rng.normal(size=3) * 5, np.exp(rng.normal(size=3))
    other = curves.rescaled(center, scale)
    moved, curved = other.transform(X * scale + center), curves.transform(X)
    # Up to a constant per feature: only differences count.
    np.testing.assert_allclose(moved - moved[0], curved - curved[0], atol=1e-9)


@given(st.integers(0, 10**6), st.integers(1, 8))
def test_slope_gradient_equals_finite_differences(reference, seed, n_bins):
    rng = np.random.default_rng(seed)
    X, curves = random_curves(rng, n_bins=n_bins)
    pull = rng.normal(size=X.shape)
    pull -= pull.mean(axis=0)  # as for any function of differences
    bins, offsets = curves.locate(X)
    sums, moments = np.zeros(curves.slopes.shape), np.zeros(curves.slopes.shape)
    features = np.broadcast_to(np.arange(3), X.shape)
    np.add.at(sums, (features, bins), pull)
    np.add.at(moments, (features, bins), pull * offsets)
    expected = reference.slopes(
        lambda slopes: np.sum(pull * FeatureCurves(curves.edges, slopes).transform(X)), curves.slopes
    )
    np.testing.assert_allclose(curves.slope_gradient(sums, moments), expected, atol=1e-6)


@pytest.mark.parametrize("n_bins", [1, 2, 16])
@pytest.mark.parametrize("n_steps", [0, 3])
def test_few_rows_have_the_same_values_as_in_many(n_bins, n_steps):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(300, 4)), rng.integers(-2, 3, size=(300, 4))])
    X[:, 3] = np.round(X[:, 3])  # few values: fewer bins
    curves = FeatureCurves.straight(X, n_bins)
    thresholds = np.sort(X[rng.integers(len(X), size=n_steps)].T, axis=1)
    if n_steps:
        thresholds[1, 1:] = np.inf
    jumps = np.where(np.isfinite(thresholds), rng.exponential(size=thresholds.shape), 0.0)
    curves = FeatureCurves(curves.edges, rng.exponential(size=curves.slopes.shape), thresholds, jumps)
    together = curves.transform(X)
    for start in range(0, len(X), 7):
        np.testing.assert_array_equal(curves.transform(X[start : start + 7]), together[start : start + 7])
