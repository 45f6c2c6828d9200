"""How columns write numbers and dates."""

from datetime import date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from lann.columns.notation import NumberNotation, find_date_notation, find_number_notation, table_decimal
from lann.columns.text import Cells


@pytest.mark.parametrize(
    ("cells", "numbers", "words"),
    [
        (["1", "-2.5", "1e3", "+.5"], [1, -2.5, 1000, 0.5], ""),
        (["1,5", "-2", "0,25"], [1.5, -2, 0.25], "decimal commas"),
        (["1.234,5", "2"], [1234.5, 2], "decimal commas and points between thousands"),
        (["1,234.5", "999"], [1234.5, 999], "commas between thousands"),
        (["1,234,567", "1"], [1234567, 1], "commas between thousands"),
        (["1 234", "12\u00a0345,5"], [1234, 12345.5], "decimal commas and spaces between thousands"),
        (["1'234.50", "5.25"], [1234.5, 5.25], "apostrophes between thousands"),
        (["35 %", "5%", "-2 %"], [35, 5, -2], "the unit %"),
        (["€ 1,234.50", "€ 7.00"], [1234.5, 7], "commas between thousands and the unit €"),
        (["$5.00", "-$6.50", "$-1.25"], [5, -6.5, -1.25], "the unit $"),
        (["1 234 kr", "12 kr"], [1234, 12], "spaces between thousands and the unit kr"),
        (["kr. 5", "kr. 12"], [5, 12], "the unit kr."),
        (["−5", "3"], [-5, 3], ""),
        (["0,123", "0,234"], [0.123, 0.234], "decimal commas"),
    ],
)
def test_notations(cells, numbers, words):
    notation = find_number_notation(cells)[0]
    assert notation.parse(cells).tolist() == numbers
    assert notation.describe() == words


@pytest.mark.parametrize(
    "cells",
    [
        ["1", "red"], ["1,5", "1.5"], ["5 %", "5"], ["$5", "€5"], ["1,23,456", "1"], ["12.34.5"], ["1 2"],
        ["--5"], ["-$-5"], ["$5 %"], ["1_000"], ["0x1A"], ["5 kg"], ["%"], [","], [],
    ],
)  # fmt: skip
def test_what_is_not_a_number(cells):
    assert find_number_notation(cells)[0] is None


def test_the_table_decides_what_is_ambiguous():
    cells = ["1,234", "2,345"]
    assert find_number_notation(cells)[1] == "'1,234' may be 1234 or 1.234"
    assert find_number_notation(["€ 1,234"])[1] == "'€ 1,234' may be 1234 or 1.234"
    assert find_number_notation(cells, ",")[0].parse(cells).tolist() == [1.234, 2.345]
    assert find_number_notation(cells, ".")[0].parse(cells).tolist() == [1234, 2345]
    cells = ["1.234", "2.345"]
    assert find_number_notation(cells)[0].parse(cells).tolist() == [1.234, 2.345]
    assert find_number_notation(cells, ",")[0].parse(cells).tolist() == [1234, 2345]
    # One cell is enough to know, whatever the rest of the table has.
    assert find_number_notation(["1,234", "2,3"], ".")[0].parse(["1,234"]).tolist() == [1.234]


def test_codes_are_not_numbers():
    found = find_number_notation(["01067", "12345"])
    assert found[0] is None
    assert "leading zeros" in found[1]
    assert find_number_notation(["01067", "12345"], ",")[0] is None
    assert find_number_notation(["01", "12"])[0] is not None  # a month
    assert find_number_notation(["0.5", "1.5"])[0] is not None


@pytest.mark.parametrize(
    ("columns", "decimal"),
    [
        ({"a": ["1", "2"], "b": ["x, y", "z"]}, "."),
        ({"a": ["1,5", "2"]}, ","),
        ({"a": ["1,5", "2"], "b": ["1.5", "2"], "c": ["0,5", "1"]}, ","),
        ({"a": ["1,234", "2"], "b": ["0.5", "2"]}, "."),
        ({"a": ["1,234", "2"]}, None),
        ({"a": [1.5, 2.5]}, "."),
    ],
)
def test_the_decimal_separator_of_a_table(columns, decimal):
    assert table_decimal(pd.DataFrame(columns)) == decimal


NOTATIONS = st.builds(
    NumberNotation,
    decimal=st.just("."), thousands=st.sampled_from(["", ",", " ", "'"]),
    prefix=st.sampled_from(["", "$", "€ "]), decimals=st.integers(1, 3),
) | st.builds(
    NumberNotation,
    decimal=st.just(","), thousands=st.sampled_from(["", ".", " ", "'"]),
    suffix=st.sampled_from(["", " %", " kr"]), decimals=st.integers(1, 3),
)  # fmt: skip


@given(NOTATIONS, st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=20))
def test_what_is_formatted_is_parsed(notation, integers):
    values = np.array(integers) / 10.0**notation.decimals
    cells = [notation.format(value) for value in values]
    np.testing.assert_allclose(notation.parse(cells), values, rtol=1e-12)
    found = find_number_notation(cells, notation.decimal)[0]
    np.testing.assert_allclose(found.parse(cells), values, rtol=1e-12)
    assert [found.format(value) for value in found.parse(cells)] == cells


