"""The types in which a model keeps its numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

# Values of the parameter `storage`, beside "auto".
DOUBLE, SINGLE = "float64", "float32"
# With more rows than this, training goes by tiles, and "auto" means single precision.
MANY_ROWS = 50_000


def rows_type(storage: str, given: Any, n_rows: int) -> np.dtype[Any]:
    """Return the type in which so many training rows are kept, given that of X."""
    if storage == "auto":
        storage = SINGLE if n_rows > MANY_ROWS and given == np.float32 else DOUBLE
    return np.dtype(storage)


def weights_type(storage: str, n_rows: int) -> np.dtype[Any]:
    """Return the type in which the weights of so many points are kept."""
    if storage == "auto":
        storage = SINGLE if n_rows > MANY_ROWS else DOUBLE
    return np.dtype(storage)
