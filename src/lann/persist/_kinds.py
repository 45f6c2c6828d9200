"""The language in which the content of model files is declared: kinds of values, and their checks.

A kind writes a value into a file, and reads it back from the declaration alone: it knows the type, the dtype
and the bounds of the value, and the shape in terms of named sizes. The first array with a size determines it,
and all others have to agree::

    Record(
        Levels,
        {
            "X": Floats("n_rows", "n_features"),
            "class_log_weights": Floats("n_classes", "n_axes", high=300.0),
            "labels": Indices("n_rows", below="n_classes"),
            "components": Maybe(Floats("n_axes", "n_features", any_order=True)),
        },
    )

An element of a shape is a number, the name of a size, or a name with an offset, as in "n_bins-1". `_records`
has records of several fields, and estimators.

Kinds check values when they are written, too, so that `save` raises where `load` would.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from lann.persist._errors import InvalidModelFile, shown
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

Json = Any
Dimension = str | int
_DIMENSION = re.compile(r"([a-z_]+)(-\d+)?")
_LARGEST_DIMENSION = 2**48


class Sizes:
    """The sizes that are known so far, by name.

    Parameters
    ----------
    at_least : mapping of str to int
        The smallest that a size may be; 0 for others.
    """

    def __init__(self, at_least: Mapping[str, int] | None = None) -> None:
        self._known: dict[str, int] = {}
        self._at_least = dict(at_least or {})

    def require(self, at_least: Mapping[str, int]) -> None:
        """Set the smallest that some sizes may be."""
        self._at_least.update(at_least)

    def __getitem__(self, name: str) -> int:
        return self._known[name]

    def match(self, dimension: Dimension, length: int, name: str) -> None:
        """Raise InvalidModelFile unless the length of a value agrees with what is known."""
        if isinstance(dimension, int):
            expected, text = dimension, f"{dimension}"
        else:
            size, offset = _split(dimension)
            if size not in self._known:
                self._set(size, length - offset, name)
            expected, text = self._known[size] + offset, f"{dimension} = {self._known[size] + offset}"
        if length != expected:
            raise InvalidModelFile(f"its {name} has the length {length} where {text} is needed")

    def _set(self, size: str, length: int, name: str) -> None:
        least = self._at_least.get(size, 0)
        if length < least:
            raise InvalidModelFile(f"its {name} has {size} = {length}, which has to be at least {least}")
        self._known[size] = length


def _split(dimension: str) -> tuple[str, int]:
    match = _DIMENSION.fullmatch(dimension)
    if match is None:
        raise ValueError(f"{dimension!r} is not a size.")
    return match.group(1), int(match.group(2) or 0)


class Writer:
    """What is written: the arrays by the names of their entries, and the sizes so far."""

    def __init__(self, sizes: Sizes | None = None, entries: dict[str, bytes] | None = None) -> None:
        self.sizes = sizes or Sizes()
        self.entries: dict[str, bytes] = {} if entries is None else entries

    def with_own_sizes(self) -> Writer:
        """Return a writer to the same file for a part whose sizes are its own."""
        return Writer(entries=self.entries)


class Reader:
    """What is read: the entries, and the sizes so far.

    Parameters
    ----------
    entries : dict of str to memoryview
        An entry is removed when it is read, so that none is read twice and none is left over.
    """

    def __init__(self, entries: dict[str, memoryview], sizes: Sizes | None = None) -> None:
        self.entries = entries
        self.sizes = sizes or Sizes()

    def with_own_sizes(self) -> Reader:
        """Return a reader of the same file for a part whose sizes are its own."""
        return Reader(self.entries)


class Kind(ABC):
    """A kind of value."""

    @abstractmethod
    def write(self, value: Any, name: str, writer: Writer) -> Json:
        """Return the value as it stands in model.json, after a check; add its arrays to the writer.

        Parameters
        ----------
        value : object
        name : str
            Of the value in the file, as in "model/levels/X".
        writer : Writer
        """

    @abstractmethod
    def read(self, data: Json, name: str, reader: Reader) -> Any:
        """Return the value; raise InvalidModelFile if it is invalid."""


def invalid(name: str, data: Any, expected: str) -> NoReturn:
    """Raise InvalidModelFile for a value of model.json."""
    raise InvalidModelFile(f"its {name} has to be {expected} and is {shown(data)}")


# Arrays


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
        array = read_array(reader.entries.pop(entry), dtype, shape, order, name)
        self.check(array, name, reader.sizes)
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
        The smallest and the largest number.
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
    """

    dtypes = ("<i8",)

    def __init__(self, *shape: Dimension, below: str | None, low: int = 0, ascending: bool = False) -> None:
        super().__init__(*shape)
        self.below, self.low, self.ascending = below, low, ascending

    def check(self, array: NDArray[Any], name: str, sizes: Sizes) -> None:
        if array.size == 0:
            return
        limit = math.inf if self.below is None else sizes[self.below]
        if int(array.min()) < self.low or int(array.max()) >= limit:
            raise InvalidModelFile(f"its {name} has positions out of range")
        if self.ascending:
            check_ascending(array, -1, name)


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


