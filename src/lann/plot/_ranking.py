"""The order in which features and rows are shown."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def largest_first(values: NDArray[np.float64], n_largest: int | None = None) -> NDArray[np.int64]:
    """Return the indices of the largest values, largest first and ties in order; None returns all."""
    order = np.argsort(-np.asarray(values), kind="stable")
    return order if n_largest is None else order[:n_largest]
