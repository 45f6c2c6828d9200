import numpy as np
import pytest

from lann.training._initial import (
    MOST_SQUARE,
    N_BY_CHANCE,
    N_WIDE_AXES,
    chance_shrinkage,
    discriminant_axes,
    n_axes_of,
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


def test_weights_are_repeated_rows():
    X, labels = classes_along(np.array([0.6, -0.8, 0.0, 0.0, 0.0]), n_rows=60)
    counts = np.random.default_rng(0).integers(1, 5, 60)
    weighted = discriminant_axes(X, labels, 3, 0.1 * counts)
    repeated = discriminant_axes(np.repeat(X, counts, axis=0), np.repeat(labels, counts), 3)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-9)
    assert not np.allclose(weighted, discriminant_axes(X, labels, 3))


def planted(n_rows=60, n_features=300, n_informative=10, seed=0):
    """Return rows of three classes that differ in the first features."""
    rng = np.random.default_rng(seed)
    X, labels = rng.normal(size=(n_rows, n_features)), np.arange(n_rows) % 3
    X[:, :n_informative] += 2.0 * rng.normal(size=(3, n_informative))[labels]
    return X, labels


def test_many_coordinates_have_few_axes_where_a_map_is_learned():
    assert n_axes_of("diagonal", None, MOST_SQUARE, linear_map=True) == MOST_SQUARE
    assert n_axes_of("diagonal", None, MOST_SQUARE + 1, linear_map=True) == N_WIDE_AXES
    assert n_axes_of("diagonal", 7, MOST_SQUARE + 1, linear_map=True) == 7
    assert n_axes_of("diagonal", 10_000, 300, linear_map=True) == 300
    assert n_axes_of("diagonal", None, 300) == 300
    assert n_axes_of("full", None, 300, linear_map=True) == 300


def test_shares_equal_those_of_an_analysis_of_variance_of_each_coordinate():
    from scipy.stats import f, f_oneway

    X, labels = planted()
    X[:, 20] = 3.0  # constant
    X[:, 21] = labels  # no variance within classes
    shares = chance_shrinkage(X, labels)
    limit = f.isf(N_BY_CHANCE / 300, 2, 57)
    others = np.delete(np.arange(300), [20, 21])
    ratios = np.array([f_oneway(*(X[labels == label, c] for label in range(3)))[0] for c in others])
    np.testing.assert_allclose(shares[others], np.maximum(1.0 - limit / ratios, 0.0), atol=1e-9)
    assert shares[20] == 0.0
    assert shares[21] == pytest.approx(1.0)
    assert shares[:10].mean() > 0.5
    assert (shares[22:] > 0).sum() < 4 * N_BY_CHANCE
