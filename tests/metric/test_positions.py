import numpy as np
import pytest

from lann.metric import CategoryPositions, initial_positions
from lann.metric._positions import MOST_AXES


def squared_distances(positions):
    return np.square(positions[:, None] - positions).sum(axis=2)


@pytest.mark.parametrize("n", [2, 3, 7, MOST_AXES])
def test_categories_are_equally_far_apart_at_the_start(n):
    shares = np.random.default_rng(0).dirichlet(np.ones(n))
    positions = initial_positions(shares)
    assert positions.shape == (n, 1 if n == 2 else n)
    squares = squared_distances(positions)[~np.eye(n, dtype=bool)]
    np.testing.assert_allclose(squares, squares[0], rtol=1e-12)
    np.testing.assert_allclose(shares @ positions, 0.0, atol=1e-12)
    assert (shares @ np.square(positions)).mean() == pytest.approx(1.0)


def test_a_gap_is_a_category_of_its_own_where_there_are_gaps():
    values = np.array([0.0, 1.0, np.nan, 0.0])
    positions = CategoryPositions.from_values(values, 2)
    assert positions.has_gaps
    assert positions.positions.shape == (3, 3)
    np.testing.assert_allclose(positions.shares, [0.5, 0.25, 0.25])
    np.testing.assert_array_equal(positions.locate(values), [0, 1, 2, 0])
    assert not CategoryPositions.from_values(values[:2], 2).has_gaps


def test_an_unseen_category_is_at_the_mean_of_the_rows():
    values = np.array([0.0, 1.0, 1.0, 2.0])
    positions = CategoryPositions.from_values(values, 3)
    moved = positions.with_positions(np.random.default_rng(0).normal(size=(3, 3)))
    expected = moved.transform(values).mean(axis=0)
    np.testing.assert_allclose(moved.transform(np.array([-1.0, np.nan])), [expected, expected])
    np.testing.assert_allclose(moved.variances, moved.transform(values).var(axis=0))


def test_new_categories_are_inserted_before_the_gap():
    positions = CategoryPositions.from_values(np.array([0.0, 1.0, np.nan, 0.0]), 2)
    more = positions.extended(4)
    assert more.n_categories == 4
    np.testing.assert_array_equal(more.positions[[0, 1, 4]], positions.positions)
    np.testing.assert_allclose(more.positions[2:4], [positions.mean, positions.mean])
    np.testing.assert_allclose(more.mean, positions.mean)
    assert positions.extended(2) is positions
