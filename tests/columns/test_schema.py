import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from lann.columns.schema import UNSEEN, array_as_table, as_table, extend_schema, infer_schema, read

FRAME = pd.DataFrame(
    {
        "city": ["Ulm", "Bonn", None, "Ulm"],
        "size": pd.Categorical(["s", "l", "m", "s"], categories=["s", "m", "l"], ordered=True),
        "class": pd.Categorical([1, 2, 1, None]),
        "member": [True, False, True, True],
        "smoker": pd.Series([True, None, False, True], dtype=object),
        "born": pd.to_datetime(["2020-01-01", None, "1970-01-03", "1969-12-31"]),
        "count": pd.array([1, None, 3, 4], dtype="Int64"),
        "length": [0.5, 1.5, np.nan, 2.5],
    }
)
NAN = np.nan
EXPECTED = np.array(
    [
        [1, 0, 0, 1, 1, 18262, 1, 0.5],
        [0, 2, 1, 0, NAN, NAN, NAN, 1.5],
        [NAN, 1, 0, 1, 0, 2, 3, NAN],
        [1, 0, NAN, 1, 1, -1, 4, 2.5],
    ]
)


def schema_of(frame, categorical_features="from_dtype"):
    return infer_schema(as_table(frame), categorical_features, has_names=True)


def test_kinds_and_values_of_a_pandas_table():
    schema = schema_of(FRAME)
    kinds = [feature.kind for feature in schema.features]
    assert kinds == ["category", "ordered", "category", "bool", "bool", "date", "number", "number"]
    assert schema.features[0].categories == ("Bonn", "Ulm")
    assert schema.features[2].categories == ("1", "2")
    assert schema.n_categories == (2, 0, 2, 0, 0, 0, 0, 0)
    X = read(as_table(FRAME), schema)
    np.testing.assert_array_equal(X, EXPECTED)
    values = schema.values(X)
    assert values[0].tolist() == ["Ulm", "s", "1", True, True, "2020-01-01", 1.0, 0.5]
    assert values[1].tolist() == ["Bonn", "l", "2", False, None, None, None, 1.5]
    again = read(as_table(schema.to_table(X)), schema)
    np.testing.assert_array_equal(again, X)


@pytest.mark.parametrize("convert", [pl.from_pandas, pa.Table.from_pandas])
def test_other_tables_have_the_same_values(convert):
    frame = FRAME.drop(columns=["size"]).astype({"class": "str"}).replace({"class": {"nan": None}})
    frame["class"] = ["1", "2", "1", None]
    table = as_table(convert(frame))
    schema = infer_schema(table, "from_dtype", has_names=True)
    np.testing.assert_array_equal(read(table, schema), np.delete(EXPECTED, 1, axis=1))


def test_an_enum_of_polars_is_ordered():
    frame = pl.DataFrame({"size": pl.Series(["s", "l", None], dtype=pl.Enum(["s", "m", "l"]))})
    schema = schema_of(frame)
    assert schema.features[0].kind == "ordered"
    np.testing.assert_array_equal(read(as_table(frame), schema).ravel(), [0, 2, NAN])


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA, pd.NaT])
def test_all_gaps_are_alike(gap):
    frame = pd.DataFrame({"city": pd.Series(["Ulm", gap, "Bonn"], dtype=object)})
    schema = schema_of(frame)
    np.testing.assert_array_equal(read(as_table(frame), schema).ravel(), [1, NAN, 0])


def test_times_of_day_are_seconds():
    frame = pd.DataFrame({"at": pd.to_datetime(["1970-01-01 00:00:10", "1970-01-02 00:00:00"])})
    schema = schema_of(frame)
    assert schema.features[0].unit == "s"
    X = read(as_table(frame), schema)
    np.testing.assert_array_equal(X.ravel(), [10, 86400])
    assert schema.values(X).ravel().tolist() == ["1970-01-01 00:00:10", "1970-01-02 00:00:00"]
    # The time that a table shows counts, whatever its zone.
    for zone in ("UTC", "Asia/Tokyo"):
        zoned = pd.DataFrame({"at": frame["at"].dt.tz_localize(zone)})
        np.testing.assert_array_equal(read(as_table(zoned), schema), X)
        np.testing.assert_array_equal(read(as_table(zoned.astype(str)), schema), X)


def test_dates_as_text_and_dates_out_of_range():
    schema = schema_of(pd.DataFrame({"born": [datetime.datetime(2020, 1, 1), None]}))
    X = read(as_table(pd.DataFrame({"born": ["2020-01-02", None]})), schema)
    np.testing.assert_array_equal(X.ravel(), [18263, NAN])
    for value in ("soon", "03/04/2020", "2020-13-45", 17):
        frame = pd.DataFrame({"born": pd.Series([value], dtype=object)})
        with pytest.raises(
            ValueError, match=rf"Feature 'born' has dates in the training data; got '{value}'."
        ):
            read(as_table(frame), schema)


