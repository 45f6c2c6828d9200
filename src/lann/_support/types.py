"""Names for the kinds of arrays that signatures mention, and the types in which a model keeps its numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Labels = NDArray[np.int64]

# With more rows than this, training goes by tiles, and a model keeps numbers in single precision.
MANY_ROWS = 50_000


def rows_type(given: Any, n_rows: int) -> np.dtype[Any]:
    """Return the type in which training rows are kept, given that of X."""
    return np.dtype(np.float32 if n_rows > MANY_ROWS and given == np.float32 else np.float64)


def weights_type(n_rows: int) -> np.dtype[Any]:
    """Return the type in which the weights of points are kept."""
    return np.dtype(np.float32 if n_rows > MANY_ROWS else np.float64)
