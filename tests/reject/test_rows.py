import numpy as np
import pandas as pd
import polars as pl
import pytest

from lann.reject._rows import labels_with_marker, marker_of, take_parameters, take_rows

ROWS = np.array([2, 0])


@pytest.mark.parametrize(
    "X", [np.arange(6).reshape(3, 2), pd.DataFrame({"a": [0, 2, 4], "b": [1, 3, 5]}, index=[7, 8, 9])]
)
def test_rows_of_arrays_and_tables(X):
    np.testing.assert_array_equal(np.asarray(take_rows(X, ROWS)), [[4, 5], [0, 1]])


def test_rows_of_other_tables():
    table = pl.DataFrame({"a": [0, 2, 4], "b": [1, 3, 5]})
    assert take_rows(table, ROWS).rows() == [(4, 5), (0, 1)]
    assert take_rows(table.to_arrow(), ROWS).to_pylist() == [{"a": 4, "b": 5}, {"a": 0, "b": 1}]


def test_parameters_with_a_value_for_each_row_are_taken():
    parameters = {"sample_weight": [1.0, 2.0, 3.0], "name": "abc", "number": 3, "other": [1, 2]}
    taken = take_parameters(parameters, ROWS, 3)
    assert taken["sample_weight"].tolist() == [3.0, 1.0]
    assert {name: taken[name] for name in ("name", "number", "other")} == {
        "name": "abc", "number": 3, "other": [1, 2],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("classes", "expected"),
    [([0, 1], -1), ([-1, 1], -2), ([-5.5, 2.0], -7), (["a", "b"], "rejected"), ([False, True], "rejected")],
)
def test_default_markers(classes, expected):
    assert marker_of(np.array(classes), None) == expected


@pytest.mark.parametrize(
    ("classes", "label"), [([0, 1], 1), (["a", "rejected"], None), (["a", "b"], "b"), ([False, True], True)]
)
def test_a_class_cannot_be_the_marker(classes, label):
    with pytest.raises(ValueError, match="is one of the classes; give another reject_label"):
        marker_of(np.array(classes), label)


@pytest.mark.parametrize(
    ("labels", "marker", "expected", "kind"),
    [
        (np.array([1, 2]), -1, [1, -1], "i"),
        (np.array([1, 2], np.uint8), -1, [1, -1], "i"),
        (np.array([1.5, 2.5]), -1, [1.5, -1.0], "f"),
        (np.array(["a", "b"]), "rejected", ["a", "rejected"], "U"),
        (np.array([1, 2]), "unknown", [1, "unknown"], "O"),
        (np.array([True, False]), "rejected", [True, "rejected"], "O"),
        (np.array(["a", "b"], object), "rejected", ["a", "rejected"], "O"),
    ],
)
def test_the_marker_stands_for_rejected_rows(labels, marker, expected, kind):
    marked = labels_with_marker(labels, marker, np.array([False, True]))
    assert marked.tolist() == expected
    assert marked.dtype.kind == kind
    assert labels_with_marker(labels, marker, np.array([False, False])).dtype == marked.dtype