# Values in model.json


class Int(Kind):
    """An integer.

    Parameters
    ----------
    low : int
        The smallest one.
    high : int or str
        The largest one; a name is that of a size.
    """

    def __init__(self, low: int, high: int | str = 2**62) -> None:
        self.low, self.high = low, high

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        plain = int(value) if isinstance(value, np.integer) else value
        return self._checked(plain, name, writer.sizes)

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        return self._checked(data, name, reader.sizes)

    def _checked(self, value: Any, name: str, sizes: Sizes) -> int:
        high = sizes[self.high] if isinstance(self.high, str) else self.high
        if type(value) is not int or not self.low <= value <= high:
            invalid(name, value, f"an integer from {self.low} to {high}")
        return value


class Size(Kind):
    """An integer that is one of the sizes.

    Parameters
    ----------
    dimension : str
        Name of the size.
    """

    def __init__(self, dimension: str) -> None:
        self.dimension = dimension

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        plain = int(value) if isinstance(value, np.integer) else value
        return self._checked(plain, name, writer.sizes)

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        return self._checked(data, name, reader.sizes)

    def _checked(self, value: Any, name: str, sizes: Sizes) -> int:
        if type(value) is not int:
            invalid(name, value, "an integer")
        sizes.match(self.dimension, value, name)
        return value


class Float(Kind):
    """A finite floating-point number.

    Parameters
    ----------
    low, high : float
        The smallest and the largest one.
    above : float
        It has to be larger.
    """

    def __init__(self, low: float = -math.inf, high: float = math.inf, *, above: float = -math.inf) -> None:
        self.low, self.high, self.above = low, high, above

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        return self._checked(float(value) if is_number else value, name)

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        return self._checked(data, name)

    def _checked(self, value: Any, name: str) -> float:
        if type(value) is not float or not math.isfinite(value):
            invalid(name, value, "a finite number with a decimal point")
        if not self.low <= value <= self.high or not (value > self.above):
            invalid(name, value, "within its bounds")
        return value


class Text(Kind):
    """Text.

    Parameters
    ----------
    *choices : str
        What it may be; none for any text.
    """

    def __init__(self, *choices: str) -> None:
        self.choices = choices

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        return self._checked(str(value) if isinstance(value, np.str_) else value, name)

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        return self._checked(data, name)

    def _checked(self, value: Any, name: str) -> str:
        if type(value) is not str or (self.choices and value not in self.choices):
            invalid(name, value, f"one of {self.choices}" if self.choices else "text")
        return value


class TextList(Kind):
    """A list of text."""

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        return self._checked(list(value), name)

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        return self._checked(data, name)

    def _checked(self, value: Any, name: str) -> list[str]:
        if type(value) is not list or not all(type(item) is str for item in value):
            invalid(name, value, "a list of text")
        return value


class Bool(Kind):
    """True or False."""

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        return self._checked(value, name)

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        return self._checked(data, name)

    def _checked(self, value: Any, name: str) -> bool:
        if type(value) is not bool:
            invalid(name, value, "true or false")
        return value


