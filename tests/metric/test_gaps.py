import numpy as np
import pytest
from hypothesis import strategies as st

from lann.metric import NumberGaps

NAN = np.nan


@pytest.fixture(scope="module")
def values():
    """Correlated numbers, a fifth of them missing."""
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(300, 2))
    values = latent @ rng.normal(size=(2, 5)) * [1, 10, 0.1, 1, 5] + [0, 100, 3, -4, 7]
    values += 0.1 * rng.normal(size=values.shape) * [1, 10, 0.1, 1, 5]
    values[rng.random(values.shape) < 0.2] = NAN
    return values


@pytest.fixture(scope="module")
def gaps(values):
    return NumberGaps.from_values(values)


def test_expected_values_are_the_conditional_means(values, gaps):
    covariance = np.linalg.inv(gaps.precision)
    filled = gaps.filled(values)
    for row in range(30):
        missing = np.isnan(values[row])
        known = ~missing
        np.testing.assert_array_equal(filled[row, known], values[row, known])
        if missing.all() or known.all():
            continue
        standardized = ((values[row] - gaps.centers) / gaps.scales)[known]
        weights = covariance[np.ix_(missing, known)] @ np.linalg.inv(covariance[np.ix_(known, known)])
        expected = gaps.centers[missing] + weights @ standardized * gaps.scales[missing]
        np.testing.assert_allclose(filled[row, missing], expected, rtol=1e-8)


row = st.lists(st.one_of(st.floats(-1e3, 1e3), st.just(NAN)), min_size=5, max_size=5)


def test_other_units_give_the_same_expectations(values, gaps):
    center, scale = np.array([1.0, 2, 3, 4, 5]), np.array([2.0, 0.1, 3, 1, 7])
    moved = gaps.rescaled(center, scale).filled(values * scale + center)
    np.testing.assert_allclose(moved, gaps.filled(values) * scale + center)


def test_weights_are_repeated_rows(values):
    weights = np.random.default_rng(0).integers(1, 5, 300).astype(float)
    weighted = NumberGaps.from_values(values, weights)
    repeated = NumberGaps.from_values(np.repeat(values, weights.astype(int), axis=0))
    np.testing.assert_allclose(weighted.precision, repeated.precision, rtol=1e-8)
    np.testing.assert_allclose(weighted.shares, repeated.shares)
