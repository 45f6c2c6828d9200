"""What is shown of an explained prediction of a number."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lann.explain._view import ExplainedRow, Others, about_distance, finished, joined, rows_text

if TYPE_CHECKING:
    from lann.explain._explanation import Explanation

# The share of the vote of the neighbors whose range of values is told.
TYPICAL_SHARE = 0.8


def _documented(method: Any) -> Any:
    """Take over the docstring of the method that is replaced."""
    method.__doc__ = getattr(ExplainedRow, method.__name__).__doc__
    return method


class ExplainedValue(ExplainedRow):
    """A view of one explained prediction of a number: see `ExplainedRow`.

    `ValueExplanation.row` returns it. Supports add up to the prediction minus the base value.

    Parameters
    ----------
    explanation : ValueExplanation
    i : int
        Position of the query in the explanation.
    position : int or None, default=None
        The row number where the queries have none; None is `i`.

    Attributes
    ----------
    prediction : float
    interval : tuple of float
        Ends of the interval that 90% of such rows are in.
    neighbor_labels, adjusted : ndarray of shape (k,)
        Values of the neighbors, and these adjusted to the row.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from lann import LANNRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> row = LANNRegressor(random_state=0).fit(X[9:], y[9:]).explain(X[:9]).row(0)
    >>> bool(abs(row.base_value + row.support.sum() - row.prediction) < 1e-9)
    True
    """

    is_value = True

    def _set_labels(self, e: Any, i: int) -> None:
        self.prediction, self.interval = float(e.predictions[i]), tuple(e.intervals[i].tolist())
        self.adjusted, self.is_doubtful = e.adjusted[i, self._voted], False

    @cached_property
    def _n_digits(self) -> int:
        """Digits behind the point, so that a hundredth of the standard deviation can be seen."""
        return max(2 - math.floor(math.log10(self._explanation._unit)), 0)

    @_documented
    def amount_text(self, amount: float, digits: int = 0) -> str:
        return f"{amount + 0.0:,.{self._n_digits}f}".replace("-", "−")

    @_documented
    def signed_text(self, amount: float, digits: int = 1) -> str:
        text = self.amount_text(abs(amount))
        sign = "" if not text.strip("0.,") else "+" if amount > 0 else "−"
        return sign + text

    @_documented
    def error_text(self, feature: int) -> str:
        return self.amount_text(2 * self.support_errors[feature])

    @property
    def output(self) -> float:
        return self.prediction

    @property
    def output_name(self) -> str:
        return str(self.classes[0])

    @property
    def base_value(self) -> float:
        return float(self.base_values[0])

    @property
    def typical(self) -> None:
        return None

    @_documented
    def supported_class(self, feature: int) -> None:
        return None

    @_documented
    def strongest(self, most: int) -> list[int]:
        return np.flatnonzero(self.is_reason)[:most].tolist()

    @property
    def adjustment(self) -> float:
        """What the adjustment of the neighbors' values adds to their mean."""
        return self.prediction - float(self.vote_shares @ self.neighbor_labels)

    @property
    def output_interval(self) -> str:
        """The interval as text, such as "28.1 to 44.0"."""
        return " to ".join(self.amount_text(end) for end in self.interval)

    @property
    def similar_text(self) -> str:
        """How many similar cases there are, and their values: "40, most of them from 30.1 to 41.5"."""
        return f"{len(self.neighbors)}, most of them {self.similar_range}"

    @property
    def similar_range(self) -> str:
        """The range of the middle 80% of the vote, such as "from 30.1 to 41.5"."""
        order = np.argsort(self.neighbor_labels, kind="stable")
        total = np.cumsum(self.vote_shares[order])
        ends = np.searchsorted(total, [0.5 - 0.5 * TYPICAL_SHARE, 0.5 + 0.5 * TYPICAL_SHARE])
        low, high = self.neighbor_labels[order][np.minimum(ends, len(order) - 1)]
        return f"from {self.amount_text(low)} to {self.amount_text(high)}"

    @property
    def others(self) -> Others | None:
        shares = self.vote_shares[self.n_listed :]
        return Others(len(shares), float(shares.sum()), []) if len(shares) else None

    @property
    def disagreeing(self) -> Any:
        return np.empty(0, np.int64)

    @_documented
    def in_words(self, n_features: int = 3, n_neighbors: int = 3) -> str:
        value = f"{self.output_name} {self.amount_text(self.prediction)}"
        first = f"{value}, in 90% of such cases from {self.output_interval}"
        cases = "Nearest cases" if self.is_far else "Similar cases"
        nearest = np.arange(min(n_neighbors, len(self.neighbors)))
        similar = f"{cases}: {self.similar_text}, such as {rows_text(self, nearest, n_neighbors)}"
        if self.signed_text(self.adjustment)[0] in "+−":
            similar += f"; adjusted to this row by {self.signed_text(self.adjustment)}"
        up, down = (joined([self.reason_text(j) for j in self.reasons(s, n_features)]) for s in (1, -1))
        reasons = [f"raised by {up}" if up else "", f"lowered by {down}" if down else ""]
        base = f"from {self.amount_text(self.base_value)} where nothing is known"
        told = "; ".join(filter(None, reasons)) or "no single column"
        return finished(self, [first, *about_distance(self), similar, f"Reasons, {base}: {told}"])


def of_values(explanation: Explanation) -> bool:
    """Return whether the predictions are numbers."""
    return explanation._row_view is ExplainedValue
