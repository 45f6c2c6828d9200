"""How columns write dates."""

from datetime import date, datetime, timedelta, timezone

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from lann.columns.notation import find_date_notation
from lann.columns.text import Cells

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
def test_notations(cells, first):
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


def test_a_zone_that_is_missing_later_is_not_a_date():
    notation, _ = parsed(["2024-05-01T13:00:00Z"])
    assert notation.parse(pd.Series(["2024-05-01 13:00"])).isna().all()


LAST_YEAR = 2300 if HAS_ALL_YEARS else 2262
DATES = st.datetimes(datetime(1800, 1, 1), datetime(LAST_YEAR, 1, 1)).map(lambda d: d.replace(microsecond=0))
FORMATS = ["%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%d.%m.%Y %H:%M:%S", "%Y/%m/%d %H:%M:%S"]


@given(st.lists(DATES, min_size=1, max_size=10), st.sampled_from(FORMATS))
def test_what_is_written_is_read(dates, format):
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