def test_categories_are_the_same_as_number_and_as_text():
    schema = schema_of(pd.DataFrame({"class": pd.Categorical([1, 2])}))
    for values in ([1, 2, 3], [1.0, 2.0, 3.0], ["1", "2", "3"]):
        found = read(as_table(pd.DataFrame({"class": values})), schema)
        np.testing.assert_array_equal(found.ravel(), [0, 1, UNSEEN])


def test_numbers_that_are_named_are_categories():
    frame = pd.DataFrame({"class": [3, 1, 2], "x": [0.5, 1.0, 2.0]})
    for named in ([True, False], [0], ["class"]):
        schema = schema_of(frame, named)
        assert [feature.kind for feature in schema.features] == ["category", "number"]
    table = array_as_table(np.array([[3.0, 0.5], [1.5, 1.0]]))
    schema = infer_schema(table, [0], has_names=False)
    assert schema.features[0].categories == ("1.5", "3")
    mixed = array_as_table(np.array([["a", 0.5], ["b", None]], dtype=object))
    found = read(mixed, infer_schema(mixed, [0], has_names=False))
    np.testing.assert_array_equal(found, [[0, 0.5], [1, NAN]])


@pytest.mark.parametrize(
    ("values", "query", "message"),
    [
        ([1, 2], ["abc", "2"], r"Feature 'x' has numbers in the training data; got 'abc'\."),
        (
            [True, False],
            ["maybe", "true"],
            r"Feature 'x' has true and false in the training data; got 'maybe'\.",
        ),
        ([1.0, 2.0], [np.inf, 1.0], r"Feature 'x' has an infinite value, in row 0; give finite numbers"),
    ],
)
def test_values_of_another_kind_raise(values, query, message):
    schema = schema_of(pd.DataFrame({"x": values}))
    with pytest.raises(ValueError, match=message):
        read(as_table(pd.DataFrame({"x": query})), schema)


def test_an_ordered_category_must_be_one_of_them():
    schema = schema_of(FRAME[["size"]])
    with pytest.raises(
        ValueError, match=r"'size' has 'xl', which is not one of its ordered categories \['s', "
    ):
        read(as_table(pd.DataFrame({"size": ["s", "xl"]})), schema)


@pytest.mark.parametrize(
    "values", [[None, None], pd.Categorical([None, None]), [np.nan, np.nan], pd.to_datetime([None, None])]
)
def test_a_column_without_values_is_empty(values):
    schema = schema_of(pd.DataFrame({"x": values}))
    assert schema.features[0].kind == "empty"
    np.testing.assert_array_equal(read(as_table(pd.DataFrame({"x": ["a", 1.0]})), schema), [[0.0], [0.0]])


def test_text_is_an_error_without_categories():
    with pytest.raises(ValueError, match="Feature 'city' has text; name it in categorical_features"):
        schema_of(FRAME[["city"]], None)


def test_objects_of_databases_are_numbers_and_dates():
    frame = pd.DataFrame(
        {
            "price": pd.Series([Decimal("1.5"), None, Decimal(3)], dtype=object),
            "day": pd.Series([datetime.date(1970, 1, 2), None, datetime.date(1970, 1, 3)], dtype=object),
        }
    )
    schema = schema_of(frame)
    assert [feature.kind for feature in schema.features] == ["number", "date"]
    np.testing.assert_array_equal(read(as_table(frame), schema), [[1.5, 1], [NAN, NAN], [3, 2]])
    table = pa.table({"price": pa.array([1, None]).cast(pa.decimal128(24, 2))})
    np.testing.assert_array_equal(read(as_table(table), schema_of(table)).ravel(), [1, NAN])


def test_values_that_cannot_be_measured_raise():
    frame = pl.DataFrame({"x": [[1, 2], [3]]})
    with pytest.raises(ValueError, match=r"Feature 'x' has values of type .*, which cannot be measured"):
        schema_of(frame)


def test_unused_categories_are_left_out():
    schema = schema_of(FRAME[["city", "length"]])
    rows = np.array([[1.0, 2.0], [NAN, 3.0]])
    fewer, recoded = schema.without_unused(rows)
    assert fewer.features[0].categories == ("Ulm",)
    np.testing.assert_array_equal(recoded, [[0, 2], [NAN, 3]])
    more = extend_schema(fewer, as_table(FRAME[["city", "length"]]))
    assert more.features[0].categories == ("Ulm", "Bonn")
    assert more.features[1] == fewer.features[1]
