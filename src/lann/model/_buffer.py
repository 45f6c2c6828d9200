"""Arrays with spare capacity, to which rows are appended."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Rows for which a new array has room, at least.
FEWEST_ROWS = 16


class Buffer:
    """An array whose first rows never change, and that has room for further ones.

    Several versions of a table share it, each with the number of rows that it has: what is appended for a
    later version does not change an earlier one. Appending one row takes constant time on average, as the
    capacity is doubled where it does not suffice.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, ...)
    """

    def __init__(self, rows: NDArray[Any]) -> None:
        self._rows, self._n_used = rows, len(rows)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values, to which those that are appended are converted."""
        return self._rows.dtype

    def head(self, n_rows: int) -> NDArray[Any]:
        """Return a view of the first rows."""
        return self._rows[:n_rows]

    def appended(self, n_before: int, rows: NDArray[Any]) -> Buffer:
        """Return a buffer with the first `n_before` rows of this one, and others after them.

        It is this one where there is room, and where the rows that follow are not those of another version.
        """
        n_after = n_before + len(rows)
        if n_before == self._n_used and n_after <= len(self._rows):
            self._rows[n_before:n_after] = rows
            self._n_used = n_after
            return self
        capacity = max(2 * n_before, n_after, FEWEST_ROWS)
        grown: NDArray[Any] = np.empty((capacity, *self._rows.shape[1:]), self._rows.dtype)
        grown[:n_before] = self._rows[:n_before]
        grown[n_before:n_after] = rows
        buffer = Buffer(grown)
        buffer._n_used = n_after
        return buffer
