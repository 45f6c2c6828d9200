import numpy as np
import pytest

from lann.metric import Levels
from lann.training import Settings
from lann.training._initial import find_thresholds
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


def test_only_the_given_rows_are_seen(corners):
    X, labels = corners
    rows = np.arange(0, 600, 2)
    changed = labels.copy()
    changed[1::2] = 0
    np.testing.assert_array_equal(find(X, labels, rows=rows), find(X, changed, rows=rows))
