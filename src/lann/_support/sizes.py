"""The one rule on the size of numbers: those from which distances can be computed.

Distances are sums of squares in float64. Every number, in training rows and in queries, is at most
`LARGEST_VALUE`, and a feature that is not constant has training values that differ by `SMALLEST_SPREAD` or
more: squares of standardized numbers neither overflow nor vanish, with room for learned weights. Everything
else is an error of one sentence. Whatever reads numbers asks the functions of this module: `fit`,
`partial_fit`, all methods that take queries, streams, tables and model files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann._support.types import Floats

# Names of features, or what returns them if they are needed.
Names = Sequence[Any] | NDArray[Any] | Callable[[], Sequence[Any] | NDArray[Any]]

LARGEST_VALUE = 1e60
SMALLEST_SPREAD = 1e-60
# For numbers that are kept in float32, whose distances are computed in float64.
LARGEST_SINGLE = 1e35


def find_too_large(X: Floats, limit: float = LARGEST_VALUE) -> int | None:
    """Return the first feature with a value beyond a limit, None if there is none; gaps have no size."""
    if X.size == 0 or (float(X.max()) <= limit and float(X.min()) >= -limit):  # not so if there are gaps
        return None
    too_large = (np.abs(X) > np.float64(limit)).any(axis=0)
    return int(too_large.argmax()) if too_large.any() else None


def check_values(X: Floats, names: Names) -> None:
    """Raise ValueError if a value is too large to be squared.

    Parameters
    ----------
    X : (n_rows, n_features)
        NaN is a gap.
    names : (n_features,) or callable
        Of the features, or what returns them.
    """
    feature = find_too_large(X)
    if feature is not None:
        raise ValueError(too_large(_name(names, feature)))


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