class TextDict(Kind):
    """A dictionary from text to text."""

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        return self._checked(value, name)

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        return self._checked(data, name)

    def _checked(self, value: Any, name: str) -> dict[str, str]:
        if type(value) is not dict or not all(type(x) is str for pair in value.items() for x in pair):
            invalid(name, value, "a dictionary from text to text")
        return dict(value)


class PlainDicts(Kind):
    """A list of dictionaries of whatever JSON can express.

    It is returned as it is, so that whoever uses it has to check it.
    """

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        return self._checked(value, name)

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        return self._checked(data, name)

    def _checked(self, value: Any, name: str) -> list[dict[str, Any]]:
        if type(value) is not list or not all(type(item) is dict and _is_plain(item) for item in value):
            invalid(name, value, "a list of dictionaries of values that JSON can express")
        return value


def _is_plain(value: Any) -> bool:
    if type(value) is dict:
        return all(type(key) is str and _is_plain(item) for key, item in value.items())
    if type(value) is list:
        return all(map(_is_plain, value))
    return value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value))


class TextTuple(Kind):
    """A tuple of some distinct texts.

    Parameters
    ----------
    *choices : str
        What each may be.
    """

    def __init__(self, *choices: str) -> None:
        self.choices = choices

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        return self._checked(list(value) if isinstance(value, tuple) else value, name)

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        return tuple(self._checked(data, name))

    def _checked(self, value: Any, name: str) -> list[str]:
        if type(value) is not list or not all(type(item) is str and item in self.choices for item in value):
            invalid(name, value, f"a list of some of {self.choices}")
        if len(set(value)) < len(value):
            invalid(name, value, "a list of distinct names")
        return value


class Groups(Kind):
    """A tuple of disjoint tuples of positions.

    Parameters
    ----------
    below : str
        The size that they are positions in.
    """

    def __init__(self, below: str) -> None:
        self.below = below

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        return self._checked([[int(p) for p in group] for group in value], name, writer.sizes)

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        return tuple(tuple(group) for group in self._checked(data, name, reader.sizes))

    def _checked(self, value: Any, name: str, sizes: Sizes) -> list[list[int]]:
        if type(value) is not list or not all(type(group) is list for group in value):
            invalid(name, value, "a list of lists")
        positions = [position for group in value for position in group]
        if not all(type(p) is int and 0 <= p < sizes[self.below] for p in positions):
            invalid(name, value, f"groups of positions below {sizes[self.below]}")
        if len(set(positions)) < len(positions):
            invalid(name, value, "groups without common positions")
        return value


class Scalars(Kind):
    """A list of text, integers, finite floating-point numbers, True and False, such as categories."""

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        items = [item.item() if isinstance(item, np.generic) else item for item in value]
        return self._checked(items, name)

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        return self._checked(data, name)

    def _checked(self, value: Any, name: str) -> list[Any]:
        if type(value) is not list or any(
            item is None or isinstance(item, dict | list) or not _is_plain(item) for item in value
        ):
            invalid(name, value, "a list of text, numbers, true and false")
        return value


class ListOf(Kind):
    """A list of values of one kind, such as a short record for each feature.

    Every array among them is an entry of the file, of which there are at most some hundred: use `Ragged` for
    many arrays.

    Parameters
    ----------
    n_items : str or int
        Number of values.
    kind : Kind
        Of each value.
    """

    def __init__(self, n_items: Dimension, kind: Kind) -> None:
        self.n_items, self.kind = n_items, kind

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        writer.sizes.match(self.n_items, len(value), name)
        return [self.kind.write(item, f"{name}/{number}", writer) for number, item in enumerate(value)]

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        if type(data) is not list:
            invalid(name, data, "a list")
        reader.sizes.match(self.n_items, len(data), name)
        return [self.kind.read(item, f"{name}/{number}", reader) for number, item in enumerate(data)]


class Maybe(Kind):
    """A value, or None.

    Parameters
    ----------
    kind : Kind
        Of the value.
    """

    def __init__(self, kind: Kind) -> None:
        self.kind = kind

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        return None if value is None else self.kind.write(value, name, writer)

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        return None if data is None else self.kind.read(data, name, reader)