def test_formats():
    plain = NumberNotation()
    assert [plain.format(v) for v in (3.0, -2.5, 1234567.0, 1e300, 0.0001234)] == [
        "3", "-2.5", "1234567", "1e+300", "0.0001234",
    ]  # fmt: skip
    # Up to ten digits as they are in a file.
    assert [plain.format(v) for v in (211.3375, 1234567.5, 1 / 3)] == ["211.3375", "1234567.5", "0.333333"]
    price = NumberNotation(",", ".", suffix=" €", decimals=2)
    assert price.format(1234.5) == "1.234,50 €"
    assert price.format(0.001) == "0,001 €"  # not of the column: all digits are shown
    assert NumberNotation(decimals=0).format(2.5) == "2.5"


# Before pandas 3, text is read as dates in nanoseconds, which are from 1677 to 2262.
HAS_ALL_YEARS = Version(pd.__version__) >= Version("3")
NEEDS_ALL_YEARS = pytest.mark.skipif(not HAS_ALL_YEARS, reason="pandas before 3 reads other years as text")


def parsed(cells):
    found = find_date_notation(pd.Series(cells, dtype=object))
    assert found[0] is not None, found[1]
    dates = found[0].parse(pd.Series(cells, dtype=object))
    assert dates.dtype == "datetime64[us]"
    return found[0], dates.to_list()


@pytest.mark.parametrize(
    ("cells", "first"),
    [
        (["2024-05-01", "2024-06-03"], datetime(2024, 5, 1)),
        (["2024-05-01 13:00", "2024-06-03"], datetime(2024, 5, 1, 13)),
        (["2024-05-01T13:00:05.25", "2024-06-03T00:00:00"], datetime(2024, 5, 1, 13, 0, 5, 250000)),
        (["2024-05-01T13:00:00Z", "2024-06-03T13:00+02:00"], datetime(2024, 5, 1, 13)),
        (["2024-05-01 01:00:00+0200", "2024-05-01 01:00 UTC"], datetime(2024, 4, 30, 23)),
        (["01.05.2024", "2.5.2024"], datetime(2024, 5, 1)),
        (["01.05.2024 08:30", "02.05.2024 09:00"], datetime(2024, 5, 1, 8, 30)),
        (["5/1/2024", "5/13/2024"], datetime(2024, 5, 1)),
        (["5/1/2024 3:05 PM", "15/1/2024 4:00 AM"], datetime(2024, 1, 5, 15, 5)),
        (["2024/05/01", "2024/12/31"], datetime(2024, 5, 1)),
        (["May 1, 2024", "Jun 30, 2024"], datetime(2024, 5, 1)),
        (["1-May-2024", "12-Jun-2024"], datetime(2024, 5, 1)),
        pytest.param(["9999-12-31", "0001-01-01"], datetime(9999, 12, 31), marks=NEEDS_ALL_YEARS),
    ],
)
def test_notations_of_dates(cells, first):
    _, dates = parsed(cells)
    assert dates[0] == first


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        (["5/1/2024", "6/1/2024"], "'5/1/2024' may be January 5 or May 1"),
        (["05-01-2024", "06-01-2024"], "'05-01-2024' may be January 5 or May 1"),
        (["5/5/2024", "6/1/2024"], "'6/1/2024' may be January 6 or June 1"),
        (["5/5/2024", "6/6/2024"], "the order of day and month is not known"),
        (["13/1/2024", "1/13/2024"], ""),
        (["2024-13-45"], ""),
        (["31.02.2024"], ""),
        (["2024-05-01", "2024-05-01T10:00Z"], ""),
        (["20240501"], ""),
        (["red", "2024-05-01"], ""),
        ([], ""),
    ],
)
def test_what_is_not_known_to_be_a_date(cells, reason):
    found = find_date_notation(pd.Series(cells, dtype=object))
    assert (found[0], found[1]) == (None, reason)


def test_dates_are_shown_as_they_are_written():
    for cells in (
        ["2024-05-01", "2024-06-03"],
        ["2024-05-01 13:00", "2024-06-03 00:00"],
        ["01.05.2024", "31.12.2024"],
        ["1.5.2024", "31.12.2024"],
        ["5/1/2024", "5/13/2024"],
        ["May 1, 2024", "Jun 30, 2024"],
        ["01.05.2024 08:05", "02.05.2024 09:00"],
    ):
        notation, dates = parsed(cells)
        assert [notation.format_date(value) for value in dates] == cells
    notation, dates = parsed(["2024-05-01T13:00:00Z", "2024-06-03T13:00:07+02:00"])
    assert notation.format_date(dates[1]) == "2024-06-03 11:00:07 UTC"


LAST_YEAR = 2300 if HAS_ALL_YEARS else 2262
DATES = st.datetimes(datetime(1800, 1, 1), datetime(LAST_YEAR, 1, 1)).map(lambda d: d.replace(microsecond=0))
FORMATS = ["%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%d.%m.%Y %H:%M:%S", "%Y/%m/%d %H:%M:%S"]


@given(st.lists(DATES, min_size=1, max_size=10), st.sampled_from(FORMATS))
def test_dates_that_are_written_are_read(dates, format):
    _, found = parsed([value.strftime(format) for value in dates])
    assert found == dates


def test_typed_dates():
    cells = Cells.from_column(pd.Series([date(2024, 5, 1), None], dtype=object))
    assert cells.values.to_list() == [datetime(2024, 5, 1), pd.NaT]
    assert not cells.has_zone
    zone = timezone(timedelta(hours=2))
    times = pd.Series([datetime(2024, 5, 1, 1, tzinfo=zone)])
    for column in (times, times.astype(object)):
        found = Cells.from_column(column)
        assert (found.kind, found.values[0], found.has_zone) == ("date", datetime(2024, 4, 30, 23), True)
    assert Cells.from_column(pd.Series([date(2024, 5, 1), "x"], dtype=object)).kind == "text"
