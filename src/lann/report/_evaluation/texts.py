"""Figures and explanations of an evaluation as text, the same in the terminal and in the page."""

from __future__ import annotations

import math

from lann._format import percent
from lann.report._evaluation.scores import Score

INTERVALS = (
    "Intervals hold the score with 95% confidence: by Wilson's formula for accuracies, precisions and "
    "recalls, otherwise from random resamples of the test rows."
)
NO_VALUE = "–"


def figure(value: float, *, digits: int = 3, signed: bool = False) -> str:
    """Return a figure as text; one that is not defined is a dash.

    >>> figure(0.95432), figure(float("nan")), figure(-0.01, signed=True)
    ('0.954', '–', '−0.010')
    """
    if math.isnan(value):
        return NO_VALUE
    text = f"{abs(value):.{digits}f}"
    sign = "−" if value < 0 and float(text) else "+" if signed and float(text) else ""
    return sign + text


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
    return NO_VALUE if math.isnan(value) else percent(value, digits)


def p_value_text(p_value: float) -> str:
    """Return a p-value as text.

    >>> p_value_text(0.00001), p_value_text(0.034), p_value_text(1.0)
    ('<0.001', '0.034', '1')
    """
    if p_value < 0.001:
        return "<0.001"
    return f"{p_value:.3f}" if p_value < 0.9995 else "1"


def count_text(amount: float) -> str:
    """Return a number of rows, which has decimals if rows have weights.

    >>> count_text(12.0), count_text(3.25)
    ('12', '3.2')
    """
    return f"{amount:,.0f}" if float(amount).is_integer() else f"{amount:,.1f}"
