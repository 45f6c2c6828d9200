import numpy as np
import pytest

from lann.metrics import Levels
from lann.training import Settings
from lann.training._thresholds import find_thresholds, strongest_thresholds
from tests.versions import WITH_EARLIER_VERSIONS


@pytest.fixture
def corners():
    """Two classes: whether the first feature exceeds 0.3 and the second one does not exceed -0.2."""
    X = np.random.default_rng(0).normal(size=(600, 4))
    X[:, 3] = X[:, 3].round()
    return X, ((X[:, 0] > 0.3) & (X[:, 1] <= -0.2)).astype(np.int64)


def find(X, labels, seed=0, rows=None, row_weights=None, **changes):
    levels = Levels.plain(X, labels, labels.max() + 1, row_weights=row_weights)
    rows = np.arange(len(X)) if rows is None else rows
    return find_thresholds(levels, rows, Settings(**changes), np.random.default_rng(seed))


def test_thresholds_that_determine_the_class_are_found(corners):
    thresholds = find(*corners)
    assert thresholds.shape == (4, 4)
    assert np.abs(thresholds[0] - 0.3).min() < 0.02
    assert np.abs(thresholds[1] + 0.2).min() < 0.02
    # Chance finds some in others, more with the random numbers of earlier versions.
    assert np.isinf(thresholds[2:]).mean() > (0.4 if WITH_EARLIER_VERSIONS else 0.6)
    ascending = np.where(np.isfinite(thresholds), thresholds, 1e9)
    assert np.all(np.diff(ascending, axis=1) >= 0)
    assert find(*corners, n_steps=1).shape == (4, 1)


def test_thresholds_are_the_same_for_any_number_of_threads(corners):
    np.testing.assert_array_equal(find(*corners, n_jobs=1), find(*corners, n_jobs=2))


def test_a_feature_with_few_values_has_no_thresholds(corners):
    X, labels = corners
    labels = (X[:, 3] > 0).astype(np.int64)
    assert np.isinf(find(X, labels)[3]).all()
    assert find(X[:, 3:], labels).shape == (1, 0)


def test_a_feature_that_is_constant_in_the_sample_has_no_thresholds():
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=(20_000, 2)), np.zeros(20_000)]
    X[:40, 2] = np.arange(1, 41)
    labels = (X[:, 0] > 0).astype(np.int64)
    for seed in range(5):
        thresholds = find(X, labels, seed=seed)
        assert np.isinf(thresholds[2]).all()
        assert np.abs(thresholds[0]).min() < 0.02


def test_thresholds_do_not_depend_on_the_order_of_the_rows():
    rng = np.random.default_rng(0)
    feature = np.maximum(rng.normal(size=4000), 0)
    X = np.c_[feature, rng.normal(size=(4000, 2))]
    order = np.argsort(feature)
    thresholds = find(X[order], (feature[order] > 0.7).astype(np.int64))
    assert np.abs(thresholds[0] - 0.7).min() < 0.02


def test_few_rows_per_class_have_no_thresholds(corners):
    X, labels = corners
    assert find(X[:190], labels[:190]).shape == (4, 0)
    assert find(X, np.arange(600) % 7).shape == (4, 0)
    assert find(X, labels, n_steps=0).shape == (4, 0)


def test_weights_of_classes_change_the_thresholds(corners):
    X, labels = corners
    weighted = find(X, labels, class_weight=np.array([1.0, 50.0]))
    assert not np.array_equal(weighted, find(X, labels))
    assert np.abs(weighted[0] - 0.3).min() < 0.02


def test_weights_of_rows_change_the_thresholds(corners):
    X, labels = corners
    other = (X[:, 2] > 0.5).astype(np.int64)
    both = np.where(np.arange(600) < 300, labels, other)
    light = np.where(np.arange(600) < 300, 1e-3, 1.0)
    thresholds = find(X, both, row_weights=light)
    assert np.abs(thresholds[2] - 0.5).min() < 0.02
    assert np.isinf(thresholds[:2]).sum() > np.isinf(find(X, both)[:2]).sum()


def test_only_the_given_rows_are_seen(corners):
    X, labels = corners
    rows = np.arange(0, 600, 2)
    changed = labels.copy()
    changed[1::2] = 0
    np.testing.assert_array_equal(find(X, labels, rows=rows), find(X, changed, rows=rows))


def test_splits_in_the_same_place_count_together():
    values = np.arange(1000.0)
    # Three splits near 200, of which the second is the strongest; one at 700; one too weak.
    thresholds = np.array([198.5, 200.5, 203.5, 700.5, 900.5])
    gains = np.array([0.001, 0.002, 0.0015, 0.1, 0.003])
    np.testing.assert_array_equal(strongest_thresholds(values, thresholds, gains, 4), [200.5, 700.5])
    np.testing.assert_array_equal(strongest_thresholds(values, thresholds, gains, 1), [700.5])
    assert strongest_thresholds(values, thresholds[:0], gains[:0], 4).shape == (0,)


def test_a_threshold_is_halfway_between_two_values():
    values = np.array([0.0, 0.0, 1.0, 5.0, 5.0])
    found = strongest_thresholds(values, np.array([1.2]), np.array([1.0]), 4)
    np.testing.assert_array_equal(found, [3.0])
