"""What all kinds share: named sizes, and what is written and read."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, NoReturn

from lann.persist._errors import InvalidModelFile, shown

Json = Any
Dimension = str | int
_DIMENSION = re.compile(r"([a-z_]+)(-\d+)?")


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
        """Set the smallest that some sizes may be; raise InvalidModelFile if one is known to be smaller."""
        for size, least in at_least.items():
            if self._known.get(size, least) < least:
                raise InvalidModelFile(
                    f"it has {size} = {self._known[size]}, which has to be at least {least}"
                )
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
