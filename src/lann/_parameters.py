"""One clear sentence for every parameter that is not what it should be."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np


def check_choice(name: str, value: Any, choices: Iterable[Any]) -> None:
    allowed = list(choices)
    if not _is_one_of(value, allowed):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {value!r}.")


def check_number(
    name: str,
    value: Any,
    *,
    low: float,
    high: float = float("inf"),
    integer: bool = False,
    open_low: bool = False,
    open_high: bool = False,
    also: Iterable[Any] = (),
) -> None:
    """`also` lists values that are allowed besides numbers: None, "auto"."""
    if _is_one_of(value, also):
        return
    kind = Integral if integer else Real
    right = isinstance(value, kind) and not isinstance(value, bool) and math.isfinite(value)
    if right:
        right = (value > low if open_low else value >= low) and (value < high if open_high else value <= high)
    if not right:
        what = "an integer" if integer else "a number"
        limits = f"{'above' if open_low else 'of at least'} {low:g}"
        if high < float("inf"):
            limits += f" and {'below' if open_high else 'at most'} {high:g}"
        others = "".join(f", or {other!r}" for other in also)
        raise ValueError(f"{name} must be {what} {limits}{others}; got {value!r}.")


def _is_one_of(value: Any, allowed: Iterable[Any]) -> bool:
    """Whether it is one of some strings, bools and None; 1 is not True, but NumPy's True is."""
    if isinstance(value, np.bool_):
        value = bool(value)
    return any(value is other or (isinstance(value, str) and value == other) for other in allowed)
