"""Kinds of values that are stored as arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann.persist._errors import InvalidModelFile, shown
from lann.persist._kinds.base import Dimension, Json, Kind, Reader, Sizes, Writer, invalid
from lann.persist._npy import (
    MOST_DIMENSIONS,
    NUMBERS,
    TEXT,
    Order,
    dtype_name,
    order_of,
    read_array,
    write_array,
)

_LARGEST_DIMENSION = 2**48


class Array(Kind):
    """An array. Subclasses define the dtypes, and check the values.

    Parameters
    ----------
    *shape : str or int
    any_order : bool
        Whether the order in memory is kept, row by row or column by column, on which the last bits of matrix
        products can depend; otherwise it is row by row.
    """

    dtypes: tuple[str, ...]

    def __init__(self, *shape: Dimension, any_order: bool = False) -> None:
        self.shape, self.any_order = shape, any_order

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        if not isinstance(value, np.ndarray):
            invalid(name, type(value).__name__, "an array")
        dtype = self._check_dtype(dtype_name(value.dtype), name)
        self._match(value.shape, name, writer.sizes)
        value = self.prepare(value)
        self.check(value, name, writer.sizes)
        order: Order = order_of(value) if self.any_order else "C"
        entry = f"{name}.npy"
        writer.entries[entry] = write_array(value, dtype, order)
        return {"entry": entry, "dtype": dtype, "shape": list(value.shape), "order": order}

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        entry, dtype, shape, order = self._declared(data, name)
        self._match(shape, name, reader.sizes)
        if entry not in reader.entries:
            raise InvalidModelFile(f"its entry {entry} is missing")
        array = self.prepare(read_array(reader.entries.pop(entry), dtype, shape, order, name))
        self.check(array, name, reader.sizes)
        return array

    def prepare(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return an array with values that mean the same in one form."""
        return array

    def check(self, array: NDArray[Any], name: str, sizes: Sizes) -> None:
        """Raise InvalidModelFile unless the values are valid."""

    def _declared(self, data: Json, name: str) -> tuple[str, str, tuple[int, ...], Order]:
        if not isinstance(data, dict) or data.keys() != {"entry", "dtype", "shape", "order"}:
            invalid(name, data, "an array with entry, dtype, shape and order")
        # The name of the entry follows from that of the field: no entry can stand for two arrays.
        if data["entry"] != f"{name}.npy":
            invalid(name, data["entry"], f"the entry {name}.npy")
        shape, order = data["shape"], data["order"]
        valid = isinstance(shape, list) and len(shape) <= MOST_DIMENSIONS
        if not valid or not all(type(n) is int and 0 <= n <= _LARGEST_DIMENSION for n in shape):
            invalid(name, shape, "an array with a valid shape")
        if order not in (("C", "F") if self.any_order else ("C",)):
            invalid(name, order, "an array with a valid order")
        if not isinstance(data["dtype"], str):
            invalid(name, data["dtype"], "an array of a valid dtype")
        return data["entry"], self._check_dtype(data["dtype"], name), tuple(shape), order

    def _check_dtype(self, dtype: str, name: str) -> str:
        if dtype not in self.dtypes and not ("<U" in self.dtypes and TEXT.fullmatch(dtype)):
            raise InvalidModelFile(f"its {name} has the type {shown(dtype)}, not {' or '.join(self.dtypes)}")
        return dtype

    def _match(self, shape: tuple[int, ...], name: str, sizes: Sizes) -> None:
        if len(shape) != len(self.shape):
            wanted = ", ".join(map(str, self.shape))
            raise InvalidModelFile(f"its {name} has {len(shape)} dimensions and not those of ({wanted})")
        for dimension, length in zip(self.shape, shape, strict=True):
            sizes.match(dimension, length, name)


