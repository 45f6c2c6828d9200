import numpy as np
import pytest

from lann.encoding import FeatureCurves
from lann.metrics import Levels
from lann.training._standardization import Standardization


def test_applying_and_undoing_changes_nothing(blobs):
    X, y = blobs
    X = X * [1e-3, 1.0, 1e3, 7.0] + [5.0, 0.0, -1e4, 3.0]
    thresholds = np.array([[0.005], [0.5], [np.inf], [np.inf]])
    curves = FeatureCurves.straight(X, 6).with_thresholds(thresholds)
    curves = curves.with_slopes(curves.slopes, np.array([[0.1], [2.0], [0.0], [0.0]]))
    levels = Levels.plain(X, y, 3).with_curves(curves)
    standardization = Standardization(X)
    inside = standardization.apply(levels, 16)
    np.testing.assert_allclose(inside.X.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(inside.X.std(axis=0), 1)
    back = standardization.undo(inside)
    assert back.X is X
    np.testing.assert_allclose(back.curves.slopes, levels.curves.slopes)
    np.testing.assert_allclose(back.curves.edges, levels.curves.edges)
    np.testing.assert_allclose(back.curves.thresholds, thresholds)
    np.testing.assert_array_equal(back.curves.jumps, levels.curves.jumps)
    np.testing.assert_allclose(back.points, inside.points - inside.points[0] + back.points[0], atol=1e-9)


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1 / 3, 1e-9, 123456.789])
def test_the_scale_of_a_constant_feature_is_its_size(value):
    standardization = Standardization(np.column_stack([np.full(150, value), np.arange(150.0)]))
    np.testing.assert_array_equal(standardization.constant, [True, False])
    assert standardization.scale[0] == pytest.approx(max(abs(value), 1.0))  # not the rounding of its mean


def test_a_constant_feature_has_no_weight():
    X = np.column_stack([np.full(20, 7.0), np.arange(20.0)])
    standardization = Standardization(X)
    learned = standardization.undo(standardization.apply(Levels.plain(X, np.arange(20) % 2, 2), 4))
    assert np.all(learned.curves.slopes[0] == 0)
    assert np.all(learned.curves.slopes[1] > 0)
    again = standardization.apply(learned, 4)
    assert np.all(again.curves.slopes > 0)  # a logarithm is taken of them


def test_weights_are_repeated_rows(blobs):
    X, _ = blobs
    X = np.column_stack([X * [1e-3, 1.0, 1e3, 7.0] + 5.0, np.full(90, 0.1)])
    counts = np.random.default_rng(0).integers(1, 5, 90)
    weighted = Standardization(X, 0.1 * counts)
    repeated = Standardization(np.repeat(X, counts, axis=0))
    np.testing.assert_allclose(weighted.center, repeated.center, rtol=1e-12)
    np.testing.assert_allclose(weighted.scale, repeated.scale, rtol=1e-12)
    np.testing.assert_array_equal(weighted.constant, [False] * 4 + [True])
