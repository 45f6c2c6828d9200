"""Names for the kinds of arrays that signatures mention."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Labels = NDArray[np.int64]
