"""Hostile values of parameters and arguments."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

HOSTILE: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2, 3, 44, 45, 46, 10**6, 2**31, 2**63, 10**30, -(10**30), 10**400, 0.0,
    -0.0, 0.5, 1.0, 1.5, -0.5, 3.0, 1e-300, 5e-324, 1e-9, 1e300, 1.7e308, float("nan"), float("inf"),
    -float("inf"), "", "x", "auto", "1", b"x", "\ud800", "balanced", "uniform", [], {}, (), set(), [1],
    [[1.0]], {"a": 1}, {0: 2.0}, {0: -1.0}, {0: float("nan")}, {0: "x"}, {1: 1e-300, 2: 1e300},
    {0: 0.0, 1: 0.0, 2: 0.0}, {0: 0.0}, {(0,): 1}, ("point",), ("point", "x"), ["class", "map"],
    (object(),), ([],), object(), np.array([1, 2]), np.array(3), np.array(["point"]), np.eye(4), np.eye(3),
    np.full((4, 4), np.nan), np.int64(2), np.float32(0.5), np.bool_(True), np.str_("full"), np.nan, pd.NA,
    pd.NaT, Decimal("1"), Fraction(1, 2), 1j, len, int, datetime.date(2020, 1, 1), np.random.RandomState(0),
    slice(None), range(3), Ellipsis, [0, 1], [True, False, True, False], ["a"], [9], [-1],
)  # fmt: skip
# Many iterations are allowed, and take as long as they say.
TAKES_TIME = ("max_iter",)


def values_of(name: str) -> list[Any]:
    """Return the hostile values of a parameter, without those that are allowed and take very long."""
    if name not in TAKES_TIME:
        return list(HOSTILE)
    return [v for v in HOSTILE if not (isinstance(v, int) and not isinstance(v, bool) and v > 3)]
