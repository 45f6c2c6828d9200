import json

import numpy as np
import pandas as pd
import pytest

from lann.tables import StreamColumns, TableWarning

FIRST = pd.DataFrame(
    {
        "size": ["1.5", "2", "NA", "4"],
        "flag": ["true", "false", "true", ""],
        "day": ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-03"],
        "city": ["Ulm", "Bonn", "Ulm", "Ulm"],
        "same": ["7", "7", "7", "7"],
        "y": ["a", "b", "a", "b"],
    }
)
HALF = np.sqrt(0.5)


@pytest.fixture
def columns():
    return StreamColumns.from_rows(FIRST, "y")


def test_rows_become_numbers(columns):
    assert columns.feature_names == ["size", "flag", "day", "city: Bonn", "city: Ulm", "city: other", "same"]
    X = columns.rows(FIRST, 0)
    np.testing.assert_array_equal(X[:, 0], [1.5, 2, np.nan, 4])
    np.testing.assert_array_equal(X[:, 1], [1, 0, 1, np.nan])
    np.testing.assert_array_equal(np.diff(X[:, 2]), [1, 1, 0])
    np.testing.assert_array_equal(X[:, 3:6], [[0, HALF, 0], [HALF, 0, 0], [0, HALF, 0], [0, HALF, 0]])


def test_constant_columns_are_used_as_later_rows_may_differ(columns):
    later = FIRST.assign(same=["7", "8", "9", "?"])
    np.testing.assert_array_equal(columns.rows(later, 4)[:, -1], [7, 8, 9, np.nan])


def test_new_and_missing_categories(columns):
    later = FIRST[:2].assign(city=["Köln", ""])
    X = columns.rows(later, 4)
    np.testing.assert_array_equal(X[:, 3:6], [[0, 0, HALF], [np.nan] * 3])


def test_labels_are_text_and_none(columns):
    assert columns.labels(FIRST.assign(y=["a", "", " b ", "NA"])).tolist() == ["a", None, "b", None]


def test_frames_with_types_give_the_same_numbers(columns):
    typed = pd.DataFrame(
        {
            "size": pd.Series([1.5, 2, np.nan, 4]),
            "flag": pd.Series([True, False, True, None], dtype="boolean"),
            "day": pd.to_datetime(pd.Series(FIRST["day"])),
            "city": pd.Series(FIRST["city"]),
            "same": pd.Series([7, 7, 7, 7]),
            "y": pd.Series([1, 2, 1, 2]),
        }
    )
    np.testing.assert_array_equal(columns.rows(typed, 0), columns.rows(FIRST, 0))
    found = StreamColumns.from_rows(typed, "y")
    np.testing.assert_array_equal(found.rows(typed, 0), columns.rows(FIRST, 0))
    assert found.labels(typed).tolist() == ["1", "2", "1", "2"]


@pytest.mark.parametrize("cell", ["red", "1_000", "inf"])
def test_a_cell_that_does_not_fit_is_named(columns, cell):
    later = FIRST.assign(size=["1", cell, "2", "3"])
    with pytest.raises(ValueError, match=r"Column 'size' of s.csv must have .*; row 1001 has"):
        columns.rows(later, 1000, "s.csv")


def test_description_survives_json(columns):
    again = StreamColumns.from_dict(json.loads(json.dumps(columns.to_dict())))
    assert again == columns


def test_many_categories_share_an_axis():
    rows = pd.DataFrame({"city": [f"c{i % 60}" for i in range(600)], "y": ["a", "b"] * 300})
    with pytest.warns(TableWarning, match="60 different values in the first rows; the 50 most frequent"):
        found = StreamColumns.from_rows(rows, "y")
    assert len(found.feature_names) == 51


def test_invalid_tables_get_one_sentence():
    with pytest.raises(ValueError, match="There is no column 'z' in the stream for the target"):
        StreamColumns.from_rows(FIRST, "z")
    with pytest.raises(ValueError, match="has no rows"):
        StreamColumns.from_rows(FIRST[:0], "y")
    with pytest.raises(ValueError, match="no column to learn from beside the target 'y'"):
        StreamColumns.from_rows(FIRST[["size", "y"]], "y", drop=["size"])
    with pytest.raises(ValueError, match="There is no column 'city' in the stream"):
        StreamColumns.from_rows(FIRST, "y").rows(FIRST.drop(columns="city"), 0)
