"""The language in which the content of model files is declared: kinds of fields, records and estimators.

A kind converts a value to JSON and arrays, and reads it back from the declaration alone: it knows the type
and the bounds of the value, and the shape of an array in terms of named sizes. The first array with a size
determines it, and all others have to agree::

    Record(
        Levels,
        {
            "X": Floats("n_rows", "n_features"),
            "labels": Indices("n_rows", below="n_classes"),
            "components": Maybe(Floats("n_axes", "n_features", any_order=True)),
        },
    )

An element of a shape is a number, the name of a size, a name with an offset, as in "n_bins-1", or "_" for any
length. Values are checked when they are read; `lann.save` reads what it has written before it keeps a file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lann._support.validation import validate

Json = Any
Arrays = dict[str, NDArray[Any]]
Dimension = str | int
MOST_CHARACTERS = 200
POSITIVE = math.ulp(0.0)
LARGEST_INT = 2**62
FLOATS = ("<f8", "<f4")
NUMBERS = (*FLOATS, "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1", "|b1")
# Sizes that may be 0; all others are at least 1.
MAY_BE_ZERO = {
    "n_category_features", "n_numbers", "n_steps", "n_short", "n_long", "n_before", "n_extras", "n_windows",
    "n_kept_drifts", "n_methods", "n_contrasts", "n_representatives", "n_plain_coordinates", "n_plain_axes",
    "n_tiles", "n_losses",
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


class Reader:
    """The arrays that have not been read yet, and the sizes that are known."""

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays
        self.sizes: dict[str, int] = {}

    def match(self, dimension: Dimension, length: int, name: str) -> None:
        """Raise InvalidModelFile unless the length of a value agrees with what is known."""
        if dimension == "_":
            return
        expected = dimension
        if isinstance(dimension, str):
            size, _, offset = dimension.partition("-")
            known = self.sizes.setdefault(size, length + int(offset or 0))
            require(known > 0 or size in MAY_BE_ZERO, f"its {name} has {size} = {known}, not at least 1")
            expected = known - int(offset or 0)
        require(length == expected, f"its {name} has the length {length}, not {dimension} = {expected}")


class Kind:
    """A kind of value."""

    def write(self, value: Any, name: str, arrays: Arrays) -> Json:
        """Return the value as it stands in model.json; add its arrays by entry name."""
        if isinstance(value, np.generic):
            return value.item()
        return list(value) if isinstance(value, tuple) else value

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        """Return the value; raise InvalidModelFile if it is invalid."""
        raise NotImplementedError


class Value(Kind):
    """A value of JSON that passes a test; `convert` makes another type of it."""

    def __init__(
        self, test: Callable[[Any], bool], expected: str, convert: Callable[[Any], Any] = lambda data: data
    ) -> None:
        self.test, self.expected, self.convert = test, expected, convert

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        if not self.test(data):
            raise invalid(name, data, self.expected)
        return self.convert(data)


def is_list_of(type_: type, data: Json) -> bool:
    """Return whether a value is a list of values of a type."""
    return type(data) is list and all(type(item) is type_ for item in data)


def choice(*choices: str) -> Value:
    """Return the kind of a text that is one of some."""
    return Value(lambda data: type(data) is str and data in choices, f"one of {', '.join(choices)}")


BOOL = Value(lambda data: type(data) is bool, "true or false")
TEXT = Value(lambda data: type(data) is str, "text")
TEXT_TUPLE = Value(partial(is_list_of, str), "a list of text", tuple)
INTEGERS = Value(partial(is_list_of, int), "a list of integers")
PLAIN_DICT = Value(lambda data: type(data) is dict, "a dictionary of values that JSON can express")


class Number(Kind):
    """An integer or a floating-point number from `low` to `high`, which can be the name of a size."""

    def __init__(
        self, type_: type[int] | type[float], low: float = -math.inf, high: float | str = math.inf
    ) -> None:
        self.type, self.low, self.high = type_, low, high

    def write(self, value: Any, name: str, arrays: Arrays) -> Json:
        plain = super().write(value, name, arrays)
        return float(plain) if self.type is float and type(plain) is int else plain

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        high: Any = reader.sizes[self.high] if isinstance(self.high, str) else self.high
        if type(data) is not self.type or not self.low <= data <= high or abs(data) == math.inf:
            raise invalid(name, data, f"a number of type {self.type.__name__} from {self.low} to {high}")
        return data


Int = partial(Number, int, high=LARGEST_INT)
Float = partial(Number, float)


class Size(Kind):
    """An integer that is one of the sizes."""

    def __init__(self, dimension: str) -> None:
        self.dimension = dimension

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        Int(0).read(data, name, reader)
        reader.match(self.dimension, data, name)
        return data


class Maybe(Kind):
    """A value of a kind, or None."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind

    def write(self, value: Any, name: str, arrays: Arrays) -> Json:
        return None if value is None else self.kind.write(value, name, arrays)

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        return None if data is None else self.kind.read(data, name, reader)


