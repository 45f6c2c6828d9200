"""Arrays and a header as one compressed text, which `data.js` reads."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann._support.types import Floats

# Offsets are multiples of this: a typed array of JavaScript can begin there.
ALIGNMENT = 8
# With more distinct values, the values themselves are stored.
MOST_DISTINCT = 2**16 - 1


class Pack:
    """Named arrays that are added one after another.

    The bytes of the numbers of an array are stored plane by plane, first all first bytes: those of similar
    numbers are alike, and take little space when they are compressed.
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self.entries: dict[str, dict[str, Any]] = {}

    def add(self, name: str, values: Any, dtype: str = "f8") -> None:
        """Add an array of one of the types u1, u2, u4, i4, f4 and f8; None adds nothing."""
        if values is None:
            return
        array = np.ascontiguousarray(values, f"<{dtype}")
        planes = array.reshape(-1, 1).view(np.uint8).T
        self.entries[name] = {"type": dtype, "length": array.size, "at": self._size}
        content = np.ascontiguousarray(planes).tobytes()
        self._parts.append(content + bytes(-len(content) % ALIGNMENT))
        self._size += len(self._parts[-1])

    def add_column(self, name: str, column: Floats, *, single: bool) -> None:
        """Add numbers of which many may be equal, NaN where missing.

        Parameters
        ----------
        name : str
        column : ndarray of shape (n_rows,)
        single : bool
            Whether numbers that are nearly all different are rounded to float32.
        """
        distinct, codes = np.unique(column, return_inverse=True)
        if len(distinct) > min(MOST_DISTINCT, len(column) // 2 + 256):
            self.add(name, column, "f4" if single else "f8")
            return
        self.add(f"{name} values", distinct)
        self.add(name, codes, "u1" if len(distinct) <= 2**8 else "u2")

    def to_text(self, header: dict[str, Any]) -> str:
        """Return the header and all arrays, deflated and in base64."""
        document = json.dumps({**header, "arrays": self.entries}, ensure_ascii=False, allow_nan=False)
        start = document.encode(errors="replace")
        start += b" " * (-len(start) % ALIGNMENT)
        size = np.array([len(start), 0], "<u4").tobytes()
        return b64encode(zlib.compress(b"".join([size, start, *self._parts]), 6)).decode()


def rounded(values: NDArray[Any], n_bits: int = 36) -> NDArray[Any]:
    """Return float64 numbers with a shorter mantissa, which takes less space; others as they are."""
    if values.dtype != np.float64:
        return values
    mantissas, exponents = np.frexp(values)
    return np.ldexp(np.rint(np.ldexp(mantissas, n_bits)), exponents - n_bits)
