"""Arrays as entries of a model file: the format .npy of NumPy, with one header for given dtype and shape.

`read_array` gets dtype and shape from the declaration of a field, and compares the bytes with the header that
`write_array` writes for these. The header of a file is therefore never interpreted.
"""

from __future__ import annotations

import math
import re
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lann.persist._errors import InvalidModelFile, shown

NUMBERS = ("<f8", "<f4", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1", "|b1")
"""The dtypes of numbers that a file may contain, as NumPy names them."""

Order = Literal["C", "F"]

TEXT = re.compile(r"<U([1-9][0-9]{0,5})")
MOST_DIMENSIONS = 4
_MAGIC, _ALIGNMENT = b"\x93NUMPY\x01\x00", 64
_LAST_CHARACTER, _SURROGATES = 0x10FFFF, (0xD800, 0xDFFF)


def dtype_name(dtype: np.dtype[Any]) -> str:
    """Return the name of a dtype in files: little-endian on every machine."""
    return dtype.newbyteorder("<").str


def write_array(array: NDArray[Any], dtype: str, order: Order) -> bytes:
    """Return the bytes of an entry.

    Parameters
    ----------
    array : ndarray
    dtype : str
        As `dtype_name` returns it.
    order : {"C", "F"}
        In which order of its dimensions the values are written.
    """
    return _header(dtype, array.shape, order) + array.astype(dtype, copy=False).tobytes(order)


def read_array(
    content: memoryview, dtype: str, shape: tuple[int, ...], order: Order, name: str
) -> NDArray[Any]:
    """Return a copy of the array in an entry; raise InvalidModelFile unless it has this dtype and shape.

    Parameters
    ----------
    content : memoryview
        The entry.
    dtype : str
        One of `NUMBERS`, or matches `TEXT`.
    shape : tuple of int
        At least 0 each.
    order : {"C", "F"}
    name : str
        Of the entry.
    """
    kind = np.dtype(dtype)
    header = _header(dtype, shape, order)
    if len(content) != len(header) + math.prod(shape) * kind.itemsize or content[: len(header)] != header:
        raise InvalidModelFile(f"its array {name} is not an array of type {dtype} and shape {shown(shape)}")
    values = np.frombuffer(content, np.uint8, offset=len(header))
    if kind.kind == "b" and (values > 1).any():
        raise InvalidModelFile(f"its array {name} has values that are neither true nor false")
    if kind.kind == "U":
        _check_characters(values.copy().view("<u4"), name)
    array = values.copy().view(kind).astype(kind.newbyteorder("="), copy=False)
    return array.reshape(shape, order=order)


def order_of(array: NDArray[Any]) -> Order:
    """Return the order in which an array is stored: results of BLAS can depend on it in the last bit."""
    return "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"


def _header(dtype: str, shape: tuple[int, ...], order: Order) -> bytes:
    text = f"{{'descr': '{dtype}', 'fortran_order': {order == 'F'}, 'shape': {shape!r}, }}".encode("ascii")
    length = len(_MAGIC) + 2 + len(text) + 1
    text += b" " * (-length % _ALIGNMENT) + b"\n"
    return _MAGIC + len(text).to_bytes(2, "little") + text


def _check_characters(codes: NDArray[np.uint32], name: str) -> None:
    first, last = _SURROGATES
    if (codes > _LAST_CHARACTER).any() or ((codes >= first) & (codes <= last)).any():
        raise InvalidModelFile(f"its array {name} has text that is not valid Unicode")
