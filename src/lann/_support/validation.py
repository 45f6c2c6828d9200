"""Validation of parameters: what each may be, and one sentence for a value that is something else."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, Protocol

import numpy as np

# Integers are below it, so that they can be counted with in arrays.
MOST = 2**62
# Characters of a value in a message.
LONGEST_SHOWN = 200
Closed = Literal["both", "left", "right", "neither"]


class Constraint(Protocol):
    """What a value may be; as text, it is worded as in an error message."""

    def accepts(self, value: Any) -> bool:
        """Return whether the value satisfies the constraint."""


@dataclass(frozen=True)
class Number:
    """A finite number in an interval."""

    low: float
    high: float = math.inf
    closed: Closed = "both"
    integer: bool = False

    def accepts(self, value: Any) -> bool:
        is_integer = isinstance(value, Integral)
        if isinstance(value, bool) or not (is_integer or isinstance(value, float | np.floating)):
            return False
        if (self.integer and not is_integer) or (not -MOST < value < MOST and is_integer):
            return False
        number = float(value)
        above = number >= self.low if self.closed in ("both", "left") else number > self.low
        below = number <= self.high if self.closed in ("both", "right") else number < self.high
        return math.isfinite(number) and above and below

    def __str__(self) -> str:
        text = "an integer" if self.integer else "a number"
        text += f" {'of at least' if self.closed in ('both', 'left') else 'above'} {self.low:g}"
        if self.high < math.inf:
            text += f" and {'at most' if self.closed in ('both', 'right') else 'below'} {self.high:g}"
        return text


# Strengths and step sizes: the products of larger ones with gradients are not finite.
LARGEST_STRENGTH = 1e100
STRENGTH, POSITIVE_STRENGTH = Number(0, LARGEST_STRENGTH), Number(0, LARGEST_STRENGTH, closed="right")


@dataclass(frozen=True)
class Integer(Number):
    """An integer in an interval."""

    integer: bool = True


class OneOf:
    """One of some strings, bools and None; 1 is not True, but NumPy's True is."""

    def __init__(self, *choices: str | bool | None) -> None:
        self.choices = choices

    def accepts(self, value: Any) -> bool:
        if isinstance(value, np.bool_):
            value = bool(value)
        return any(value is choice or (isinstance(value, str) and value == choice) for choice in self.choices)

    def __str__(self) -> str:
        return ", or ".join(map(repr, self.choices))


@dataclass(frozen=True)
class SubsetOf:
    """A tuple or list of some of the choices."""

    choices: tuple[str, ...]

    def accepts(self, value: Any) -> bool:
        return isinstance(value, tuple | list) and all(item in self.choices for item in value)

    def __str__(self) -> str:
        return f"a tuple of some of {self.choices}"


@dataclass(frozen=True)
class Array:
    """An array with a number of dimensions; `shape` is what the message says."""

    n_dimensions: int
    shape: str

    def accepts(self, value: Any) -> bool:
        return not isinstance(value, str) and count_dimensions(value) == self.n_dimensions

    def __str__(self) -> str:
        return f"an array of shape {self.shape}"


@dataclass(frozen=True)
class Checked:
    """Whatever a function accepts that raises a ValueError of its own otherwise."""

    check: Callable[[Any], Any]

    def accepts(self, value: Any) -> bool:
        self.check(value)
        return True

    def __str__(self) -> str:
        return ""


@dataclass(frozen=True)
class _NonzeroInteger:
    def accepts(self, value: Any) -> bool:
        return isinstance(value, Integral) and not isinstance(value, bool) and value != 0

    def __str__(self) -> str:
        return "an integer other than 0"


BOOLEAN = (OneOf(True, False),)
VERBOSE = (Integer(0), OneOf(True, False))
N_JOBS = (OneOf(None), _NonzeroInteger())


def _check_random_state(value: Any) -> None:
    from sklearn.utils import check_random_state  # takes long, and `lann info` does not need it

    check_random_state(value)


RANDOM_STATE = (Checked(_check_random_state),)

# The constraints of every parameter of an estimator, of which a value has to satisfy one.
ParameterTable = Mapping[str, Sequence[Constraint]]


def validate(name: str, value: Any, *constraints: Constraint) -> None:
    """Raise ValueError unless the value satisfies one of the constraints."""
    if any(constraint.accepts(value) for constraint in constraints):
        return
    allowed = ", or ".join(map(str, constraints))
    if len(constraints) == 1 and isinstance(constraints[0], OneOf):
        allowed = "one of " + ", ".join(map(repr, constraints[0].choices))
    raise ValueError(f"{name} must be {allowed}; got {shown(value)}.")


def count_dimensions(value: Any) -> int | None:
    """Return the number of dimensions of an array-like, None if its rows differ in length.

    >>> count_dimensions([[1, 2], [3, 4]]), count_dimensions([[1], [2, 3]])
    (2, None)
    """
    try:
        return np.ndim(value)
    except ValueError:
        return None


def shown(value: Any) -> str:
    """Return a value as a message shows it: in one line, and not too long.

    >>> shown(np.eye(2)), shown("a  b")
    ('array([[1., 0.], [0., 1.]])', "'a  b'")
    """
    text = repr(value)
    if "\n" in text:
        text = " ".join(text.split())
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def validate_parameters(estimator: Any, table: ParameterTable) -> None:
    """Raise ValueError on the first parameter of the estimator that satisfies none of its constraints."""
    for name, constraints in table.items():
        validate(name, getattr(estimator, name), *constraints)


def store_parameters(estimator: Any, parameters: dict[str, Any]) -> None:
    """Set the parameters of a constructor, which are its local variables, as attributes of an estimator."""
    vars(estimator).update({n: value for n, value in parameters.items() if n not in ("self", "__class__")})


# Neither changes a result: threads and output are for the process to choose.
NOT_OF_THE_RESULT = ("n_jobs", "verbose")


def changed_parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator that are not the defaults, as far as they can change results."""
    defaults = type(estimator)().get_params(deep=False)
    return {
        name: value
        for name, value in estimator.get_params(deep=False).items()
        if name not in NOT_OF_THE_RESULT and not _is_same(value, defaults[name])
    }


def _is_same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(np.all(value == default))
