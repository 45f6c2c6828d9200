"""Values of an explanation in context: beside the training rows, and beside what is typical of a class."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lann._format import is_missing, percent, value_text
from lann._types import Floats, Indices
from lann.encoding import TableValues

if TYPE_CHECKING:
    from lann.explain._explanation import Explanation


def percentiles(explanation: Explanation) -> Floats | None:
    """Return the percentiles of the values among the training rows; None if these are unknown."""
    known = explanation._distribution
    return None if known is None else _by_feature(explanation, known.percentiles)


def category_shares(explanation: Explanation) -> Floats | None:
    """Return the shares of the training rows with the categories; None if these are unknown."""
    known = explanation._distribution
    return None if known is None else _by_feature(explanation, known.category_shares)


def typical_ranges(explanation: Explanation) -> Floats | None:
    """Return the typical range of each number in each class; None if these are unknown."""
    known = explanation._distribution
    if known is None:
        return None
    columns = _columns_of(explanation)
    return np.where((columns >= 0)[:, None], known.ranges[:, columns], np.nan)


def typical_texts(explanation: Explanation, label: Any) -> NDArray[Any]:
    """Return what is typical of a class as text, in the user's values.

    Of a number or a date, it is the range of the middle 80% of the training rows of the class; of a category
    the most frequent ones, with the shares of the rows of the class that have them: those that have 80%
    together, three at most.

    Parameters
    ----------
    explanation : Explanation
    label : object
        One of the classes.

    Returns
    -------
    texts : ndarray of shape (n_features,)
        "" for a feature of which nothing is known, such as a group of several.

    Raises
    ------
    ValueError
        If the label is not one of the classes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> explanation = LANNClassifier(random_state=0).fit(X, y).explain(X[:1])
    >>> explanation.typical_texts(0).tolist()
    ['4.5 to 5.5', '3 to 3.9', '1.3 to 1.7', '0.1 to 0.4']
    """
    found = np.flatnonzero(explanation.classes == label)
    if not len(found):
        raise ValueError(f"label must be one of the classes {explanation.classes.tolist()}; got {label!r}.")
    columns, texts = _columns_of(explanation), np.full(len(explanation.feature_names), "", dtype=object)
    known, training = explanation._distribution, explanation._training_values
    if known is None or training is None:
        return texts
    rows, shares = (part[found[0]] for part in known.typical)  # (3, n_columns)
    values = training.cells(rows) if isinstance(training, TableValues) else None
    if values is None:
        values = np.asarray(training)[rows[:, columns], np.arange(len(columns))]  # (3, n_features)
    for feature in np.flatnonzero(columns >= 0):
        used = rows[:, columns[feature]] >= 0
        texts[feature] = _typical_text(values[used, feature], shares[used, columns[feature]])
    return texts


def _typical_text(values: NDArray[Any], shares: Floats) -> str:
    """Return a range as "low to high", or categories with their shares."""
    shown = [value_text(value) for value in values if not is_missing(value)]
    if len(shown) < len(values):
        return ""
    if not np.isnan(shares).any():
        pairs = zip(shown, shares, strict=True)
        return ", ".join(f"{text} {percent(float(share))}" for text, share in pairs)
    return " to ".join(dict.fromkeys(shown))  # a single value is written once


def percentile_text(percentile: float) -> str:
    """Return where a number is among the training rows; "" for NaN.

    >>> percentile_text(96.2), percentile_text(0.0), percentile_text(100.0)
    ('96th percentile', 'below all', 'above all')
    """
    rank = rank_text(percentile)
    return f"{rank} percentile" if rank and 0 < percentile < 100 else rank


def rank_text(percentile: float) -> str:
    """Return a percentile as a rank; "" for NaN.

    >>> rank_text(96.2), rank_text(0.4), rank_text(0.0), rank_text(100.0)
    ('96th', '1st', 'below all', 'above all')
    """
    if np.isnan(percentile):
        return ""
    if percentile in (0.0, 100.0):
        return "above all" if percentile else "below all"
    return ordinal(min(max(round(float(percentile)), 1), 99))


def ordinal(number: int) -> str:
    """Return an ordinal number.

    >>> [ordinal(number) for number in (1, 2, 3, 4, 11, 21, 92)]
    ['1st', '2nd', '3rd', '4th', '11th', '21st', '92nd']
    """
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if 10 <= number % 100 <= 20 else ending}"


def _columns_of(explanation: Explanation) -> Indices:
    """Return the column of the training rows of each feature, -1 for a group of several."""
    columns = explanation._columns
    return np.arange(len(explanation.feature_names)) if columns is None else columns


def _by_feature(explanation: Explanation, function: Callable[[Floats], Floats]) -> Floats | None:
    """Return what a function of rows of numbers returns for each feature; NaN for groups of several."""
    if explanation._rows is None:
        return None
    values, columns = function(explanation._rows), explanation._columns
    return values if columns is None else np.where(columns >= 0, values[:, columns], np.nan)
