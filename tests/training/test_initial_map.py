import numpy as np
import pytest

from lann.training._initial_map import (
    default_n_components,
    discriminant_axes,
    n_axes_of,
    with_initial_map,
)


def classes_along(direction, n_rows=300, n_features=5):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    labels = rng.integers(0, 2, n_rows)
    return X + 4.0 * labels[:, None] * direction, labels


def test_the_first_axis_is_the_direction_in_which_classes_differ():
    direction = np.array([0.6, -0.8, 0.0, 0.0, 0.0])
    axes = discriminant_axes(*classes_along(direction), 2)
    assert axes.shape == (2, 5)
    cosine = axes[0] @ direction / np.linalg.norm(axes[0])
    assert abs(cosine) > 0.95


def test_the_next_axes_are_directions_in_which_rows_differ():
    X, labels = classes_along(np.array([1.0, 0.0, 0.0, 0.0, 0.0]))
    X[:, 3] *= 5.0
    axes = discriminant_axes(X, labels, 2)
    assert np.abs(axes[1]).argmax() == 3


@pytest.mark.parametrize("n_axes", [1, 3, 5])
def test_axes_of_degenerate_data_are_finite(n_axes):
    X = np.zeros((20, 5))
    X[:, 1] = np.arange(20) % 2
    X[:, 2] = X[:, 1]  # a copy
    axes = discriminant_axes(X, np.arange(20) % 2, n_axes)
    assert axes.shape == (n_axes, 5)
    assert np.all(np.isfinite(axes))
    assert np.square(axes).sum() == pytest.approx(n_axes)
    assert np.all(np.isfinite(discriminant_axes(np.zeros((4, 5)), np.array([0, 0, 1, 1]), n_axes)))


@pytest.mark.parametrize(("n_features", "expected"), [(1, 1), (16, 16), (20, 16), (64, 16), (256, 32)])
def test_the_default_number_of_components(n_features, expected):
    assert default_n_components(n_features) == expected
    assert n_axes_of("low_rank", None, n_features) == expected


def test_the_number_of_axes_of_each_form():
    assert n_axes_of("diagonal", 3, 20) == 20
    assert n_axes_of("full", 3, 20) == 20
    assert n_axes_of("low_rank", 3, 20) == 3
    assert n_axes_of("low_rank", 30, 20) == 20


def test_levels_get_a_map_only_if_they_have_none_and_need_one(plain):
    mapped = with_initial_map(plain, 2)
    np.testing.assert_array_equal(mapped.components, discriminant_axes(plain.X, plain.labels, 2))
    assert mapped.class_log_weights.shape == (3, 2)
    assert mapped.point_log_weights.shape == (90, 2)
    assert with_initial_map(mapped, 2) is mapped
    assert with_initial_map(plain, 4) is plain


def test_weights_are_repeated_rows():
    X, labels = classes_along(np.array([0.6, -0.8, 0.0, 0.0, 0.0]), n_rows=60)
    counts = np.random.default_rng(0).integers(1, 5, 60)
    weighted = discriminant_axes(X, labels, 3, 0.1 * counts)
    repeated = discriminant_axes(np.repeat(X, counts, axis=0), np.repeat(labels, counts), 3)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-9)
    assert not np.allclose(weighted, discriminant_axes(X, labels, 3))
