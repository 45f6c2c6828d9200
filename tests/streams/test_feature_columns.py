"""Rows that come as dictionaries: columns of features that come and go."""

import math
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from lann.streams._feature_columns import CATEGORY, FeatureColumns, NewColumn, with_columns

NAN = math.nan


def columns_of(*rows, max_categories=50):
    columns = FeatureColumns(max_categories)
    for row in rows:
        columns.learn(row)
    return columns


def test_columns_do_not_depend_on_the_order_of_the_features():
    columns = FeatureColumns(50)
    row, new = columns.learn({"b": 2, "a": 1.5, 3: True})
    assert row.tolist() == [1.0, 1.5, 2.0]
    assert new == [NewColumn(None)] * 3
    assert columns.names == ["3", "a", "b"]
    assert columns.row({"a": 1.5, 3: True, "b": 2}).tolist() == [1.0, 1.5, 2.0]


def test_a_new_feature_is_a_new_column():
    columns = columns_of({"b": 1.0, "c": 2.0})
    row, new = columns.learn({"a": 3.0, "b": 4.0, "c": 5.0})
    assert row.tolist() == [4.0, 5.0, 3.0]
    assert new == [NewColumn(None)]
    earlier = with_columns(np.array([[1.0, 2.0]]), new)
    np.testing.assert_array_equal(earlier, [[1.0, 2.0, NAN]])


@pytest.mark.parametrize("missing", [None, NAN, np.float32("nan"), Decimal("nan"), pd.NA, pd.NaT])
def test_missing_values(missing):
    columns = columns_of({"a": 1.0, "b": 2.0})
    np.testing.assert_array_equal(columns.row({"a": missing, "b": 2.0}), [NAN, 2.0])
    np.testing.assert_array_equal(columns.row({"b": 2.0}), [NAN, 2.0])
    # A feature has a column from its first value on.
    row, new = columns.learn({"a": 1.0, "b": 2.0, "c": missing})
    assert (row.tolist(), new) == ([1.0, 2.0], [])


def test_unknown_features_are_left_out_of_queries():
    columns = columns_of({"a": 1.0, "b": 2.0})
    assert columns.row({"a": 1.0, "b": 2.0, "c": 3.0, "d": "x"}).tolist() == [1.0, 2.0]
    np.testing.assert_array_equal(columns.row({"a": 1.0, "c": 3.0}), [1.0, NAN])
    np.testing.assert_array_equal(columns.row({}), [NAN, NAN])
    assert columns.n_columns == 2
    assert FeatureColumns(50).row({"a": 1.0}).shape == (0,)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (True, 1.0),
        (np.bool_(False), 0.0),
        (3, 3.0),
        (np.int8(-2), -2.0),
        (Decimal("0.5"), 0.5),
        (2**60, 2.0**60),
    ],
)
def test_numbers_of_all_types(value, number):
    columns = columns_of({"a": 0.0, "b": 0.0})
    assert columns.row({"a": value, "b": 1}).tolist() == [number, 1.0]


def test_a_category_is_a_column_and_different_ones_are_1_apart():
    columns = FeatureColumns(50)
    first, new = columns.learn({"color": "red", "size": 1.0})
    assert new == [NewColumn(None), NewColumn(None)]
    second, new = columns.learn({"color": "blue", "size": 1.0})
    assert new == [NewColumn(0)]
    assert columns.names == ["color=red", "size", "color=blue"]
    first = with_columns(first[None], new)[0]
    assert first.tolist() == [CATEGORY, 1.0, 0.0]
    assert second.tolist() == [0.0, 1.0, CATEGORY]
    assert np.square(first - second).sum() == pytest.approx(1.0)
    # A category that has not been learned differs from all others, and a missing one is missing.
    assert columns.row({"color": "green", "size": 1.0}).tolist() == [0.0, 1.0, 0.0]
    np.testing.assert_array_equal(columns.row({"size": 1.0}), [NAN, 1.0, NAN])


def test_earlier_rows_without_the_feature_miss_new_categories_too():
    columns = columns_of({"color": "red", "size": 1.0})
    rows = np.array([columns.row({"color": "red", "size": 1.0}), columns.row({"size": 2.0})])
    _, new = columns.learn({"color": "blue"})
    np.testing.assert_array_equal(with_columns(rows, new)[:, 2], [0.0, NAN])


def test_text_that_looks_like_a_number_is_a_category():
    columns = columns_of({"a": "1.5", "b": 1.0})
    assert columns.names == ["a=1.5", "b"]
    numbers = columns_of({"a": 0.0, "b": 0.0})
    np.testing.assert_array_equal(numbers.row({"a": "1.5", "b": 1.0}), [NAN, 1.0])


def test_a_feature_with_numbers_and_text_has_columns_of_both():
    columns = columns_of({"a": 1.0}, {"a": "none"})
    assert columns.names == ["a", "a=none"]
    np.testing.assert_array_equal(columns.row({"a": 2.0}), [2.0, NAN])
    np.testing.assert_array_equal(columns.row({"a": "none"}), [NAN, CATEGORY])


def test_the_number_of_categories_is_bounded():
    columns = columns_of(*({"a": f"text {n}"} for n in range(1000)), max_categories=3)
    assert columns.names == ["a=text 0", "a=text 1", "a=text 2", "a=other"]
    assert columns.row({"a": "text 500"}).tolist() == [0.0, 0.0, 0.0, CATEGORY]
    assert columns.row({"a": "text 1"}).tolist() == [0.0, CATEGORY, 0.0, 0.0]


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (math.inf, "Feature 'a' is infinite"),
        (-np.inf, "Feature 'a' is infinite"),
        (1e200, "feature 'a' are too large"),
        (10**400, "feature 'a' are too large"),
        ([1, 2], "Feature 'a' has a value of type list"),
        (1j, "Feature 'a' has a value of type complex"),
        (b"x", "Feature 'a' has a value of type bytes"),
    ],
)
def test_values_that_cannot_be_measured(value, message, known):
    columns = columns_of({"a": 1.0, "b": 2.0} if known else {})
    names = columns.names
    for read in (columns.row, columns.learn):
        with pytest.raises(ValueError, match=message):
            read({"a": value, "b": None})
    assert columns.names == names


def test_tables_of_numbers_are_as_their_rows():
    values = np.array([[1.0, NAN, 3.0], [NAN, NAN, 4.0], [5.0, 6.0, NAN]])
    names = ["c", "b", "a"]
    columns = FeatureColumns(50)
    assert columns.first_values(names, values) == [0, 2]
    assert columns.learn_numbers(names, values) == [NewColumn(None)] * 2
    assert columns.learn_numbers(names, values[2:]) == [NewColumn(None)]
    assert columns.first_values(names, values) == []
    rows = FeatureColumns(50)
    for row in values:
        rows.learn(dict(zip(names, row, strict=True)))
    assert columns.names == rows.names == ["a", "c", "b"]
    expected = [rows.row(dict(zip(names, row, strict=True))) for row in values]
    np.testing.assert_array_equal(columns.numbers(names, values), expected)
    np.testing.assert_array_equal(columns.numbers(["x", "b"], values[:, :2])[:, 2], values[:, 1])


def test_columns_can_be_pickled():
    columns = columns_of({"a": 1.0, "b": 2.0}, {"c": "x"})
    copy = pickle.loads(pickle.dumps(columns))
    x = {"c": "x", "a": 3.0}
    np.testing.assert_array_equal(copy.row(x), columns.row(x))