class ListOf(Kind):
    """A list of `n_items` values of one kind."""

    def __init__(self, n_items: Dimension, kind: Kind) -> None:
        self.n_items, self.kind = n_items, kind

    def write(self, value: Any, name: str, arrays: Arrays) -> Json:
        return [self.kind.write(item, f"{name}/{number}", arrays) for number, item in enumerate(value)]

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        if type(data) is not list:
            raise invalid(name, data, "a list")
        reader.match(self.n_items, len(data), name)
        return [self.kind.read(item, f"{name}/{number}", reader) for number, item in enumerate(data)]


class Array(Kind):
    """An array.

    Parameters
    ----------
    *shape : str or int
        Without a shape, any will do.
    dtypes : tuple of str
    low, high : float
        The smallest and the largest number; an infinite one is valid only if `infinite` says so, and is not
        compared with `high`.
    within : float or None
        Short for low=-within and high=within.
    below : str or None
        Numbers are indices into this size.
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

    def __init__(
        self,
        *shape: Dimension,
        dtypes: tuple[str, ...] = ("<f8",),
        low: float = -math.inf,
        high: float = math.inf,
        within: float | None = None,
        below: str | None = None,
        nan: bool = False,
        infinite: bool = False,
        ascending: int | None = None,
        any_order: bool = False,
        as_list: bool = False,
    ) -> None:
        self.shape, self.dtypes, self.below = shape, dtypes, below
        self.low, self.high = (low, high) if within is None else (-within, within)
        self.nan, self.infinite, self.ascending = nan, infinite, ascending
        self.any_order, self.as_list = any_order, as_list

    def write(self, value: Any, name: str, arrays: Arrays) -> Json:
        if not isinstance(value, list if self.as_list else np.ndarray):
            raise invalid(name, type(value).__name__, "a list" if self.as_list else "an array")
        array: Any = np.array(value, self.dtypes[0]) if self.as_list else value
        arrays[f"{name}.npy"] = array if self.any_order else np.asarray(array, order="C")
        return f"{name}.npy"

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        # The name of the entry follows from that of the field: no entry can stand for two arrays.
        if data != f"{name}.npy":
            raise invalid(name, data, f"the entry {name}.npy")
        require(data in reader.arrays, f"its entry {data} is missing")
        array = reader.arrays.pop(data)
        dtype = "<U" if array.dtype.kind == "U" else array.dtype.str
        require(dtype in self.dtypes, f"its {name} has the type {dtype}, not {' or '.join(self.dtypes)}")
        if self.shape:
            wanted = ", ".join(map(str, self.shape))
            require(array.ndim == len(self.shape), f"its {name} has the shape {array.shape}, not ({wanted})")
            for dimension, length in zip(self.shape, array.shape, strict=True):
                reader.match(dimension, length, name)
        array = array if self.any_order else np.asarray(array, order="C")
        if array.dtype.kind in "fiu":
            self._check_numbers(array, name, reader)
        return array.tolist() if self.as_list else array

    def _check_numbers(self, array: NDArray[Any], name: str, reader: Reader) -> None:
        numbers = array[~np.isnan(array)] if self.nan else array
        if self.infinite:
            numbers = numbers[numbers != math.inf]
        if numbers.size == 0:
            return
        least, largest = float(numbers.min()), float(numbers.max())
        high = self.high if self.below is None else reader.sizes[self.below] - 1
        is_finite = self.infinite or (math.isfinite(least) and math.isfinite(largest))
        require(
            is_finite and self.low <= least and largest <= high,
            f"its {name} has numbers from {least:g} to {largest:g}, outside its bounds",
        )
        if self.ascending is not None:
            along = np.moveaxis(array, self.ascending, -1)
            require((along[..., 1:] >= along[..., :-1]).all(), f"its {name} are not in ascending order")


Floats = partial(Array, dtypes=("<f8",))
Indices = partial(Array, dtypes=("<i8",), low=0)
Flags = partial(Array, dtypes=("|u1",), low=0, high=1)
FLOAT_LIST = Floats("_", nan=True, infinite=True, as_list=True)


class Names(Kind):
    """Labels or names: numbers, booleans, or text as an array of NumPy or of Python strings.

    Parameters
    ----------
    *shape : str or int
    distinct : bool
        Whether they have to be distinct and in ascending order.
    text : bool
        Whether they have to be text.
    """

    def __init__(self, *shape: Dimension, distinct: bool = False, text: bool = False) -> None:
        self.values, self.distinct = Array(*shape, dtypes=("<U",) if text else (*NUMBERS, "<U")), distinct

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
        Called with the fields as keyword arguments, it returns the object. It can raise InvalidModelFile,
        with the end of a sentence, if the fields are inconsistent.
    fields : mapping of str to Kind
        In the order in which they are read: a size has to occur in a shape before other fields refer to it.
    sources : mapping of str to str or callable
        Where fields are found in the object: a dotted path, or a function of the object. By default, it is
        the attribute of the name of the field, None if there is none.
    """

    def __init__(
        self,
        build: Callable[..., Any],
        fields: Mapping[str, Kind],
        sources: Mapping[str, str | Callable[[Any], Any]] | None = None,
    ) -> None:
        self.build, self.fields, self.sources = build, dict(fields), dict(sources or {})

    def write(self, value: Any, name: str, arrays: Arrays) -> Json:
        data = {}
        for field, kind in self.fields.items():
            source = self.sources.get(field, field)
            part = source(value) if callable(source) else reduce(_part, source.split("."), value)
            data[field] = kind.write(part, f"{name}/{field}", arrays)
        return data

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        if type(data) is not dict or data.keys() != self.fields.keys():
            raise invalid(name, data, f"a record with the fields {', '.join(self.fields)}")
        values = {
            field: kind.read(data[field], f"{name}/{field}", reader) for field, kind in self.fields.items()
        }
        try:
            return self.build(**values)
        except InvalidModelFile as error:
            raise InvalidModelFile(f"in its {name}, {error}") from error


