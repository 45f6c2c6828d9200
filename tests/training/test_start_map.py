import numpy as np
import pytest

from lann.training.start_map import start_map, usual_rank


def classes_along(direction, n_points=300, n_features=5):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_points, n_features))
    labels = rng.integers(0, 2, n_points)
    return X + 4.0 * labels[:, None] * direction, labels


def test_the_first_axis_is_where_classes_differ():
    direction = np.array([0.6, -0.8, 0.0, 0.0, 0.0])
    axes = start_map(*classes_along(direction), rank=2)
    assert axes.shape == (2, 5)
    cosine = axes[0] @ direction / np.linalg.norm(axes[0])
    assert abs(cosine) > 0.95


def test_the_next_axes_are_where_points_differ():
    X, labels = classes_along(np.array([1.0, 0.0, 0.0, 0.0, 0.0]))
    X[:, 3] *= 5.0
    axes = start_map(X, labels, rank=2)
    assert np.abs(axes[1]).argmax() == 3


@pytest.mark.parametrize("rank", [1, 3, 5])
def test_odd_data_have_a_finite_start(rank):
    X = np.zeros((20, 5))
    X[:, 1] = np.arange(20) % 2
    X[:, 2] = X[:, 1]  # a copy
    axes = start_map(X, np.arange(20) % 2, rank)
    assert axes.shape == (rank, 5)
    assert np.all(np.isfinite(axes))
    assert np.square(axes).sum() == pytest.approx(rank)
    assert np.all(np.isfinite(start_map(np.zeros((4, 5)), np.array([0, 0, 1, 1]), rank)))


@pytest.mark.parametrize(("n_features", "rank"), [(1, 1), (16, 16), (20, 16), (64, 16), (256, 32)])
def test_the_usual_rank(n_features, rank):
    assert usual_rank(n_features) == rank
