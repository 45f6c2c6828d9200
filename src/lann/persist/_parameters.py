"""Parameters of estimators in model files: numbers, text, lists, dictionaries and arrays of these.

Which of them a parameter may be is for the table of the estimator to say.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lann.persist._kinds import Json, Kind, Names, Reader, Writer, invalid

_EXPECTED = "None, a number, text, or a list, dictionary or array of these"
_BY_DIMENSIONS = {1: Names("n_values"), 2: Names("n_values", "n_columns")}


class Parameter(Kind):
    """A parameter: None, a number, text, or a list, tuple, dictionary or array of these."""

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        value = _plain(value)
        if _is_scalar(value):
            return value
        if isinstance(value, dict):
            pairs = [[_plain(key), _plain(item)] for key, item in value.items()]
            if all(_is_scalar(x) for pair in pairs for x in pair):
                return {"dict": pairs}
        elif isinstance(value, list | tuple) and all(_is_scalar(_plain(item)) for item in value):
            return {"tuple" if isinstance(value, tuple) else "list": [_plain(item) for item in value]}
        elif not isinstance(value, str) and hasattr(value, "__len__"):
            array = np.asarray(value)
            if array.ndim in _BY_DIMENSIONS and array.dtype.kind in "biufUO":
                kind = _BY_DIMENSIONS[array.ndim]
                return {f"array{array.ndim}": kind.write(array, name, writer.with_own_sizes())}
        return invalid(name, type(value).__name__, _EXPECTED)

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        if _is_scalar(data):
            return data
        if not isinstance(data, dict) or len(data) != 1:
            invalid(name, data, _EXPECTED)
        ((form, items),) = data.items()
        for n_dimensions, kind in _BY_DIMENSIONS.items():
            if form == f"array{n_dimensions}":
                return kind.read(items, name, reader.with_own_sizes())
        if form not in ("list", "tuple", "dict") or not isinstance(items, list):
            invalid(name, data, _EXPECTED)
        if form == "dict":
            pairs = [tuple(pair) for pair in items if isinstance(pair, list) and len(pair) == 2]
            if len(pairs) != len(items) or not all(_is_scalar(x) for pair in pairs for x in pair):
                invalid(name, data, _EXPECTED)
            found = dict(pairs)
            if len(found) < len(pairs):
                invalid(name, data, "a dictionary of distinct keys")
            return found
        if not all(map(_is_scalar, items)):
            invalid(name, data, _EXPECTED)
        return tuple(items) if form == "tuple" else items


PARAMETER = Parameter()


def _plain(value: Any) -> Any:
    """Return a scalar of NumPy as one of Python."""
    return value.item() if isinstance(value, np.generic) else value


def _is_scalar(value: Any) -> bool:
    if type(value) is float:
        return math.isfinite(value)
    return value is None or type(value) in (bool, int, str)
