"""Records of several fields, and estimators, in terms of the kinds of `_kinds`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from lann._validation import Constraint, validate
from lann.persist._errors import InvalidModelFile, one_sentence
from lann.persist._kinds import Json, Kind, Reader, Writer, invalid
from lann.persist._parameters import PARAMETER

Values = dict[str, Any]
# Returns what is wrong with the values of a record, or None.
Rule = Callable[[Values], str | None]

# Neither of the model nor of its results: threads and output are for the process that loads it to choose.
NOT_SAVED = ("n_jobs", "verbose")


class Record(Kind):
    """An object that is made of fields.

    Parameters
    ----------
    build : callable
        Called with the fields as keyword arguments, it returns the object.
    fields : mapping of str to Kind
        In the order in which they are read: a size has to occur in a shape before other fields refer to it.
    sources : mapping of str to str or callable
        Where fields are found in the object: a dotted path, or a function of the object. By default, it is
        the attribute of the name of the field.
    rules : tuple of callables
        Checks that involve several fields: from the fields, a dictionary, to what is wrong with them, as the
        end of a sentence, or None.
    at_least : mapping of str to int
        The smallest that sizes may be.
    own_sizes : bool
        Whether sizes have nothing to do with those of the same name elsewhere in the file.
    optional : tuple of str
        Fields that files of earlier versions do not have; they are None then.
    """

    def __init__(
        self,
        build: Callable[..., Any],
        fields: Mapping[str, Kind],
        *,
        sources: Mapping[str, str | Callable[[Any], Any]] | None = None,
        rules: tuple[Rule, ...] = (),
        at_least: Mapping[str, int] | None = None,
        own_sizes: bool = False,
        optional: tuple[str, ...] = (),
    ) -> None:
        self.build, self.fields, self.rules = build, dict(fields), rules
        self.optional = optional
        self.at_least, self.own_sizes = dict(at_least or {}), own_sizes
        self._sources = {name: _getter((sources or {}).get(name, name)) for name in fields}

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        writer = writer.with_own_sizes() if self.own_sizes else writer
        writer.sizes.require(self.at_least)
        try:
            values = {field: source(value) for field, source in self._sources.items()}
        except AttributeError as error:
            raise InvalidModelFile(f"its {name} is incomplete: {one_sentence(error)}") from error
        data = {
            field: kind.write(values[field], f"{name}/{field}", writer) for field, kind in self.fields.items()
        }
        self._check_rules(values, name)
        return data

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        return self.build(**self.read_fields(data, name, reader))

    def read_fields(self, data: Json, name: str, reader: Reader) -> Values:
        """Return the fields by name; raise InvalidModelFile if they are invalid."""
        reader = reader.with_own_sizes() if self.own_sizes else reader
        reader.sizes.require(self.at_least)
        if isinstance(data, dict):
            data = dict.fromkeys(self.optional) | data
        if not isinstance(data, dict) or data.keys() != self.fields.keys():
            invalid(name, data, f"a record with the fields {', '.join(self.fields)}")
        values = {
            field: kind.read(data[field], f"{name}/{field}", reader) for field, kind in self.fields.items()
        }
        self._check_rules(values, name)
        return values

    def _check_rules(self, values: Values, name: str) -> None:
        for rule in self.rules:
            wrong = rule(values)
            if wrong is not None:
                raise InvalidModelFile(f"in its {name}, {wrong}")


def _getter(source: str | Callable[[Any], Any]) -> Callable[[Any], Any]:
    return attrgetter(source) if isinstance(source, str) else source


def if_present(name: str) -> Callable[[Any], Any]:
    """Return a source: an attribute that an object may not have, None then."""
    return lambda value: getattr(value, name, None)


class Estimator(Kind):
    """A fitted estimator: its class, its parameters, and its fitted attributes.

    Parameters
    ----------
    cls : type
        Its constructor takes the parameters, and its table `_parameters`, if it has one, validates them.
    fitted : Record
        The fitted attributes that are saved. The record builds a dictionary of the attributes to set, with
        those that follow from the saved ones; an attribute that is None and in `absent` is not set.
    absent : tuple of str
        Attributes that the estimator may not have.
    parameters : mapping of str to Kind
        Kinds of parameters that are neither numbers, text, lists, dictionaries nor arrays.
    added : tuple of str
        Parameters that files of earlier versions do not have; they have their defaults then.
    """

    def __init__(
        self,
        cls: type,
        fitted: Record,
        *,
        absent: tuple[str, ...] = ("feature_names_in_",),
        parameters: Mapping[str, Kind] | None = None,
        added: tuple[str, ...] = (),
    ) -> None:
        self.cls, self.fitted, self.absent, self.added = cls, fitted, absent, added
        self._kinds = dict(parameters or {})

    @property
    def name(self) -> str:
        """Name of the class, by which the estimator is known in files."""
        return self.cls.__name__

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        try:
            check_is_fitted(value)
        except NotFittedError:
            raise NotFittedError("The model is not fitted yet; call fit before saving it.") from None
        return {
            "estimator": self.name,
            "parameters": self.write_parameters(value, name, writer),
            "fitted": self.fitted.write(value, name, writer),
        }

    def write_parameters(self, value: Any, name: str, writer: Writer) -> Json:
        """Return the parameters as they stand in model.json, after a check."""
        self._validate(value)
        return {
            parameter: self._kind(parameter).write(
                _without_generator(parameter, given), f"{name}/parameters/{parameter}", writer
            )
            for parameter, given in sorted(value.get_params(deep=False).items())
            if parameter not in NOT_SAVED
        }

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        if not isinstance(data, dict) or data.keys() != {"estimator", "parameters", "fitted"}:
            invalid(name, data, "an estimator with estimator, parameters and fitted")
        estimator = self.read_parameters(data["parameters"], name, reader)
        attributes = self.fitted.read(data["fitted"], name, reader)
        for attribute, value in attributes.items():
            if value is not None or attribute not in self.absent:
                setattr(estimator, attribute, value)
        return estimator

    def read_parameters(self, data: Json, name: str, reader: Reader) -> Any:
        """Return an estimator with the parameters that is not fitted."""
        known = self.cls().get_params(deep=False).keys() - set(NOT_SAVED)
        if not isinstance(data, dict) or not known - set(self.added) <= data.keys() <= known:
            invalid(name, data, f"an estimator with the parameters {', '.join(sorted(known))}")
        parameters = {
            parameter: self._kind(parameter).read(given, f"{name}/parameters/{parameter}", reader)
            for parameter, given in data.items()
        }
        estimator = self.cls(**parameters)
        self._validate(estimator)
        return estimator

    def _kind(self, parameter: str) -> Kind:
        return self._kinds.get(parameter, PARAMETER)

    def _validate(self, estimator: Any) -> None:
        for name, constraints in getattr(self.cls, "_parameters", {}).items():
            self._validate_parameter(name, getattr(estimator, name), constraints)

    def _validate_parameter(self, name: str, value: Any, constraints: Sequence[Constraint]) -> None:
        try:
            validate(name, value, *constraints)
        except (ValueError, TypeError) as error:
            raise InvalidModelFile(f"its {self.name} has an invalid {name}: {one_sentence(error)}") from error


def _without_generator(parameter: str, value: Any) -> Any:
    """Return a parameter as it is saved: the state of a random number generator is not."""
    is_seed = value is None or (isinstance(value, int | np.integer) and not isinstance(value, bool))
    return None if parameter == "random_state" and not is_seed else value


class AnyEstimator(Kind):
    """One of several estimators, which the file names.

    Parameters
    ----------
    *estimators : Estimator
    """

    def __init__(self, *estimators: Estimator) -> None:
        self._by_name = {estimator.name: estimator for estimator in estimators}

    def find(self, value: Any) -> Estimator | None:
        """Return the declaration of an estimator, None if there is none for exactly this class."""
        declared = self._by_name.get(type(value).__name__)
        return declared if declared is not None and declared.cls is type(value) else None

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        return self._declared(value, name).write(value, name, writer)

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        return self._named(data, name).read(data, name, reader)

    def write_parameters(self, value: Any, name: str, writer: Writer) -> Json:
        """Return the class and the parameters of an estimator, as they stand in model.json."""
        declared = self._declared(value, name)
        return {"estimator": declared.name, "parameters": declared.write_parameters(value, name, writer)}

    def read_parameters(self, data: Json, name: str, reader: Reader) -> Any:
        """Return an estimator that is not fitted."""
        declared = self._named(data, name)
        if data.keys() != {"estimator", "parameters"}:
            invalid(name, data, "an estimator with estimator and parameters")
        return declared.read_parameters(data["parameters"], name, reader)

    def _declared(self, value: Any, name: str) -> Estimator:
        declared = self.find(value)
        if declared is None:
            invalid(name, type(value).__name__, f"one of {', '.join(self._by_name)}")
        return declared

    def _named(self, data: Json, name: str) -> Estimator:
        named = data.get("estimator") if isinstance(data, dict) else None
        if not isinstance(named, str) or named not in self._by_name:
            invalid(name, named, f"one of {', '.join(self._by_name)}")
        return self._by_name[named]
