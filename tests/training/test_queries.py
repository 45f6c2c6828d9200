import numpy as np
import pytest

from lann.training.queries import QueryStream, hold_out, stratified_sample


def test_every_row_comes_once_before_any_comes_again():
    rows = np.array([3, 5, 8, 9])
    stream = QueryStream(rows, np.random.default_rng(0))
    taken = np.concatenate([stream.take(n) for n in (1, 3, 4, 6, 2)])
    for start in range(0, 16, 4):
        np.testing.assert_array_equal(np.sort(taken[start : start + 4]), rows)
    assert len({tuple(taken[start : start + 4]) for start in range(0, 16, 4)}) > 1


@pytest.mark.parametrize(
    ("n_points", "fraction", "expected"), [(100, 0.1, 10), (5, 0.01, 1), (2, 0.9, 1), (10, 0.99, 9)]
)
def test_held_out_rows_and_the_others_are_all_rows(n_points, fraction, expected):
    asked, held = hold_out(n_points, fraction, np.random.default_rng(0))
    assert len(held) == expected
    np.testing.assert_array_equal(np.sort(np.concatenate([asked, held])), np.arange(n_points))


def test_few_rows_are_all_taken():
    np.testing.assert_array_equal(
        stratified_sample(np.zeros(30, np.int64), 30, np.random.default_rng(0)), np.arange(30)
    )


def test_a_sample_holds_every_class_in_proportion_and_small_ones_whole():
    labels = np.repeat([0, 1, 2], [8000, 1960, 40])
    rows = stratified_sample(labels, 1000, np.random.default_rng(0))
    assert len(set(rows)) == len(rows)
    assert np.all(np.diff(rows) > 0)
    np.testing.assert_array_equal(np.bincount(labels[rows]), [800, 196, 40])
