import numpy as np
import pytest

from lann.metrics import Levels, MatrixMetric
from lann.model import RowMemory
from lann.training import Settings
from lann.training import extend as extend_memory


def extend(levels, *args, **options):
    return extend_memory(RowMemory(levels), *args, **options).memory.levels


@pytest.mark.parametrize("point_metrics", [True, False])
def test_new_rows_are_added_and_change_the_metrics_of_their_neighbors(learned, point_metrics):
    settings = Settings(point_metrics=point_metrics)
    extended = extend(learned, learned.X[:3] + 0.05, learned.labels[:3], settings)
    assert extended.X.shape == (93, 4)
    assert extended.point_log_weights.shape == (93, 4)
    np.testing.assert_array_equal(extended.labels[90:], learned.labels[:3])
    assert extended.curves is learned.curves
    np.testing.assert_array_equal(extended.class_log_weights, learned.class_log_weights)
    n_changed = np.any(
        np.abs(extended.point_log_weights[:90] - learned.point_log_weights) > 1e-9, axis=1
    ).sum()
    assert (0 < n_changed <= 30) == point_metrics


def test_new_rows_get_matrices(blobs):
    X, y = blobs
    rng = np.random.default_rng(1)
    matrices = np.eye(4) + 0.1 * rng.normal(size=(80, 4, 4))
    order = rng.permutation(90)
    old, new = order[:80], order[80:]
    levels = Levels.plain(X[old], y[old], 3).replace(point_matrices=matrices)
    extended = extend(levels, X[new], y[new], Settings())
    assert extended.point_matrices.shape == (90, 4, 4)
    assert isinstance(extended.local_metric(), MatrixMetric)
    assert np.any(extended.point_matrices[:80] != matrices)
    unchanged = extend(levels, X[new], y[new], Settings(point_metrics=False))
    np.testing.assert_array_equal(unchanged.point_matrices[:80], matrices)


@pytest.mark.parametrize("old", [None, 2.0])
@pytest.mark.parametrize("new", [None, 3.0])
def test_new_rows_have_weights(learned, old, new):
    levels = learned.replace(row_weights=None if old is None else np.full(90, old))
    weights = None if new is None else np.full(3, new)
    extended = extend(levels, learned.X[:3] + 0.05, learned.labels[:3], Settings(), row_weights=weights)
    if old is None and new is None:
        assert extended.row_weights is None
    else:
        np.testing.assert_array_equal(extended.row_weights, np.repeat([old or 1.0, new or 1.0], [90, 3]))