def _part(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


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
        if form == "dict" and is_list_of(list, items):
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
    fields : mapping of str to Kind
        The fitted attributes that are saved, beside the number and the names of features.
    follows : callable
        From the saved attributes, as keyword arguments, to all attributes that are set.
    sources : mapping of str to str or callable
        See `Record`; also of the parameters in `parameters`.
    parameters : mapping of str to Kind
        Kinds of parameters that are neither numbers, text, lists, dictionaries nor arrays.
    finish : callable
        From the estimator with its attributes to the one that is returned.
    """

    def __init__(
        self,
        cls: type,
        fields: Mapping[str, Kind],
        *,
        follows: Callable[..., dict[str, Any]] = dict,
        sources: Mapping[str, str | Callable[[Any], Any]] | None = None,
        parameters: Mapping[str, Kind] | None = None,
        finish: Callable[[Any], Any] = lambda estimator: estimator,
    ) -> None:
        features: dict[str, Kind] = {
            "n_features_in_": Size("n_features"),
            "feature_names_in_": Maybe(Names("n_features", text=True)),
        }
        self.cls, self.name, self.finish = cls, cls.__name__, finish
        self.fitted = Record(follows, features | dict(fields), sources)
        known = dict(cls().get_params(deep=False))
        kinds = {name: PARAMETER for name in sorted(known) if name not in NOT_SAVED} | dict(parameters or {})
        self.parameters = Record(cls, kinds, {k: v for k, v in (sources or {}).items() if k in known})

    def write(self, value: Any, name: str, arrays: Arrays, *, is_fitted: bool = True) -> Json:
        if is_fitted:
            check_is_fitted(value)
        parameters = self.parameters.write(value, f"{name}/parameters", arrays)
        fitted = self.fitted.write(value, name, arrays) if is_fitted else None
        return {"estimator": self.name, "parameters": parameters, "fitted": fitted}

    def read(self, data: Json, name: str, reader: Reader, *, is_fitted: bool = True) -> Any:
        estimator = self.parameters.read(data["parameters"], f"{name}/parameters", reader)
        for parameter, constraints in getattr(self.cls, "_parameters", {}).items():
            try:
                validate(parameter, getattr(estimator, parameter), *constraints)
            except (ValueError, TypeError) as error:
                problem = f"its {self.name} has an invalid {parameter}: {shown(str(error))}"
                raise InvalidModelFile(problem) from error
        if not is_fitted:
            return estimator
        for attribute, value in self.fitted.read(data["fitted"], name, reader).items():
            if value is not None or attribute != "feature_names_in_":
                setattr(estimator, attribute, value)
        return self.finish(estimator)


class AnyEstimator(Kind):
    """One of several estimators, which the file names; fitted, or with parameters only."""

    def __init__(self, *estimators: Estimator, is_fitted: bool = True) -> None:
        self.by_name, self.is_fitted = {estimator.name: estimator for estimator in estimators}, is_fitted

    def has(self, value: Any) -> bool:
        """Return whether an object is of exactly one of the classes."""
        name = type(value).__name__
        return name in self.by_name and self.by_name[name].cls is type(value)

    def write(self, value: Any, name: str, arrays: Arrays) -> Json:
        if not self.has(value):
            raise invalid(name, type(value).__name__, f"one of {', '.join(self.by_name)}")
        return self.by_name[type(value).__name__].write(value, name, arrays, is_fitted=self.is_fitted)

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        if type(data) is not dict or data.keys() != {"estimator", "parameters", "fitted"}:
            raise invalid(name, data, "an estimator with estimator, parameters and fitted")
        choice(*self.by_name).read(data["estimator"], f"{name}/estimator", reader)
        return self.by_name[data["estimator"]].read(data, name, reader, is_fitted=self.is_fitted)
