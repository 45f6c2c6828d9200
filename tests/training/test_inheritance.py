import numpy as np
import pytest

from lann.metric import Levels
from lann.model import RowMemory
from lann.training._extend import inherit as inherit_points
from lann.training._extend import mean_matrices


def inherit(levels, X, labels):
    return inherit_points(RowMemory(levels), levels.transform(X), labels)


@pytest.mark.parametrize("n_rows", [90, 7])
def test_a_row_that_is_already_there_inherits_its_own_metric(learned, n_rows):
    rng = np.random.default_rng(1)
    matrices = np.eye(4) + 0.1 * rng.normal(size=(90, 4, 4))
    levels = learned.replace(point_log_weights=rng.normal(size=learned.X.shape), point_matrices=matrices)
    rows = rng.permutation(90)[:n_rows]
    inherited = inherit(levels, levels.X[rows], levels.labels[rows])
    np.testing.assert_allclose(inherited.log_weights, levels.point_log_weights[rows], atol=1e-6)
    np.testing.assert_allclose(inherited.matrices, matrices[rows], atol=1e-6)


def test_a_new_row_inherits_from_its_own_class(learned):
    signs = np.where(learned.labels == 1, 1.0, -1.0)
    levels = learned.replace(point_log_weights=signs[:, None] * np.ones(learned.X.shape))
    new = levels.X[:5] + 0.01
    for label, expected in ((1, 1.0), (0, -1.0)):
        inherited = inherit(levels, new, np.full(5, label))
        np.testing.assert_allclose(inherited.log_weights, expected)
        assert inherited.matrices is None


def test_the_first_rows_of_a_class_inherit_nothing(blobs):
    X, y = blobs
    levels = Levels.plain(X[:60], y[:60], 3).replace(
        point_log_weights=np.ones((60, 4)), point_matrices=np.full((60, 4, 4), 2.0)
    )
    inherited = inherit(levels, X[60:], y[60:])
    np.testing.assert_array_equal(inherited.log_weights, np.zeros((30, 4)))
    np.testing.assert_array_equal(inherited.matrices, np.tile(np.eye(4), (30, 1, 1)))


def test_means_of_matrices():
    matrices = np.random.default_rng(0).normal(size=(4, 2, 2))
    near, shares = np.array([[2, 0], [1, 3], [0, 0]]), np.array([[1.0, 0.0], [0.25, 0.75], [0.0, 0.0]])
    found = mean_matrices(matrices, near, shares)
    np.testing.assert_array_equal(found[0], matrices[2])
    np.testing.assert_allclose(found[1], 0.25 * matrices[1] + 0.75 * matrices[3])
    np.testing.assert_array_equal(found[2], np.eye(2))
