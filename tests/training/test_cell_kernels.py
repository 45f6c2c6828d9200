import numpy as np
import pytest

from lann.encoding import FeatureCurves
from lann.training._cell_kernels import add_by_cell, cell_values, compact_batch


@pytest.fixture
def curves():
    rng = np.random.default_rng(0)
    straight = FeatureCurves.straight(rng.normal(size=(50, 3)), 4)
    return straight.with_slopes(np.exp(rng.normal(size=(3, 4))))


def located(curves, X):
    bins, offsets = curves.locate(X)
    return (np.arange(3) * curves.n_bins + bins).astype(np.uint32), offsets


def test_a_compact_batch_has_the_same_points():
    rows = np.array([7, 2, 7])
    candidates = np.array([[2, 5, -1], [7, 3, 9], [4, 5, 2]])
    kept = np.array([[True, True, True], [True, False, True], [True, True, False]])
    position = np.full(10, -1)
    used, new_rows, new_candidates = compact_batch(rows, candidates, kept, position)
    np.testing.assert_array_equal(used, [7, 2, 5, 9, 4])
    np.testing.assert_array_equal(used[new_rows], rows)
    valid = kept & (candidates >= 0)
    np.testing.assert_array_equal(new_candidates >= 0, valid)
    np.testing.assert_array_equal(used[new_candidates[valid]], candidates[valid])
    assert np.all(position == -1)


def test_values_on_the_curves_are_those_of_the_transform(curves):
    X, used = np.random.default_rng(1).normal(size=(20, 3)), np.array([3, 17, 3, 0])
    values = cell_values(*located(curves, X), used, curves.starts.ravel(), curves.slopes.ravel())
    np.testing.assert_allclose(values, curves.transform(X[used]), rtol=1e-14)


def test_sums_by_cell_give_the_gradient_for_the_slopes(reference, curves):
    rng = np.random.default_rng(1)
    X, used = rng.normal(size=(20, 3)), np.array([3, 17, 5, 0, 9, 11, 12])
    gradient = rng.normal(size=(7, 3))
    sums, moments = np.zeros(12), np.zeros(12)
    add_by_cell(*located(curves, X), used, gradient, sums, moments)
    expected = reference.slopes(
        lambda slopes: np.sum(gradient * curves.with_slopes(slopes).transform(X[used])), curves.slopes
    )
    np.testing.assert_allclose(
        curves.slope_gradient(sums.reshape(3, 4), moments.reshape(3, 4)), expected, rtol=1e-6, atol=1e-7
    )
