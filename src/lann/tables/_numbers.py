"""How a column writes numbers: decimal and thousands separators, percent signs and currencies."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import mode
from typing import Any

import numpy as np
import pandas as pd

from lann._types import Floats

CURRENCIES = (
    "US$", "R$", "A$", "C$", "€", "$", "£", "¥", "₹", "₽", "₩", "₺", "₫", "₴", "₪", "฿", "₿", "¢",
    "EUR", "USD", "GBP", "CHF", "JPY", "CNY", "INR", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "CAD", "AUD",
    "BRL", "Kč", "Ft", "zł", "Kr.", "kr.", "Kr", "kr",
)  # fmt: skip
UNITS = ("%", "‰", *CURRENCIES)
SPACES, APOSTROPHES = " \u00a0\u202f\u2009", "'’"
# Between groups of three digits, beside the one of point and comma that is not the decimal separator.
OTHER_THOUSANDS = (" ", "'")
# Cells that are looked at before all are.
N_FIRST = 50
# Cells of each column in which the decimal separator of a table is looked for.
N_SEARCHED = 500
# Numbers with more digits are shown with an exponent.
MOST_DIGITS = 15
# Numbers with more significant digits are shown with six.
MOST_SHOWN = 10

_MINUS = ("-", "−")
_UNIT = "|".join(re.escape(unit) for unit in UNITS)
_PARTS = re.compile(
    rf"[-+−]?\s{{0,3}}(?P<prefix>(?:{_UNIT})?)(?P<gap>\s{{0,3}})[-+−]?\s{{0,3}}"
    rf"(?P<body>(?:\d[\d.,{SPACES}{APOSTROPHES}]*[\d.,]|\d|[.,]\d+)(?:[eE][-+]?\d+)?)"
    rf"(?P<gap_after>\s{{0,3}})(?P<suffix>(?:{_UNIT})?)"
)
# Postal codes and the like have leading zeros; days and months may have them, too, and are numbers.
LEAST_CODE_LENGTH = 3


@dataclass(frozen=True)
class NumberNotation:
    """How a column writes numbers.

    Attributes
    ----------
    decimal : str
        "." or ",".
    thousands : str
        What may be between groups of three digits: "", ".", ",", " " or "'".
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
        if (
            self.decimals
            and size < 10.0**MOST_DIGITS
            and abs(round(size, self.decimals) - size) <= 1e-9 * size
        ):
            body = f"{size:,.{self.decimals}f}"
        elif size < 10.0**MOST_DIGITS and size == math.floor(size):
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


@dataclass(frozen=True)
class FoundNumbers:
    """The notation of a text column; None if it is not known, with the reason if it could be numbers."""

    notation: NumberNotation | None
    reason: str = ""


def find_notation(texts: Sequence[str], decimal: str | None = None) -> FoundNumbers:
    """Find out how a column writes numbers.

    Parameters
    ----------
    texts : sequence of str
        Cells that are not missing, without spaces around them.
    decimal : {".", ","} or None
        The decimal separator of the table, which decides what "1,234" is.

    Returns
    -------
    found : FoundNumbers
        Without a notation if a cell is not a number, the notation is ambiguous, or the numbers are codes
        with leading zeros.
    """
    first = [_PARTS.fullmatch(text) for text in texts[:N_FIRST]]
    if len(texts) == 0 or (None in first and np.isnan(_plain_numbers(texts[:N_FIRST])).any()):
        return FoundNumbers(None)
    is_plain = not np.isnan(_plain_numbers(texts)).any()
    if is_plain and _are_codes(texts):
        return FoundNumbers(None, "its numbers have leading zeros, as codes have")
    if is_plain and (decimal != "," or None in first):
        return FoundNumbers(NumberNotation(decimals=_common_decimals(texts, ".")))
    units = {(match["prefix"], match["suffix"]) for match in first if match is not None}
    if len(units) != 1 or all(units.copy().pop()):
        return FoundNumbers(None)
    prefix, suffix = units.pop()
    chosen, reason = _choose(texts, prefix, suffix, decimal)
    if chosen is None:
        return FoundNumbers(None, reason)
    matches = map(_cell_pattern(*chosen, prefix, suffix).fullmatch, texts)
    gaps = [(match["gap"], match["gap_after"]) for match in first if match is not None]
    return FoundNumbers(
        NumberNotation(
            *chosen,
            prefix=prefix + mode(gap for gap, _ in gaps) if prefix else "",
            suffix=mode(gap for _, gap in gaps) + suffix if suffix else "",
            decimals=_common_decimals((match[3] for match in matches if match), chosen[0]),
        )
    )


