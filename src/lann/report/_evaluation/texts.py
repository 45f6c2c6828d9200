"""Figures of an evaluation as text."""

from __future__ import annotations

import math

from lann._format import NO_FIGURE, figure, percent
from lann.report._evaluation.scores import Score


def interval(score: Score, *, signed: bool = False) -> str:
    """Return the interval of a score as text; "" if it has none.

    >>> interval(Score(0.95, 0.91, 0.98)), interval(Score(0.95))
    ('0.910 to 0.980', '')
    """
    if math.isnan(score.low):
        return ""
    return f"{figure(score.low, signed=signed)} to {figure(score.high, signed=signed)}"


def share_interval(score: Score) -> str:
    """Return the interval of a share as percentages; "" if it has none."""
    return "" if math.isnan(score.low) else f"{percent(score.low)} to {percent(score.high)}"


def share(value: float, digits: int = 1) -> str:
    """Return a share as a percentage; one that is not defined is a dash."""
    return NO_FIGURE if math.isnan(value) else percent(value, digits)


def count_text(amount: float) -> str:
    """Return a number of rows, which has decimals if rows have weights.

    >>> count_text(12.0), count_text(3.25)
    ('12', '3.2')
    """
    return f"{amount:,.0f}" if float(amount).is_integer() else f"{amount:,.1f}"
