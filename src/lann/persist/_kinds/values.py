"""Kinds of values that stand in model.json, and kinds that are made of others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lann.persist._kinds.base import Dimension, Json, Kind, Reader, Sizes, Writer, invalid

LARGEST_INT = 2**62
# Some hundred rows of the largest weight.
MOST_VOTES = 1e103


class Int(Kind):
    """An integer.

    Parameters
    ----------
    low : int
        The smallest one.
    high : int or str
        The largest one; a name is that of a size.
    """

    def __init__(self, low: int, high: int | str = LARGEST_INT) -> None:
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


INT = Int(1)


class Votes(Kind):
    """A number of votes: an integer that can be larger than those of a file if rows have large weights.

    It then is one that float64 has, and is written as such.
    """

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        return float(self._checked(value, name)) if value > LARGEST_INT else INT.write(value, name, writer)

    def read(self, data: Json, name: str, reader: Reader) -> int:
        if type(data) is not float:
            return int(INT.read(data, name, reader))
        if not (data.is_integer() and data > LARGEST_INT):
            invalid(name, data, "an integer")
        return self._checked(int(data), name)

    def _checked(self, value: Any, name: str) -> int:
        if type(value) is not int or not value <= MOST_VOTES:
            invalid(name, value, f"an integer of at most {MOST_VOTES:g}")
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


class PlainDict(Kind):
    """A dictionary of whatever JSON can express; whoever uses it has to check it."""

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        return self._checked(value, name)

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        return self._checked(data, name)

    def _checked(self, value: Any, name: str) -> dict[str, Any]:
        if type(value) is not dict or not _is_plain(value):
            invalid(name, value, "a dictionary of values that JSON can express")
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
