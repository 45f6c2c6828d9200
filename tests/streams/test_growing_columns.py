"""Rows that come as dictionaries: columns of features that come and go."""

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from lann.streams import SAMKNN
from lann.streams._growing_columns import CATEGORY, GrowingColumns, read_values, with_earlier_values
from lann.streams.river import SAMKNNClassifier

NAN = math.nan
SMALL = {"window_size": 120, "min_window_size": 20, "seed": 0}


def columns_of(*rows, max_categories=50):
    columns = GrowingColumns(max_categories)
    for row in rows:
        columns, _ = columns.with_values(read_values(row))
    return columns


def row_of(columns, x):
    return columns.row(read_values(x))


def test_columns_do_not_depend_on_the_order_of_the_features():
    columns, new = GrowingColumns(50).with_values({"b": 2, "a": 1.5, 3: True})
    assert new == [None] * 3
    assert columns.names == ["3", "a", "b"]
    assert row_of(columns, {"a": 1.5, 3: True, "b": 2}).tolist() == [1.0, 1.5, 2.0]


@pytest.mark.parametrize("missing", [None, NAN, np.float32("nan"), Decimal("nan"), pd.NA, pd.NaT])
def test_missing_values(missing):
    columns = columns_of({"a": 1.0, "b": 2.0})
    np.testing.assert_array_equal(row_of(columns, {"a": missing, "b": 2.0}), [NAN, 2.0])
    np.testing.assert_array_equal(row_of(columns, {"b": 2.0}), [NAN, 2.0])


def test_unknown_features_are_left_out_of_queries():
    columns = columns_of({"a": 1.0, "b": 2.0})
    assert row_of(columns, {"a": 1.0, "b": 2.0, "c": 3.0, "d": "x"}).tolist() == [1.0, 2.0]
    np.testing.assert_array_equal(row_of(columns, {}), [NAN, NAN])


@pytest.mark.parametrize("value", [True, np.bool_(True), 1, np.int8(1), Decimal(1), np.float32(1)])
def test_numbers_of_all_types(value):
    assert row_of(columns_of({"a": 0.0}), {"a": value}).tolist() == [1.0]


def test_a_category_is_a_column_and_different_ones_are_1_apart():
    columns = columns_of({"color": "red", "size": 1.0})
    first = row_of(columns, {"color": "red", "size": 1.0})
    columns, new = columns.with_values({"color": "blue", "size": 1.0})
    assert new == [0]
    assert columns.names == ["color=red", "size", "color=blue"]
    rows = with_earlier_values(np.array([first, [NAN, 1.0]]), new)
    np.testing.assert_array_equal(rows, [[CATEGORY, 1.0, 0.0], [NAN, 1.0, NAN]])
    second = row_of(columns, {"color": "blue", "size": 1.0})
    assert np.square(rows[0] - second).sum() == pytest.approx(1.0)
    # A category that has not been learned differs from all others, and a missing one is missing.
    assert row_of(columns, {"color": "green", "size": 1.0}).tolist() == [0.0, 1.0, 0.0]
    np.testing.assert_array_equal(row_of(columns, {"size": 1.0}), [NAN, 1.0, NAN])


def test_a_feature_with_numbers_and_text_has_columns_of_both():
    columns = columns_of({"a": 1.0}, {"a": "none"})
    assert columns.names == ["a", "a=none"]
    np.testing.assert_array_equal(row_of(columns, {"a": 2.0}), [2.0, NAN])
    np.testing.assert_array_equal(row_of(columns, {"a": "none"}), [NAN, CATEGORY])


def test_the_number_of_categories_is_bounded():
    columns = columns_of(*({"a": f"text {n}"} for n in range(100)), max_categories=3)
    assert columns.names == ["a=text 0", "a=text 1", "a=text 2", "a=other"]
    assert row_of(columns, {"a": "text 50"}).tolist() == [0.0, 0.0, 0.0, CATEGORY]
    assert row_of(columns, {"a": "text 1"}).tolist() == [0.0, CATEGORY, 0.0, 0.0]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-np.inf, "Feature 'a' is infinite"),
        (1e200, "feature 'a' are too large"),
        ([1, 2], "Feature 'a' has a value of type list"),
        (b"x", "Feature 'a' has a value of type bytes"),
    ],
)
def test_values_that_cannot_be_measured(value, message):
    with pytest.raises(ValueError, match=message):
        read_values({"a": value})


def rows_with_drift(n_rows):
    """Return rows of two classes; what decides changes now and then."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    turned = np.arange(n_rows) // 150 % 2 == 1
    return X, (np.where(turned, X[:, 0], X[:, 3]) > 0).astype(int)


def predictions_of(model, rows, labels):
    """Return the probability of class 1 of every row but the first, before it is learned."""
    predicted = []
    for x, label in zip(rows, labels.tolist(), strict=True):
        predicted.append(model.predict_proba_one(x).get(1, 0.0))
        model.learn_one(x, label)
    return np.array(predicted[1:])


@pytest.mark.parametrize("appears", [1, 40, 170, 400])
def test_a_new_feature_is_as_if_earlier_rows_had_missed_it(appears):
    X, labels = rows_with_drift(600)
    X[:appears, -1] = np.nan
    labels[:2] = 0, 1
    rows = [dict(zip("abcd", row, strict=True)) for row in X.tolist()]
    found = predictions_of(SAMKNNClassifier(**SMALL), rows, labels)
    clf = SAMKNN(window_size=120, min_window_size=20, random_state=0)
    expected = clf.test_then_train(X, labels)[1:, 1]
    # All distances are scaled up by the same factor before the feature is there, which may round.
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("appears", [5, 170, 400])
def test_a_new_category_is_as_if_earlier_rows_had_another_one(appears):
    X, labels = rows_with_drift(600)
    labels[:2] = 0, 1
    category = np.random.default_rng(1).integers(2, size=len(X))
    category[:appears], category[appears] = 0, 1
    rows = [{"a": row[0], "b": row[1], "c": "xy"[c]} for row, c in zip(X.tolist(), category, strict=True)]
    found = predictions_of(SAMKNNClassifier(**SMALL), rows, labels)
    X[:, 2:] = CATEGORY * np.eye(2)[category]
    clf = SAMKNN(window_size=120, min_window_size=20, random_state=0)
    expected = clf.test_then_train(X, labels)[1:, 1]
    # The category is not known when its first row is predicted.
    known = np.arange(1, 600) != appears
    np.testing.assert_allclose(found[known], expected[known], rtol=1e-6)
