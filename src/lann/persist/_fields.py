"""The language in which the content of model files is declared: kinds of fields, records and estimators.

A kind converts a value to JSON and arrays, and reads it back from the declaration alone: it knows the type
and the bounds of the value, and the shape of an array in terms of named sizes. The first array with a size
determines it, and all others have to agree::

    Record(
        Levels,
        X=Array("f8 n_rows n_features"),
        labels=Array("i8 n_rows", high="n_classes-1"),
        components=Maybe(Array("f8 n_axes n_features", any_order=True)),
    )

An element of a shape is a number, the name of a size, a name with an offset, as in "n_bins-1", or "_" for any
length. Sizes whose names begin with "_" are those of one item of a list. Values are checked when they are
read; `lann.save` reads what it has written before it keeps a file.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann._support.validation import validate_parameters

Json = Any
Arrays = dict[str, NDArray[Any]]
MOST_CHARACTERS = 200
POSITIVE = math.ulp(0.0)
LARGEST_INT = 2**62
ANY_TYPE = "f8/f4/i8/i4/i2/i1/u8/u4/u2/u1/b1/U"
# Sizes that may be 0; all others are at least 1.
MAY_BE_ZERO = {
    "n_category_features", "n_numbers", "n_steps", "n_short", "n_long", "n_before", "n_extras", "n_windows",
    "n_kept_resets", "n_kept_alarms", "n_methods", "n_contrasts", "n_representatives", "n_plain_coordinates",
    "n_plain_axes", "n_tiles", "n_losses",
}  # fmt: skip
# Threads and output are for the process that loads the model to choose.
NOT_SAVED = ("n_jobs", "verbose")


class InvalidModelFile(ValueError):
    """An invalid model file; the message is the end of a sentence about "it"."""


def shown(value: Any) -> str:
    """Return a value from a file for a message: in one line, and not too long."""
    text = value if isinstance(value, str) else repr(value)
    text = " ".join(text[: 2 * MOST_CHARACTERS].split()).rstrip(".")
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"


def invalid(name: str, data: Any, expected: str) -> InvalidModelFile:
    """Return the error for a value of model.json."""
    return InvalidModelFile(f"its {name} has to be {expected} and is {shown(data)!r}")


def require(condition: Any, sentence: str) -> None:
    """Raise InvalidModelFile unless a condition holds; the sentence says what is wrong."""
    if not condition:
        raise InvalidModelFile(sentence)


def consistent(name: str, build: Callable[..., Any], /, *args: Any, **values: Any) -> Any:
    """Call a function; its errors say that the values of a record are inconsistent."""
    try:
        return build(*args, **values)
    except (ValueError, TypeError, IndexError, MemoryError) as error:
        raise InvalidModelFile(f"in its {name}, {shown(str(error))}") from error


def type_name(dtype: np.dtype[Any]) -> str:
    """Return the name of a type: "f8", or "U" for text of any length."""
    return "U" if dtype.str.startswith("<U") else dtype.str.lstrip("<|")


class Reader:
    """The arrays that have not been read yet, and the sizes that are known."""

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays
        self.sizes: dict[str, int] = {}

    def number(self, bound: float | str) -> float:
        """Return a number, which can be given by the name of a size, with an offset."""
        if not isinstance(bound, str):
            return bound
        size, _, offset = bound.partition("-")
        return (int(size) if size.isdigit() else self.sizes[size]) - int(offset or 0)

    def match(self, dimension: str, length: int, name: str) -> None:
        """Raise InvalidModelFile unless the length of a value agrees with what is known."""
        size, _, offset = dimension.partition("-")
        if size == "_":
            return
        if not size.isdigit():
            known = self.sizes.setdefault(size, length + int(offset or 0))
            require(known > 0 or size in MAY_BE_ZERO, f"its {name} has {size} = {known}, not at least 1")
        expected = self.number(dimension)
        require(length == expected, f"its {name} has the length {length}, not {dimension} = {expected}")


class Kind:
    """A kind of value.

    Attributes
    ----------
    source : str, callable or None
        Where the value is found in the object of its record: another attribute, or a function of the object.
        None is the attribute of the name of the field; it is None if there is none.
    """

    source: str | Callable[[Any], Any] | None = None

    def of(self, source: str | Callable[[Any], Any]) -> Any:
        """Return the kind of a value from another source."""
        other = copy(self)
        other.source = source
        return other

    def write(self, value: Any, name: str, arrays: Arrays) -> Json:
        """Return the value as it stands in model.json; add its arrays by entry name."""
        return value.item() if isinstance(value, np.generic) else value

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        """Return the value; raise InvalidModelFile if it is invalid."""
        raise NotImplementedError


@dataclass
class Value(Kind):
    """A value of JSON that passes a test."""

    test: Callable[[Any], bool]
    expected: str

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        if not self.test(data):
            raise invalid(name, data, self.expected)
        return data


def choice(*choices: str) -> Value:
    """Return the kind of a text that is one of some."""
    return Value(lambda data: type(data) is str and data in choices, f"one of {', '.join(choices)}")


BOOL = Value(lambda data: type(data) is bool, "true or false")
TEXT = Value(lambda data: type(data) is str, "text")
PLAIN_DICT = Value(lambda data: type(data) is dict, "a dictionary of values that JSON can express")


@dataclass
class Number(Kind):
    """An integer or a floating-point number from `low` to `high`, as in "n_rows-1"."""

    type: type[int] | type[float]
    low: float = -math.inf
    high: float | str = math.inf

    def write(self, value: Any, name: str, arrays: Arrays) -> Json:
        plain = super().write(value, name, arrays)
        return float(plain) if self.type is float and type(plain) is int else plain

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        high = reader.number(self.high)
        if type(data) is not self.type or not self.low <= data <= high or abs(data) == math.inf:
            raise invalid(name, data, f"a number of type {self.type.__name__} from {self.low} to {high}")
        return data


Int = partial(Number, int, high=LARGEST_INT)
Float = partial(Number, float)


@dataclass
class Size(Kind):
    """An integer that is one of the sizes."""

    dimension: str

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        reader.match(self.dimension, Int(0).read(data, name, reader), name)
        return data


@dataclass
class Maybe(Kind):
    """A value of a kind, or None."""

    kind: Kind

    def write(self, value: Any, name: str, arrays: Arrays) -> Json:
        return None if value is None else self.kind.write(value, name, arrays)

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        return None if data is None else self.kind.read(data, name, reader)


@dataclass
class ListOf(Kind):
    """A list or tuple of `n_items` values of one kind."""

    n_items: str
    kind: Kind
    type: type = list

    def write(self, value: Any, name: str, arrays: Arrays) -> Json:
        if not isinstance(value, list | tuple):
            raise invalid(name, type(value).__name__, "a list or a tuple")
        return [self.kind.write(item, f"{name}/{number}", arrays) for number, item in enumerate(value)]

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        if type(data) is not list:
            raise invalid(name, data, "a list")
        reader.match(self.n_items, len(data), name)
        items = []
        for number, item in enumerate(data):
            reader.sizes = {size: n for size, n in reader.sizes.items() if not size.startswith("_")}
            items.append(self.kind.read(item, f"{name}/{number}", reader))
        return self.type(items)


TupleOf = partial(ListOf, type=tuple)
TEXT_TUPLE = TupleOf("_", TEXT)


@dataclass
class Array(Kind):
    """An array.

    Attributes
    ----------
    declared : str
        Type and lengths, as in "f8/f4 n_rows n_features" with one of two types; without lengths, any will do.
    low : float or None
        The smallest number; None is 0 for integers, and -inf for others.
    high : float or str
        The largest number, or a size, as in "n_rows-1". An infinite one is valid only if `infinite` says so,
        and is not compared with `high`.
    within : float
        Short for low=-within and high=within.
    nan, infinite : bool
        Whether NaN, and infinite numbers, are allowed.
    ascending : int or None
        The axis along which numbers have to ascend; equal ones are allowed.
    any_order : bool
        Whether the order in memory is kept, on which the last bits of matrix products can depend; otherwise
        it is row by row.
    as_list : bool
        Whether it is a list in the model.
    """

    declared: str
    low: float | None = None
    high: float | str = math.inf
    within: float = math.inf
    nan: bool = False
    infinite: bool = False
    ascending: int | None = None
    any_order: bool = False
    as_list: bool = False

    def write(self, value: Any, name: str, arrays: Arrays) -> Json:
        if not isinstance(value, list | np.ndarray):
            raise invalid(name, type(value).__name__, "an array")
        array: Any = np.array(value, np.float64) if self.as_list else value
        arrays[f"{name}.npy"] = array if self.any_order else np.asarray(array, order="C")
        return f"{name}.npy"

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        # The name of the entry follows from that of the field: no entry can stand for two arrays.
        if data != f"{name}.npy":
            raise invalid(name, data, f"the entry {name}.npy")
        require(data in reader.arrays, f"its entry {data} is missing")
        array = reader.arrays.pop(data)
        types, *dimensions = self.declared.split()
        dtype = type_name(array.dtype)
        require(dtype in types.split("/"), f"its {name} has the type {dtype}, not {types}")
        if dimensions:
            is_of_shape = array.ndim == len(dimensions)
            require(is_of_shape, f"its {name} has the shape {array.shape}, not ({', '.join(dimensions)})")
            for dimension, length in zip(dimensions, array.shape, strict=True):
                reader.match(dimension, length, name)
        array = array if self.any_order else np.asarray(array, order="C")
        if array.dtype.kind in "fiu":
            self._check_numbers(array, name, reader)
        return array.tolist() if self.as_list else array

    def _check_numbers(self, array: NDArray[Any], name: str, reader: Reader) -> None:
        numbers = array[~np.isnan(array)] if self.nan else array
        numbers = numbers[numbers != math.inf] if self.infinite else numbers
        if numbers.size == 0:
            return
        least, largest = float(numbers.min()), float(numbers.max())
        first = 0.0 if array.dtype.kind in "iu" else -math.inf
        low = max(first if self.low is None else self.low, -self.within)
        high = min(reader.number(self.high), self.within)
        is_finite = self.infinite or (math.isfinite(least) and math.isfinite(largest))
        require(
            is_finite and low <= least and largest <= high,
            f"its {name} has numbers from {least:g} to {largest:g}, outside its bounds",
        )
        if self.ascending is not None:
            along = np.moveaxis(array, self.ascending, -1)
            require((along[..., 1:] >= along[..., :-1]).all(), f"its {name} are not in ascending order")


FLOAT_LIST = Array("f8 _", nan=True, infinite=True, as_list=True)


@dataclass
class Names(Kind):
    """Labels or names: numbers, booleans, or text as an array of NumPy or of Python strings.

    Attributes
    ----------
    shape : str
    distinct : bool
        Whether they have to be distinct and in ascending order.
    text : bool
        Whether they have to be text.
    """

    shape: str = ""
    distinct: bool = False
    text: bool = False

    @property
    def values(self) -> Array:
        return Array(f"{'U' if self.text else ANY_TYPE} {self.shape}", low=-math.inf)

    def write(self, value: Any, name: str, arrays: Arrays) -> Json:
        is_object = isinstance(value, np.ndarray) and value.dtype == object
        if is_object:
            if not all(isinstance(item, str) for item in value.flat):
                raise invalid(name, "an array of objects", "an array of numbers or text")
            text = value.astype(np.str_) if value.size else value.astype("<U1")
            require((text == value).all(), f"its {name} has text that ends in a zero character")
            value = text
        return {"python": is_object, "values": self.values.write(value, name, arrays)}

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        is_record = type(data) is dict and data.keys() == {"python", "values"}
        if not is_record or type(data["python"]) is not bool:
            raise invalid(name, data, "an array of names")
        values = self.values.read(data["values"], name, reader)
        is_ordered = not self.distinct or np.all(values[1:] > values[:-1])
        require(is_ordered, f"its {name} are not distinct and in order")
        require(not data["python"] or values.dtype.kind == "U", f"its {name} are not text")
        return values.astype(object) if data["python"] else values


class Record(Kind):
    """An object that is made of fields.

    Parameters
    ----------
    build : callable
        Called with the fields as keyword arguments, it returns the object. It raises a ValueError if the
        fields are inconsistent.
    **fields : Kind
        In the order in which they are read: a size has to occur in a shape before other fields refer to it.
    """

    def __init__(self, build: Callable[..., Any], /, **fields: Kind) -> None:
        self.build, self.fields = build, fields

    def write(self, value: Any, name: str, arrays: Arrays) -> Json:
        data = {}
        for field, kind in self.fields.items():
            source = kind.source or field
            if callable(source):
                part = source(value)
            else:
                part = value.get(source) if isinstance(value, dict) else getattr(value, source, None)
            data[field] = kind.write(part, f"{name}/{field}", arrays)
        return data

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        if type(data) is not dict or data.keys() != self.fields.keys():
            raise invalid(name, data, f"a record with the fields {', '.join(self.fields)}")
        values = {
            field: kind.read(data[field], f"{name}/{field}", reader) for field, kind in self.fields.items()
        }
        return consistent(name, self.build, **values)


class Parameter(Kind):
    """A parameter: None, a number, text, or a list, tuple, dictionary or array of these."""

    array = Names()

    def write(self, value: Any, name: str, arrays: Arrays) -> Json:
        if isinstance(value, np.random.RandomState | np.random.Generator):
            return None  # the state of a random number generator is not saved
        value = value.item() if isinstance(value, np.generic) else value
        if isinstance(value, dict):
            return {"dict": [[self.write(x, name, arrays) for x in pair] for pair in value.items()]}
        if isinstance(value, list | tuple) and all(isinstance(x, str) or np.ndim(x) == 0 for x in value):
            return {type(value).__name__: [self.write(item, name, arrays) for item in value]}
        if not isinstance(value, str) and np.ndim(value):
            return {"array": self.array.write(np.asarray(value), name, arrays)}
        if not _are_plain([value]):
            raise invalid(name, type(value).__name__, "None, a number, text, or a collection of these")
        return value

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        form, items = next(iter(data.items())) if type(data) is dict and len(data) == 1 else ("", [data])
        if form == "array":
            return self.array.read(items, name, reader)
        if form == "dict" and type(items) is list:
            if all(_are_plain(pair) and len(pair) == 2 for pair in items):
                return dict(items)
        elif form in ("", "list", "tuple") and _are_plain(items):
            return tuple(items) if form == "tuple" else items if form else data
        raise invalid(name, data, "None, a number, text, or a collection of these")


def _are_plain(items: Json) -> bool:
    """Return whether a value is a list of None, bools, numbers and text."""
    return type(items) is list and all(
        item is None
        or type(item) in (bool, str)
        or (type(item) in (int, float) and abs(item) <= 1e300)  # JSON has neither NaN nor infinity
        for item in items
    )


PARAMETER = Parameter()


class Estimator(Kind):
    """A fitted estimator: its class, its parameters, and its fitted attributes.

    Parameters
    ----------
    cls : type
        Its constructor takes the parameters, and its table `_parameters`, if it has one, validates them.
    finish : callable
        Sets the attributes of an estimator that follow from those that are saved.
    parameters : dict of str to Kind
        Kinds of parameters that are neither numbers, text, lists, dictionaries nor arrays.
    **fields : Kind
        The fitted attributes that are saved, beside the number and the names of features.
    """

    def __init__(
        self,
        cls: type,
        /,
        finish: Callable[[Any], Any] = lambda estimator: None,
        parameters: dict[str, Kind] | None = None,
        **fields: Any,
    ) -> None:
        self.cls, self.name, self.finish = cls, cls.__name__, finish
        names = Maybe(Names("n_features", text=True))
        self.fitted = Record(dict, n_features_in_=Size("n_features"), feature_names_in_=names, **fields)
        saved = sorted(cls().get_params(deep=False).keys() - set(NOT_SAVED))
        self.parameters = Record(cls, **dict.fromkeys(saved, PARAMETER) | (parameters or {}))

    def write(self, value: Any, name: str, arrays: Arrays, *, is_fitted: bool = True) -> Json:
        from sklearn.utils.validation import check_is_fitted  # takes long, and `lann info` does not need it

        if is_fitted:
            check_is_fitted(value)
        parameters = self.parameters.write(value, f"{name}/parameters", arrays)
        fitted = self.fitted.write(value, name, arrays) if is_fitted else None
        return {"estimator": self.name, "parameters": parameters, "fitted": fitted}

    def read(self, data: Json, name: str, reader: Reader, *, is_fitted: bool = True) -> Any:
        estimator = self.parameters.read(data["parameters"], f"{name}/parameters", reader)
        consistent(self.name, validate_parameters, estimator, getattr(self.cls, "_parameters", {}))
        if not is_fitted:
            return estimator
        fitted = self.fitted.read(data["fitted"], name, reader)
        if fitted["feature_names_in_"] is None:
            del fitted["feature_names_in_"]
        vars(estimator).update(fitted)
        consistent(self.name, self.finish, estimator)
        return estimator


class AnyEstimator(Kind):
    """One of several estimators, which the file names; fitted, or with parameters only."""

    def __init__(self, *estimators: Estimator, is_fitted: bool = True) -> None:
        self.by_name, self.is_fitted = {estimator.name: estimator for estimator in estimators}, is_fitted

    def write(self, value: Any, name: str, arrays: Arrays) -> Json:
        declared = self.by_name.get(type(value).__name__)
        if declared is None or declared.cls is not type(value):
            raise invalid(name, type(value).__name__, f"one of {', '.join(self.by_name)}")
        return declared.write(value, name, arrays, is_fitted=self.is_fitted)

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        if type(data) is not dict or data.keys() != {"estimator", "parameters", "fitted"}:
            raise invalid(name, data, "an estimator with estimator, parameters and fitted")
        choice(*self.by_name).read(data["estimator"], f"{name}/estimator", reader)
        return self.by_name[data["estimator"]].read(data, name, reader, is_fitted=self.is_fitted)