class Floats(Array):
    """Floating-point numbers: finite ones within bounds, unless other ones are allowed.

    Parameters
    ----------
    *shape : str or int
    low, high : float
        The smallest and the largest number; where infinite ones are allowed, `high` is for the others.
    above : float
        All numbers have to be larger.
    nan, infinite : bool
        Whether NaN, and infinite numbers, are allowed.
    ascending : int or None
        The axis along which numbers have to ascend; equal ones are allowed.
    single : bool
        Whether float32 is allowed, too.
    any_order : bool
        See `Array`.
    """

    def __init__(
        self,
        *shape: Dimension,
        low: float = -math.inf,
        high: float = math.inf,
        above: float = -math.inf,
        nan: bool = False,
        infinite: bool = False,
        ascending: int | None = None,
        single: bool = False,
        any_order: bool = False,
    ) -> None:
        super().__init__(*shape, any_order=any_order)
        self.low, self.high, self.above = low, high, above
        self.nan, self.infinite, self.ascending = nan, infinite, ascending
        self.dtypes = ("<f8", "<f4") if single else ("<f8",)

    def prepare(self, array: NDArray[Any]) -> NDArray[Any]:
        # There are kinds of NaN that the processor reports whenever something is computed with them.
        if self.nan and np.isnan(array).any():
            array = array.copy(order="K")
            array[np.isnan(array)] = np.nan
        return array

    def check(self, array: NDArray[Any], name: str, sizes: Sizes) -> None:
        if array.size == 0:
            return
        # NaN if there is one; no further array is needed for finite numbers within bounds.
        least, largest = float(array.min()), float(array.max())
        if math.isnan(least):
            if not self.nan:
                raise InvalidModelFile(f"its {name} has NaN where it may not")
            if np.isnan(array).all():
                return
            least, largest = float(np.nanmin(array)), float(np.nanmax(array))
        if not self.infinite and not (math.isfinite(least) and math.isfinite(largest)):
            raise InvalidModelFile(f"its {name} has an infinite number where it may not")
        if largest == math.inf and self.high < math.inf:
            largest = float(array.max(where=array < math.inf, initial=-math.inf))
        if least < self.low or largest > self.high or (least <= self.above and self.above > -math.inf):
            raise InvalidModelFile(
                f"its {name} has numbers from {least:g} to {largest:g}, outside its bounds"
            )
        if self.ascending is not None:
            check_ascending(array, self.ascending, name)


class Indices(Array):
    """Integers that are positions.

    Parameters
    ----------
    *shape : str or int
    below : str or None
        The size that they are positions in; None for any.
    low : int
        The smallest one.
    ascending : bool
        Whether they have to ascend along the last axis; equal ones are allowed.
    short : bool
        Whether they are integers of 32 bits, and not of 64.
    """

    def __init__(
        self,
        *shape: Dimension,
        below: str | None,
        low: int = 0,
        ascending: bool = False,
        short: bool = False,
    ) -> None:
        super().__init__(*shape)
        self.below, self.low, self.ascending = below, low, ascending
        self.dtypes = ("<i4",) if short else ("<i8",)

    def check(self, array: NDArray[Any], name: str, sizes: Sizes) -> None:
        if array.size == 0:
            return
        limit = math.inf if self.below is None else sizes[self.below]
        if int(array.min()) < self.low or int(array.max()) >= limit:
            raise InvalidModelFile(f"its {name} has positions out of range")
        if self.ascending:
            check_ascending(array, -1, name)


class Flags(Array):
    """Marks of 0 and 1, a byte each."""

    dtypes = ("|u1",)

    def check(self, array: NDArray[Any], name: str, sizes: Sizes) -> None:
        if (array > 1).any():
            raise InvalidModelFile(f"its {name} has marks that are neither 0 nor 1")


class Texts(Array):
    """Text, as an array of Python strings."""

    dtypes = ("<U",)

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        return super().write(_fixed_width(value, name), name, writer)

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        return super().read(data, name, reader).astype(object)


class Names(Kind):
    """Labels or names: numbers, true and false, or text, as an array of NumPy or of Python strings.

    Parameters
    ----------
    *shape : str or int
    distinct : bool
        Whether they have to be distinct and in ascending order.
    """

    def __init__(self, *shape: Dimension, distinct: bool = False) -> None:
        self._values, self.distinct = _Values(*shape), distinct

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        is_object = isinstance(value, np.ndarray) and value.dtype == object
        values = _fixed_width(value, name) if is_object else value
        data = self._values.write(values, name, writer)
        self._check(values, name)
        return {"python": is_object, "values": data}

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        if not isinstance(data, dict) or data.keys() != {"python", "values"}:
            invalid(name, data, "an array of names")
        values = self._values.read(data["values"], name, reader)
        self._check(values, name)
        if type(data["python"]) is not bool or (data["python"] and values.dtype.kind != "U"):
            invalid(name, data["python"], "marked as text of Python or not")
        return values.astype(object) if data["python"] else values

    def _check(self, values: NDArray[Any], name: str) -> None:
        if self.distinct and not np.all(values[1:] > values[:-1]):
            raise InvalidModelFile(f"its {name} are not distinct and in order")