def table_decimal(frame: pd.DataFrame, ambiguous: str | None = None) -> str | None:
    """Return the decimal separator of a table of text.

    Parameters
    ----------
    frame : DataFrame
    ambiguous : {".", ","} or None, default=None
        What is returned if the table has numbers such as "1,234" and nothing tells what they are.

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
        fitting = {decimal for decimal, _ in _fitting(bodies)}
        for decimal in fitting if len(fitting) == 1 else ():
            n_columns[decimal] += 1
        is_ambiguous |= len(fitting) == 2 and any("," in body for body in bodies)
    if n_columns["."] != n_columns[","]:
        return max(n_columns, key=lambda decimal: n_columns[decimal])
    return ambiguous if is_ambiguous or n_columns[","] else "."


def _plain_numbers(texts: Sequence[str]) -> Floats:
    numbers = pd.to_numeric(np.array(texts, dtype=object), errors="coerce").astype("float64")
    for position in np.flatnonzero(np.isnan(numbers)).tolist():
        if texts[position].startswith("−"):  # the minus sign of typography
            ascii_text = texts[position].replace("−", "-", 1)
            numbers[position] = pd.to_numeric(np.array([ascii_text], dtype=object), errors="coerce")[0]
    return numbers


def _are_codes(texts: Sequence[str]) -> bool:
    """Return whether all cells are digits, as many in each, and some start with 0."""
    length = len(texts[0])
    return (
        length >= LEAST_CODE_LENGTH
        and all(len(text) == length and text.isdecimal() for text in texts)
        and any(text.startswith("0") for text in texts)
    )


def _common_decimals(bodies: Iterable[str], decimal: str) -> int | None:
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
    """Return the characters that a separator between thousands stands for."""
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


def _fitting(texts: Sequence[str], prefix: str = "", suffix: str = "") -> list[tuple[str, str]]:
    """Return the decimal and thousands separators that all numbers agree with, at most two of them."""
    found = []
    for decimal, other in ((".", ","), (",", ".")):
        for thousands in ("", other, *OTHER_THOUSANDS):
            pattern = _cell_pattern(decimal, thousands, prefix, suffix)
            if all(map(pattern.fullmatch, texts)):
                found.append((decimal, thousands))
                break
    return found


def _choose(
    texts: Sequence[str], prefix: str, suffix: str, decimal: str | None
) -> tuple[tuple[str, str] | None, str]:
    """Return the decimal and thousands separators; None and the reason if they are ambiguous."""
    fitting = _fitting(texts, prefix, suffix)
    if len(fitting) < 2:
        return (fitting[0], "") if fitting else (None, "")
    if decimal is not None:
        return next(pair for pair in fitting if pair[0] == decimal), ""
    example = next((text for text in texts if "." in text or "," in text), None)
    if example is None or fitting[0] == (".", ""):
        return fitting[0], ""
    digits = example.removeprefix(prefix).removesuffix(suffix).strip()
    return None, f"{example!r} may be {re.sub('[.,]', '', digits)} or {digits.replace(',', '.')}"


def number_notation_from_dict(state: dict[str, Any]) -> NumberNotation:
    """Return the notation of a dict; raise ValueError if it is not one."""
    expected = {"decimal", "thousands", "prefix", "suffix", "decimals"}
    decimals = state.get("decimals")
    is_valid = (
        set(state) == expected
        and state["decimal"] in (".", ",")
        and state["thousands"] in ("", ".", ",", *OTHER_THOUSANDS)
        and state["thousands"] != state["decimal"]
        and all(
            isinstance(state[key], str) and state[key].strip() in ("", *UNITS) for key in ("prefix", "suffix")
        )
        and (decimals is None or (type(decimals) is int and 0 <= decimals <= MOST_DIGITS))
    )
    if not is_valid:
        raise ValueError(f"{state!r} does not describe how numbers are written.")
    return NumberNotation(**state)
