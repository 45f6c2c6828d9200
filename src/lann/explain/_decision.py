"""Decisions of a reject option about predictions, and why it has rejected them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from lann._support.format import class_text, percent, to_plain

ACCEPTED, AMBIGUOUS, FAR = DECISIONS = ("accepted", "ambiguous", "far")
# What a certainty is, in a sentence about a row.
MEASURES = {
    "probability": "probability",
    "margin": "lead over the runner-up",
    "novelty": "closeness to the training rows",
    "combined": "certainty",
}
# Measures that are shares, which are shown in percent.
SHARES = ("probability", "margin", "combined")
MOST_DIGITS = 6
# Larger novelties are not told apart.
LARGEST_NOVELTY = 1000.0


class Decision(NamedTuple):
    """Whether a prediction was accepted, and the figures that decided.

    `lann.reject.RejectOption.reasons` returns it for every row.

    Attributes
    ----------
    decision : {"accepted", "ambiguous", "far"}
        "ambiguous" if the certainty is below its threshold; "far" if the novelty is above its own.
    certainty : float
    threshold : float
        The least certainty of an accepted row; -inf if no row is rejected as ambiguous.
    novelty : float, default=nan
        How far the row is from the training rows; NaN if it is not measured.
    novelty_threshold : float, default=nan
        The largest novelty of an accepted row.
    region : object, default=None
        The class or the number of the region that the threshold is of; None if it is that of all rows.
    measure : {"probability", "margin", "novelty", "combined"}, default="probability"
        What the certainty is.
    by : {"global", "class", "local"}, default="global"
        Whether there is one threshold, one for each class, or one for each region.

    Examples
    --------
    >>> from lann.explain import Decision
    >>> decision = Decision("ambiguous", 0.54, 0.71)
    >>> decision.is_rejected, decision.reason
    (True, 'Its probability of 54% is below the 71% required.')
    """

    decision: str
    certainty: float
    threshold: float
    novelty: float = math.nan
    novelty_threshold: float = math.nan
    region: Any = None
    measure: str = "probability"
    by: str = "global"

    @property
    def is_rejected(self) -> bool:
        """Whether the prediction was rejected."""
        return self.decision != ACCEPTED

    @property
    def reason(self) -> str:
        """Why the prediction was rejected, as a sentence; "" if it was accepted."""
        if self.decision == ACCEPTED:
            return ""
        if self.decision == AMBIGUOUS:
            own, required = _two_figures(self.certainty, self.threshold, as_share=self.measure in SHARES)
            where = {"class": f" of {class_text(self.region)}", "local": " in its region"}.get(self.by, "")
            return f"Its {MEASURES[self.measure]} of {own} is below the {required} required{where}."
        if not math.isfinite(self.novelty):
            return "Its distance to the training rows is too large to be measured."
        own, allowed = _two_figures(self.novelty, self.novelty_threshold, as_share=False)
        if self.novelty > LARGEST_NOVELTY > self.novelty_threshold:
            own = f"more than {LARGEST_NOVELTY:.0f}"
        return (
            f"Its nearest rows are {own} times as far away as is usual for training rows; up to {allowed} "
            "times is accepted."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the figures that decided, as JSON has them: what is not finite is None.

        Returns
        -------
        values : dict
            With ``measure``, ``certainty``, ``threshold``, ``novelty``, ``novelty_threshold``, ``by`` and
            ``region``.
        """
        plain: dict[str, Any] = to_plain(self)
        del plain["decision"]
        return plain


def _two_figures(value: float, limit: float, *, as_share: bool) -> tuple[str, str]:
    """Return two numbers with as many digits as distinguish them, two at least.

    >>> _two_figures(0.54, 0.71, as_share=True), _two_figures(4.2, 1.8333, as_share=False)
    (('54%', '71%'), ('4.2', '1.8'))
    >>> _two_figures(0.7096, 0.71, as_share=True)
    ('70.96%', '71.00%')
    """
    for digits in range(MOST_DIGITS):
        if as_share:
            texts = percent(value, digits), percent(limit, digits)
        else:
            texts = _plain_figure(value, digits + 2), _plain_figure(limit, digits + 2)
        if texts[0] != texts[1]:
            break
    return texts


def _plain_figure(value: float, n_digits: int) -> str:
    """Return a number with some significant digits, without an exponent if it is between 1 and 10^6."""
    return f"{value:.0f}" if 10.0 ** (n_digits - 1) <= abs(value) < 1e6 else f"{value:.{n_digits}g}"
