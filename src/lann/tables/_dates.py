"""How a column writes dates."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import pandas as pd

ISO = "ISO8601"
DTYPE = "datetime64[us]"
_ISO_PATTERN = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?: ?(?:Z|UTC|[+-]\d{2}:?\d{2}))?)?"
)
_ZONE_PATTERN = re.compile(r"(?:Z|UTC|:\d{2}(?:\.\d+)? ?[+-]\d{2}:?\d{2})$")
_TIMES = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p", "T%H:%M", "T%H:%M:%S")
# Day and month are numbers, and which comes first is not known from the format.
_AMBIGUOUS = (("%d/%m/%Y", "%m/%d/%Y"), ("%d-%m-%Y", "%m-%d-%Y"))
_UNAMBIGUOUS = (
    "%d.%m.%Y", "%Y/%m/%d", "%Y.%m.%d",
    "%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%d/%b/%Y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y", "%B %d %Y",
    "%d. %B %Y",
)  # fmt: skip
# Only for columns that are named as dates: without it, 20240501 is a number.
_COMPACT = "%Y%m%d"


@dataclass(frozen=True)
class DateNotation:
    """How a column writes dates.

    Attributes
    ----------
    format : str
        "ISO8601", or a format of `datetime.strptime`.
    shown : str
        The format of `datetime.strftime` in which dates are shown.
    has_zone : bool
        Whether the cells have a time zone; then values are in UTC.
    is_padded : bool
        Whether days and months below 10 have a leading zero.
    """

    format: str = ISO
    shown: str = "%Y-%m-%d"
    has_zone: bool = False
    is_padded: bool = True

    def parse(self, texts: pd.Series) -> pd.Series:
        """Return the cells as dates, NaT where there is no date in this notation."""
        texts = texts.astype(object)
        if self.format != ISO:
            return pd.to_datetime(texts, format=self.format, errors="coerce").astype(DTYPE)
        matches = texts.map(_ISO_PATTERN.fullmatch).notna() & (_has_zone(texts) == self.has_zone)
        zones = texts.where(matches).str.replace(r" ?UTC$", "Z", regex=True)
        dates = pd.to_datetime(zones, format=ISO, errors="coerce", utc=True)
        return dates.dt.tz_localize(None).astype(DTYPE)

    def format_date(self, value: Any) -> str:
        """Return a date as the column writes it."""
        stamp = pd.Timestamp(value)
        text = stamp.strftime(self.shown)
        if not self.is_padded:
            text = re.sub(r"(?<![\d:])0(\d)(?=[/.\-, ]|$)", r"\1", text)
        return text


@dataclass(frozen=True)
class FoundDates:
    """The notation of a text column; None if it is not known, with the reason if it could be dates."""

    notation: DateNotation | None
    reason: str = ""


def find_date_notation(texts: pd.Series, *, named: bool = False) -> FoundDates:
    """Find out how a column writes dates.

    Parameters
    ----------
    texts : Series of str
        Cells that are not missing, without spaces around them.
    named : bool, default=False
        Whether the user says that the column has dates; then 20240501 is one.

    Returns
    -------
    found : FoundDates
        Without a notation if a cell is not a date, or the order of day and month is not known.
    """
    if len(texts) == 0:
        return FoundDates(None)
    first = str(texts.iloc[0])
    if _ISO_PATTERN.fullmatch(first):
        notation = DateNotation(has_zone=bool(_has_zone(texts.iloc[:1]).iloc[0]))
        dates = notation.parse(texts)
        return FoundDates(None if dates.isna().any() else typed_notation(dates, has_zone=notation.has_zone))
    for format in (*_UNAMBIGUOUS, *((_COMPACT,) if named else ())):
        for time in _TIMES:
            if (found := _fit(texts, format, time)) is not None:
                return FoundDates(found)
    for pair in _AMBIGUOUS:
        for time in _TIMES:
            fitting = [found for format in pair if (found := _fit(texts, format, time)) is not None]
            if len(fitting) == 2:
                return FoundDates(None, _ambiguous_example(texts, fitting))
            if fitting:
                return FoundDates(fitting[0])
    return FoundDates(None)


def notation_of_format(format: str, texts: pd.Series) -> DateNotation:
    """Return the notation of a format that the user gives."""
    return DateNotation(format, format, has_zone=False, is_padded=_is_padded(texts))


def typed_notation(dates: pd.Series, *, has_zone: bool) -> DateNotation:
    """Return the notation of a column of dates: with the time of day if there is one."""
    present = dates.dropna()
    shown = "%Y-%m-%d"
    if (present != present.dt.normalize()).any() or has_zone:
        has_seconds = bool(((present.dt.second != 0) | (present.dt.microsecond != 0)).any())
        shown += " %H:%M:%S" if has_seconds else " %H:%M"
    return DateNotation(ISO, shown + (" UTC" if has_zone else ""), has_zone)


def typed_dates(column: pd.Series) -> tuple[pd.Series, bool] | None:
    """Return a column of dates as dates in UTC, and whether they have a time zone; None if it has others.

    Parameters
    ----------
    column : Series
        Of a datetime type, or objects.
    """
    if pd.api.types.is_datetime64_any_dtype(column):
        has_zone = getattr(column.dt, "tz", None) is not None
        dates = column.dt.tz_convert(None) if has_zone else column
        return dates.astype(DTYPE), has_zone
    present = column.dropna()
    if len(present) == 0 or not all(isinstance(cell, date) for cell in present):
        return None
    zones = {isinstance(cell, datetime) and cell.tzinfo is not None for cell in present}
    if len(zones) > 1:
        return None
    has_zone = zones.pop()
    dates = pd.Series(pd.NaT, index=column.index, dtype=DTYPE)
    dates[present.index] = [
        pd.Timestamp(cell.astimezone(UTC).replace(tzinfo=None) if has_zone else cell) for cell in present
    ]
    return dates.astype(DTYPE), has_zone


def date_notation_from_dict(state: dict[str, Any]) -> DateNotation:
    """Return the notation of a dict; raise ValueError if it is not one."""
    is_valid = (
        set(state) == {"format", "shown", "has_zone", "is_padded"}
        and all(isinstance(state[key], str) and state[key] for key in ("format", "shown"))
        and all(isinstance(state[key], bool) for key in ("has_zone", "is_padded"))
        and (state["format"] == ISO or "%" in state["format"])
    )
    if not is_valid:
        raise ValueError(f"{state!r} does not describe how dates are written.")
    return DateNotation(**state)


def _fit(texts: pd.Series, date_format: str, time: str) -> DateNotation | None:
    """Return the notation of a format if every cell has it; the first cell decides quickly."""
    format = date_format + time
    try:
        datetime.strptime(str(texts.iloc[0]), format)
    except ValueError:
        pass
    else:
        if pd.to_datetime(texts.astype(object), format=format, errors="coerce").notna().all():
            return DateNotation(format, format, is_padded=_is_padded(texts))
    return None


def _ambiguous_example(texts: pd.Series, notations: list[DateNotation]) -> str:
    """Return a cell that is a different day in two notations."""
    first, second = (notation.parse(texts) for notation in notations)
    different = (first != second).to_numpy().nonzero()[0]
    if len(different) == 0:
        return "the order of day and month is not known"
    row = different[0]
    days = [f"{dates.iloc[row]:%B} {dates.iloc[row].day}" for dates in (first, second)]
    return f"{texts.iloc[row]!r} may be {days[0]} or {days[1]}"


def _is_padded(texts: pd.Series) -> bool:
    """Return whether days and months have two digits: no date has a single digit before the time."""
    return not texts.str.split(r"[T ]\d{1,2}:", n=1, regex=True).str[0].str.contains(r"(?<!\d)\d(?!\d)").any()


def _has_zone(texts: pd.Series) -> pd.Series:
    return texts.map(lambda text: isinstance(text, str) and bool(_ZONE_PATTERN.search(text)))