class _Values(Array):
    dtypes = (*NUMBERS, "<U")

    def check(self, array: NDArray[Any], name: str, sizes: Sizes) -> None:
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise InvalidModelFile(f"its {name} has numbers that are not finite")


def _fixed_width(value: Any, name: str) -> NDArray[np.str_]:
    """Return text as NumPy stores it; raise InvalidModelFile if it is not text, or would change."""
    items: list[Any] = value.ravel().tolist() if isinstance(value, np.ndarray) else [None]
    if not all(isinstance(item, str) for item in items):
        invalid(name, type(value).__name__, "an array of text")
    texts = np.array(items, dtype=np.str_)
    if texts.tolist() != items or any("\ud800" <= c <= "\udfff" for item in items for c in item):
        raise InvalidModelFile(f"its {name} has text that is not valid Unicode, or ends in a zero character")
    return texts.astype(f"<U{max(texts.dtype.itemsize // 4, 1)}").reshape(value.shape)


def check_ascending(array: NDArray[Any], axis: int, name: str) -> None:
    """Raise InvalidModelFile unless the values ascend along an axis."""
    along = np.moveaxis(array, axis, -1)
    if not (along[..., 1:] >= along[..., :-1]).all():
        raise InvalidModelFile(f"its {name} are not in ascending order")


class Ragged(Kind):
    """A list of arrays of floating-point numbers with different shapes, stored as two arrays.

    Parameters
    ----------
    n_items : str or int
        Number of arrays.
    n_dimensions : int
        Of each array.
    **bounds
        As for `Floats`.
    """

    def __init__(self, n_items: Dimension, n_dimensions: int, **bounds: Any) -> None:
        self.n_dimensions = n_dimensions
        self._shapes = Indices(n_items, n_dimensions, below=None)
        self._values = Floats("n_values", **bounds)

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        arrays = list(value)
        if not all(isinstance(item, np.ndarray) and item.ndim == self.n_dimensions for item in arrays):
            invalid(name, type(value).__name__, f"a list of arrays of {self.n_dimensions} dimensions")
        if not all(item.dtype == np.float64 for item in arrays):
            invalid(name, type(value).__name__, "a list of arrays of type float64")
        shapes = np.array([item.shape for item in arrays], np.int64).reshape(len(arrays), self.n_dimensions)
        flat = np.concatenate([np.empty(0), *(item.ravel() for item in arrays)])
        return {
            "shapes": self._shapes.write(shapes, f"{name}/shapes", writer),
            "values": self._values.write(flat, f"{name}/values", writer.with_own_sizes()),
        }

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        if not isinstance(data, dict) or data.keys() != {"shapes", "values"}:
            invalid(name, data, "a list of arrays")
        shapes = self._shapes.read(data["shapes"], f"{name}/shapes", reader).tolist()
        flat = self._values.read(data["values"], f"{name}/values", reader.with_own_sizes())
        ends = np.cumsum([0, *(min(math.prod(shape), len(flat) + 1) for shape in shapes)]).tolist()
        if ends[-1] != len(flat):
            raise InvalidModelFile(f"its {name} has {len(flat)} values, which is not what its shapes say")
        return [
            flat[start:end].reshape(shape).copy()
            for start, end, shape in zip(ends, ends[1:], shapes, strict=False)
        ]


class FloatList(Kind):
    """A list of any floating-point numbers of any length, such as the loss of every epoch."""

    _values = Floats("n_values", nan=True, infinite=True)

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        if not isinstance(value, list):
            invalid(name, type(value).__name__, "a list")
        return self._values.write(np.array(value, np.float64), name, writer.with_own_sizes())

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        return self._values.read(data, name, reader.with_own_sizes()).tolist()
