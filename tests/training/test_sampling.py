import numpy as np
import pytest

from lann.training._sampling import QueryStream, draw_axis_mask, draw_validation_rows, stratified_sample


def test_every_row_comes_once_before_any_row_again():
    rows = np.array([3, 5, 8, 9])
    stream = QueryStream(rows, np.random.default_rng(0))
    taken = np.concatenate([stream.take(n) for n in (1, 3, 4, 6, 2)])
    for start in range(0, 16, 4):
        np.testing.assert_array_equal(np.sort(taken[start : start + 4]), rows)
    assert len({tuple(taken[start : start + 4]) for start in range(0, 16, 4)}) > 1


@pytest.mark.parametrize(
    ("n_rows", "fraction", "expected"),
    [(100, 0.1, 10), (5, 0.01, 1), (2, 0.9, 1), (10, 0.99, 9), (9, None, 0)],
)
def test_validation_rows_are_a_fraction_but_neither_none_nor_all(n_rows, fraction, expected):
    rows = draw_validation_rows(n_rows, fraction, np.random.default_rng(0))
    assert len(rows) == expected
    assert np.all(np.diff(rows) > 0)
    assert set(rows) <= set(range(n_rows))


def test_a_sample_of_few_rows_is_all_rows():
    np.testing.assert_array_equal(
        stratified_sample(np.zeros(30, np.int64), 30, np.random.default_rng(0)), np.arange(30)
    )


def test_a_sample_has_every_class_in_proportion_and_small_classes_whole():
    labels = np.repeat([0, 1, 2], [8000, 1960, 40])
    rows = stratified_sample(labels, 1000, np.random.default_rng(0))
    assert len(set(rows)) == len(rows)
    assert np.all(np.diff(rows) > 0)
    np.testing.assert_array_equal(np.bincount(labels[rows]), [800, 196, 40])


def test_axes_are_dropped_with_the_given_probability():
    mask = draw_axis_mask(10_000, 0.25, np.random.default_rng(0))
    assert set(mask) == {0.0, 1.0}
    assert np.mean(mask == 0.0) == pytest.approx(0.25, abs=0.02)
