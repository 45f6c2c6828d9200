"""The one rule on the size of numbers: those from which distances can be computed.

Distances are sums of squares in float64. Every number, in training rows and in queries, is at most
`LARGEST_VALUE`, and a feature that is not constant has training values that differ by `SMALLEST_SPREAD` or
more: squares neither overflow nor vanish. A learned metric can magnify differences; what it maps a number to
is at most `LARGEST_IMAGE`, so that the weighted sum of the squares is finite, too. Everything else is an
error of one sentence. Whatever reads numbers asks the functions of this module: `fit`, `partial_fit`, all
methods that take queries, streams, tables and model files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lann._support.types import Floats

# Names of features, or what returns them if they are needed.
Names = Sequence[Any] | NDArray[Any] | Callable[[], Sequence[Any] | NDArray[Any]]

LARGEST_VALUE = 1e140
SMALLEST_SPREAD = 1e-140
# Its square, times e^12 for learned weights and 10^6 for the products of up to 1000 features, is finite.
LARGEST_IMAGE = 1e144
# The same for points that are kept in float32, as they are measured in float64.
LARGEST_SINGLE_IMAGE = 1e35
# Up to this many numbers, a copy of them costs less than a second pass.
FEW_NUMBERS = 4096


class Limits(NamedTuple):
    """How large the values of each feature can be.

    Attributes
    ----------
    by_feature : (n_features,) or (1,)
        One for all features, or one for each.
    lowest : float
        The smallest of them.
    """

    by_feature: Floats
    lowest: float


# For numbers that are kept in float32, whose distances are computed in float64: the same for all features.
SINGLE_LIMITS = Limits(np.full(1, 1e35), 1e35)


def limits_for(factors: Floats, largest_image: float = LARGEST_IMAGE) -> Limits:
    """Return how large values can be if a metric multiplies them by given factors, at least 0.

    >>> limits_for(np.array([0.0, 1.0, 1e24])).by_feature.tolist()
    [1e+140, 1e+140, 1e+120]
    """
    with np.errstate(divide="ignore", over="ignore"):
        by_feature = np.minimum(largest_image / factors, LARGEST_VALUE)
    return Limits(by_feature, float(by_feature.min(initial=LARGEST_VALUE)))


def is_small(X: Any, limit: float = LARGEST_VALUE) -> bool:
    """Return whether all values are known to be within a limit; gaps and infinite values are not.

    For a few rows as for many, this takes no longer than to look for infinite values.
    """
    if X.size <= FEW_NUMBERS:
        return X.size == 0 or float(np.abs(X).max()) <= limit
    return float(X.max()) <= limit and float(X.min()) >= -limit


def find_too_large(X: Floats, limits: Limits | None = None) -> int | None:
    """Return the first feature with a value beyond its limit, None if there is none; gaps have no size."""
    if is_small(X, LARGEST_VALUE if limits is None else limits.lowest):
        return None
    # In float64, as the limits have no counterpart in float32.
    by_feature = np.float64(LARGEST_VALUE) if limits is None else limits.by_feature
    too_large = (np.abs(X) > by_feature).any(axis=0)
    return int(too_large.argmax()) if too_large.any() else None


def check_values(X: Floats, names: Names, limits: Limits | None = None) -> None:
    """Raise ValueError if a value is beyond its limit: of a query, or of a row that is added to others.

    Parameters
    ----------
    X : (n_rows, n_features)
        NaN is a gap.
    names : (n_features,) or callable
        Of the features, or what returns them.
    limits : Limits or None
        Of the model that measures; None is `LARGEST_VALUE` for all.
    """
    feature = find_too_large(X, limits)
    if feature is None:
        return
    limit = LARGEST_VALUE if limits is None else float(limits.by_feature[feature])
    name = _name(names, feature)
    if limit == LARGEST_VALUE:
        raise ValueError(too_large(name))
    raise ValueError(
        f"Feature {name!r} has a value that is too far from those of the training rows to be measured; "
        f"values can be at most {limit:.1g}."
    )


def check_measured(distances: Floats) -> None:
    """Raise ValueError if distances are not finite.

    For models whose metrics depend on the query, so that there are no limits before they are computed.
    """
    if not np.isfinite(distances).all():
        raise ValueError(
            "A query has a value that is too far from those of the training rows to be measured; scale the "
            "features."
        )


def check_training_values(X: Floats, names: Names) -> None:
    """Raise ValueError if values of training rows are too large, or differ by too little, to be squared.

    Parameters
    ----------
    X : (n_rows, n_features)
        NaN is a gap.
    names : (n_features,) or callable
        Of the features, or what returns them.
    """
    check_values(X, names)
    # Without the values that are NaN; a feature that has no others is constant.
    spreads = np.fmax.reduce(X, axis=0) - np.fmin.reduce(X, axis=0)
    too_close = (spreads > 0) & (spreads < SMALLEST_SPREAD)
    if too_close.any():
        name = _name(names, int(too_close.argmax()))
        raise ValueError(
            f"The values of feature {name!r} differ by less than {SMALLEST_SPREAD:g}, which "
            "is too little to be squared; scale them up."
        )


def too_large(name: Any) -> str:
    """Return the sentence about a feature whose values are too large."""
    return (
        f"The values of feature {name!r} are too large to be squared; scale them down to at most "
        f"{LARGEST_VALUE:g}."
    )


def _name(names: Names, feature: int) -> Any:
    name = (names() if callable(names) else names)[feature]
    return name.item() if isinstance(name, np.generic) else name
