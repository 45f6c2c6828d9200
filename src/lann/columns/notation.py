"""How text columns write numbers and dates: find the notation, parse text by it, and format values."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from statistics import mode
from typing import Any

import numpy as np
import pandas as pd

from lann._support.types import Floats

# Cells that mean a missing value in every column. "None" is not among them, because it is used as a label;
# "?" is how the UCI repository writes a missing value; those that start with "#" are spreadsheet errors.
MISSING = (
    "", "NA", "N/A", "n/a", "NaN", "nan", "NaT", "<NA>", "null", "NULL", "?",
    "#N/A", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!",
)  # fmt: skip
# In columns of numbers and of dates only, where they cannot be a category.
PLACEHOLDERS = ("-", "--", "–", "—", ".", "None", "none", "NONE")

CURRENCIES = (
    "US$", "R$", "A$", "C$", "€", "$", "£", "¥", "₹", "₽", "₩", "₺", "₫", "₴", "₪", "฿", "₿", "¢",
    "EUR", "USD", "GBP", "CHF", "JPY", "CNY", "INR", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "CAD", "AUD",
    "BRL", "Kč", "Ft", "zł", "Kr.", "kr.", "Kr", "kr",
)  # fmt: skip
UNITS = ("%", "‰", *CURRENCIES)
SPACES, APOSTROPHES = " \u00a0\u202f\u2009", "'’"
# Between groups of three digits, beside the one of point and comma that is not the decimal separator.
OTHER_THOUSANDS = (" ", "'")
# Cells that are examined before all are.
N_FIRST = 50
# Cells of each column in which the decimal separator of a table is searched.
N_SEARCHED = 500
# Cells of a column that decide with how many decimals its numbers are shown.
N_SHOWN = 5000
# Numbers with more digits are shown with an exponent; with more significant digits, with six of them.
MOST_DIGITS, MOST_SHOWN = 15, 10
# Postal codes and the like have leading zeros; days and months may have them, too, and are numbers.
LEAST_CODE_LENGTH = 3

_MINUS = ("-", "−")
_UNIT = "|".join(re.escape(unit) for unit in UNITS)
_PARTS = re.compile(
    rf"[-+−]?\s{{0,3}}(?P<prefix>(?:{_UNIT})?)(?P<gap>\s{{0,3}})[-+−]?\s{{0,3}}"
    rf"(?P<body>(?:\d[\d.,{SPACES}{APOSTROPHES}]*[\d.,]|\d|[.,]\d+)(?:[eE][-+]?\d+)?)"
    rf"(?P<gap_after>\s{{0,3}})(?P<suffix>(?:{_UNIT})?)"
)


@dataclass(frozen=True)
class NumberNotation:
    """How a column writes numbers.

    Attributes
    ----------
    decimal : str
        "." or ",".
    thousands : str
        What may separate groups of three digits: "", ".", ",", " " or "'".
    prefix, suffix : str
        What is around every number, such as "$" or " %", with its spaces.
    decimals : int or None
        Number of decimals if every cell has the same; None if not, and for columns that are not text.
    """

    decimal: str = "."
    thousands: str = ""
    prefix: str = ""
    suffix: str = ""
    decimals: int | None = None

    @property
    def is_plain(self) -> bool:
        """Whether the cells are numbers as Python writes them."""
        return self.decimal == "." and not (self.thousands or self.prefix or self.suffix)

    def parse(self, texts: Sequence[str]) -> Floats:
        """Return the cells as floats, NaN where there is no number in this notation."""
        if self.is_plain:
            return _plain_numbers(texts)
        pattern = _cell_pattern(self.decimal, self.thousands, self.prefix.strip(), self.suffix.strip())
        separators = _separators(self.thousands)
        numbers = np.full(len(texts), np.nan)
        for position, match in enumerate(map(pattern.fullmatch, texts)):
            if match is not None:
                body = match[3]
                for separator in separators:
                    body = body.replace(separator, "")
                number = float(body if self.decimal == "." else body.replace(",", "."))
                numbers[position] = -number if match[1] in _MINUS or match[2] in _MINUS else number
        return numbers

    def format(self, value: float) -> str:
        """Return a number as the column writes it."""
        size = abs(float(value))
        is_short = size < 10.0**MOST_DIGITS
        if self.decimals and is_short and abs(round(size, self.decimals) - size) <= 1e-9 * size:
            body = f"{size:,.{self.decimals}f}"
        elif is_short and size == math.floor(size):
            body = f"{size:,.0f}"
        else:
            exact = f"{size:.{MOST_SHOWN}g}"
            body = exact if float(exact) == size else f"{size:.6g}"
            if "e" not in body and "." in body:
                whole, _, fraction = body.partition(".")
                body = f"{int(whole):,}.{fraction}"
        swapped = {",": self.thousands, ".": self.decimal}
        body = "".join(swapped.get(character, character) for character in body)
        return f"{'-' if value < 0 else ''}{self.prefix}{body}{self.suffix}"

    def describe(self) -> str:
        """Return the notation in words, "" if it is plain."""
        unit = (self.prefix or self.suffix).strip()
        words = []
        if self.decimal == "," and self.decimals != 0:
            words.append("decimal commas")
        if self.thousands:
            names = {",": "commas", ".": "points", " ": "spaces", "'": "apostrophes"}
            words.append(f"{names[self.thousands]} between thousands")
        if unit:
            words.append(f"the unit {unit}")
        return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)

    @classmethod
    def from_dict(cls, state: Any) -> NumberNotation:
        """Return the notation of a dict; raise ValueError if it is not one."""
        is_valid = (
            isinstance(state, dict)
            and set(state) == {"decimal", "thousands", "prefix", "suffix", "decimals"}
            and state["decimal"] in (".", ",")
            and state["thousands"] in ("", ".", ",", *OTHER_THOUSANDS)
            and all(str(state[key]).strip() in ("", *UNITS) for key in ("prefix", "suffix"))
            and (state["decimals"] is None or type(state["decimals"]) is int)
            and 0 <= (state["decimals"] or 0) <= MOST_DIGITS
        )
        if not is_valid:
            raise ValueError(f"{state!r} does not describe how numbers are written.")
        return cls(**state)


def find_number_notation(
    texts: Sequence[str], decimal: str | None = None
) -> tuple[NumberNotation | None, str]:
    """Find out how a column writes numbers.

    Parameters
    ----------
    texts : sequence of str
        Cells that are not missing, without spaces around them.
    decimal : {".", ","} or None
        The decimal separator of the table, which decides what "1,234" is.

    Returns
    -------
    notation : NumberNotation or None
        None if a cell is not a number, the notation is ambiguous, or the numbers are codes with leading
        zeros.
    reason : str
        Why there is no notation, although the cells could be numbers.
    """
    first = [_PARTS.fullmatch(text) for text in texts[:N_FIRST]]
    if len(texts) == 0 or (None in first and np.isnan(_plain_numbers(texts[:N_FIRST])).any()):
        return None, ""
    is_plain = not np.isnan(_plain_numbers(texts)).any()
    if is_plain and are_codes(texts):
        return None, "its numbers have leading zeros, as codes have"
    if is_plain and (decimal != "," or None in first):
        return NumberNotation(decimals=common_decimals(texts[:N_SHOWN], ".")), ""
    units = {(match["prefix"], match["suffix"]) for match in first if match is not None}
    if len(units) != 1 or all(next(iter(units))):
        return None, ""
    prefix, suffix = units.pop()
    chosen, reason = _choose_separators(texts, prefix, suffix, decimal)
    if chosen is None:
        return None, reason
    matches = map(_cell_pattern(*chosen, prefix, suffix).fullmatch, texts)
    gaps = [(match["gap"], match["gap_after"]) for match in first if match is not None]
    notation = NumberNotation(
        *chosen,
        prefix=prefix + mode(gap for gap, _ in gaps) if prefix else "",
        suffix=mode(gap for _, gap in gaps) + suffix if suffix else "",
        decimals=common_decimals((match[3] for match in matches if match), chosen[0]),
    )
    return notation, ""


def looks_like_number(text: str) -> bool:
    """Return whether a text is a number in some notation.

    >>> looks_like_number("1.234,5 €"), looks_like_number("1e5"), looks_like_number("k.A.")
    (True, True, False)
    """
    return _PARTS.fullmatch(text) is not None


def table_decimal(frame: pd.DataFrame, ambiguous: str | None = None) -> str | None:
    """Return the decimal separator of a table of text.

    Parameters
    ----------
    frame : DataFrame
    ambiguous : {".", ","} or None, default=None
        What is returned if the table has numbers such as "1,234" and nothing decides what they are.

    Returns
    -------
    decimal : {".", ","} or None
        A point if there is no number with a separator.
    """
    texts = [
        [cell.strip() for cell in frame[name].dropna().iloc[:N_SEARCHED] if isinstance(cell, str)]
        for name in frame.columns
        if frame[name].dtype == object or pd.api.types.is_string_dtype(frame[name])
    ]
    if not any("," in cell for cells in texts for cell in cells):
        return "."
    n_columns = {".": 0, ",": 0}
    is_ambiguous = False
    for cells in texts:
        matches = [match for match in map(_PARTS.fullmatch, cells) if match]
        bodies = [match["body"] for match in matches if "." in match["body"] or "," in match["body"]]
        if not bodies or len(matches) < len(cells) / 2:
            continue
        fitting = {decimal for decimal, _ in _fitting_separators(bodies)}
        for decimal in fitting if len(fitting) == 1 else ():
            n_columns[decimal] += 1
        is_ambiguous |= len(fitting) == 2 and any("," in body for body in bodies)
    if n_columns["."] != n_columns[","]:
        return max(n_columns, key=lambda decimal: n_columns[decimal])
    return ambiguous if is_ambiguous or n_columns[","] else "."


def are_codes(texts: Sequence[str]) -> bool:
    """Return whether all cells are digits, as many in each, and some start with 0."""
    length = len(texts[0])
    return (
        length >= LEAST_CODE_LENGTH
        and all(len(text) == length and text.isdecimal() for text in texts)
        and any(text.startswith("0") for text in texts)
    )


def _plain_numbers(texts: Sequence[str]) -> Floats:
    plain = [f"-{text[1:]}" if text.startswith("−") else text for text in texts]  # the typographic minus
    return pd.to_numeric(np.array(plain, dtype=object), errors="coerce").astype("float64")


def common_decimals(bodies: Iterable[str], decimal: str) -> int | None:
    """Return the number of decimals that all numbers have; None if they have different numbers."""
    common = None
    for body in bodies:
        _, point, fraction = body.rpartition(decimal)
        n_decimals = len(fraction) if point else 0
        if common not in (None, n_decimals) or not body[-1].isdecimal() or "e" in body.lower():
            return None
        common = n_decimals
    return common if common is not None and common <= MOST_DIGITS else None


def _separators(thousands: str) -> str:
    """Return the characters that a thousands separator stands for."""
    return {" ": SPACES, "'": APOSTROPHES}.get(thousands, thousands)


@lru_cache(maxsize=256)
def _cell_pattern(decimal: str, thousands: str, prefix: str, suffix: str) -> re.Pattern[str]:
    """Return the pattern of a number; its groups are a sign, a sign after the unit, and the digits."""
    point, whole = re.escape(decimal), r"\d+"
    if thousands:
        groups = "|".join(rf"[1-9]\d{{0,2}}(?:{re.escape(mark)}\d{{3}})+" for mark in _separators(thousands))
        whole = rf"(?:{groups}|\d+)"
    body = rf"(?:{whole}(?:{point}\d*)?|{point}\d+)(?:[eE][-+]?\d+)?"
    unit, gap = re.escape(prefix), r"\s{0,3}"
    signed_unit = rf"(?:([-+−]?){gap}{unit}|{unit}{gap}([-+−]))"
    return re.compile(rf"{signed_unit}{gap}({body}){gap}{re.escape(suffix)}")


def _fitting_separators(texts: Sequence[str], prefix: str = "", suffix: str = "") -> list[tuple[str, str]]:
    """Return the decimal and thousands separators that all numbers agree with, at most two of them."""
    found = []
    for decimal, other in ((".", ","), (",", ".")):
        for thousands in ("", other, *OTHER_THOUSANDS):
            pattern = _cell_pattern(decimal, thousands, prefix, suffix)
            if all(map(pattern.fullmatch, texts)):
                found.append((decimal, thousands))
                break
    return found


def _choose_separators(
    texts: Sequence[str], prefix: str, suffix: str, decimal: str | None
) -> tuple[tuple[str, str] | None, str]:
    """Return the decimal and thousands separators; None and the reason if they are ambiguous."""
    fitting = _fitting_separators(texts, prefix, suffix)
    if len(fitting) < 2:
        return (fitting[0], "") if fitting else (None, "")
    if decimal is not None:
        return next(pair for pair in fitting if pair[0] == decimal), ""
    example = next((text for text in texts if "." in text or "," in text), None)
    if example is None or fitting[0] == (".", ""):
        return fitting[0], ""
    digits = example.removeprefix(prefix).removesuffix(suffix).strip()
    return None, f"{example!r} may be {re.sub('[.,]', '', digits)} or {digits.replace(',', '.')}"


ISO = "ISO8601"
DATE_DTYPE = "datetime64[us]"
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
            return pd.to_datetime(texts, format=self.format, errors="coerce").astype(DATE_DTYPE)
        matches = texts.map(
            lambda text: bool(_ISO_PATTERN.fullmatch(text) and _has_zone(text) == self.has_zone)
        )
        zones = texts.where(matches.astype(bool)).str.replace(r" ?UTC$", "Z", regex=True)
        dates = pd.to_datetime(zones, format=ISO, errors="coerce", utc=True)
        return dates.dt.tz_localize(None).astype(DATE_DTYPE)

    def format_date(self, value: Any) -> str:
        """Return a date as the column writes it."""
        text = pd.Timestamp(value).strftime(self.shown)
        if not self.is_padded:
            text = re.sub(r"(?<![\d:])0(\d)(?=[/.\-, ]|$)", r"\1", text)
        return text

    @classmethod
    def from_dict(cls, state: Any) -> DateNotation:
        """Return the notation of a dict; raise ValueError if it is not one."""
        is_valid = (
            isinstance(state, dict)
            and set(state) == {"format", "shown", "has_zone", "is_padded"}
            and all(isinstance(state[key], str) and state[key] for key in ("format", "shown"))
            and all(isinstance(state[key], bool) for key in ("has_zone", "is_padded"))
            and (state["format"] == ISO or "%" in state["format"])
        )
        if not is_valid:
            raise ValueError(f"{state!r} does not describe how dates are written.")
        return cls(**state)

    @classmethod
    def from_dates(cls, dates: pd.Series, *, has_zone: bool) -> DateNotation:
        """Return the notation of a column of dates: with the time of day if there is one."""
        present = dates.dropna()
        shown = "%Y-%m-%d"
        if (present != present.dt.normalize()).any() or has_zone:
            has_seconds = bool(((present.dt.second != 0) | (present.dt.microsecond != 0)).any())
            shown += " %H:%M:%S" if has_seconds else " %H:%M"
        return cls(ISO, shown + (" UTC" if has_zone else ""), has_zone)

    @classmethod
    def from_format(cls, format: str, texts: pd.Series) -> DateNotation:
        """Return the notation of a format; whether days and months have two digits follows from the cells."""
        dates = texts.str.split(r"[T ]\d{1,2}:", n=1, regex=True).str[0]
        return cls(format, format, is_padded=not dates.str.contains(r"(?<!\d)\d(?!\d)").any())


def find_date_notation(texts: pd.Series, *, named: bool = False) -> tuple[DateNotation | None, str]:
    """Find out how a column writes dates.

    Parameters
    ----------
    texts : Series of str
        Cells that are not missing, without spaces around them.
    named : bool, default=False
        Whether the user says that the column has dates; then 20240501 is one.

    Returns
    -------
    notation : DateNotation or None
        None if a cell is not a date, or the order of day and month is not known.
    reason : str
        Why there is no notation, although the cells could be dates.
    """
    if len(texts) == 0:
        return None, ""
    first = str(texts.iloc[0])
    if _ISO_PATTERN.fullmatch(first):
        has_zone = _has_zone(first)
        dates = DateNotation(has_zone=has_zone).parse(texts)
        return (None if dates.isna().any() else DateNotation.from_dates(dates, has_zone=has_zone)), ""
    for format in (*_UNAMBIGUOUS, *((_COMPACT,) if named else ())):
        for time in _TIMES:
            if _fits(texts, format + time):
                return DateNotation.from_format(format + time, texts), ""
    for pair in _AMBIGUOUS:
        for time in _TIMES:
            fitting = [
                DateNotation.from_format(format + time, texts)
                for format in pair
                if _fits(texts, format + time)
            ]
            if len(fitting) == 2:
                return None, _ambiguous_example(texts, fitting)
            if fitting:
                return fitting[0], ""
    return None, ""


def _fits(texts: pd.Series, format: str) -> bool:
    """Return whether every cell has a format; the first cell decides quickly."""
    try:
        datetime.strptime(str(texts.iloc[0]), format)
    except ValueError:
        return False
    return bool(pd.to_datetime(texts.astype(object), format=format, errors="coerce").notna().all())


def _ambiguous_example(texts: pd.Series, notations: list[DateNotation]) -> str:
    """Return a cell that is a different day in two notations."""
    first, second = (notation.parse(texts) for notation in notations)
    different = (first != second).to_numpy().nonzero()[0]
    if len(different) == 0:
        return "the order of day and month is not known"
    row = different[0]
    days = [f"{dates.iloc[row]:%B} {dates.iloc[row].day}" for dates in (first, second)]
    return f"{texts.iloc[row]!r} may be {days[0]} or {days[1]}"


def _has_zone(text: str) -> bool:
    return bool(_ZONE_PATTERN.search(text))
