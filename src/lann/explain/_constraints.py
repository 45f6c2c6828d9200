"""Constraints of counterfactuals: which features may change, in which direction, range and at what cost."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann._support.inputs import differ
from lann._support.types import Floats, Indices
from lann._support.validation import Number, shown
from lann.columns.schema import UNSEEN, Feature, TableSchema, array_as_table, read

# Decimals of a feature, at most; a thousandth of its standard deviation is enough.
MOST_DECIMALS, DECIMALS_OF_SPREAD = 10, 3
COST = Number(0)
# The share of the values of a number below its range, and above it, that are extreme.
EXTREME = 0.01
# Values that are so near to a step of their decimals, in steps, are on it.
ROUNDING = 1e-6


@dataclass(frozen=True)
class Constraints:
    """What counterfactuals may change. Features are given by their names or positions.

    Parameters
    ----------
    allow : sequence or None, default=None
        The features that may change, also from a gap to a value; None is all, but gaps stay.
    frozen : sequence, default=()
        Features that must not change, such as an age.
    direction : mapping, default={}
        By feature, "up" or "down": its values may only become larger or only smaller. Gaps then stay.
    range : mapping, default={}
        By feature, the smallest and the largest value that it may be changed to, where None (in a file, inf)
        is no limit; of a feature without an order, the categories that it may be changed to.
    cost : mapping, default={}
        By feature, how much a change of it counts; 1 for all others.

    See Also
    --------
    counterfactuals : Find changes that keep them.

    Examples
    --------
    >>> from lann.explain import Constraints
    >>> Constraints.of({"frozen": ["age"], "direction": {"price": "down"}}).direction
    {'price': 'down'}
    """

    allow: Sequence[Any] | None = None
    frozen: Sequence[Any] = ()
    direction: Mapping[Any, str] = field(default_factory=dict)
    range: Mapping[Any, Sequence[Any]] = field(default_factory=dict)
    cost: Mapping[Any, float] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Constraints | Mapping[str, Any] | str | os.PathLike[str] | None) -> Constraints:
        """Return constraints that are given as a mapping of the parameters, or as a TOML file of it.

        Parameters
        ----------
        given : Constraints, mapping, path or None

        Returns
        -------
        constraints : Constraints

        Raises
        ------
        ValueError
            If the file is not TOML, or there is no such parameter.
        OSError
            If the file cannot be read.
        """
        if given is None or isinstance(given, Constraints):
            return given or cls()
        if isinstance(given, str | os.PathLike):
            path = Path(given)
            try:
                given = tomllib.loads(path.read_text("utf-8"))
            except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
                raise ValueError(f"{str(path)!r} is not a TOML file: {error}.") from None
        names = [parameter.name for parameter in fields(cls)]
        for name, value in given.items():
            if name not in names:
                raise ValueError(f"constraints must have the keys {', '.join(names)}; got {shown(name)}.")
            is_list = not isinstance(value, str) and isinstance(value, Iterable)
            kind = Mapping if name in ("direction", "range", "cost") else Iterable
            if not (is_list and isinstance(value, kind)) and value is not None:
                what = "a mapping by feature" if kind is Mapping else "a list of features"
                raise ValueError(f"{name} of constraints must be {what}; got {shown(value)}.")
        ranges = {
            name: [None if isinstance(value, float) and np.isinf(value) else value for value in values]
            for name, values in (given.get("range") or {}).items()
        }
        return cls(**{**given, "range": ranges})

    @property
    def features(self) -> list[Any]:
        """The features that are named."""
        return [*(self.allow or ()), *self.frozen, *self.direction, *self.range, *self.cost]

    def limits(self, names: list[Any], schema: TableSchema, X: Floats) -> Limits:
        """Return the constraints as arrays.

        Parameters
        ----------
        names : list
            Names of the features.
        schema : TableSchema
            What the numbers in the rows mean.
        X : ndarray of shape (n_rows, n_features)
            Training rows: no value is changed to one outside their range.

        Returns
        -------
        limits : Limits

        Raises
        ------
        ValueError
            If there is no such feature, or a constraint does not fit it.
        """
        position = {name: _position(name, names) for name in self.features}
        free = np.full(len(names), self.allow is None)
        free[[position[name] for name in self.allow or ()]] = True
        free[[position[name] for name in self.frozen]] = False
        kinds = np.array([feature.kind for feature in schema.features])
        limits = Limits.of(X, kinds, free)
        limits.fills[[position[name] for name in self.allow or ()]] = True
        for name, sign in self.direction.items():
            if sign not in ("up", "down") or limits.category[position[name]]:
                must = "'up' or 'down'" if sign not in ("up", "down") else "of a feature with an order"
                raise ValueError(f"direction must be {must}; got {shown(sign)} for {shown(name)}.")
            (limits.rises if sign == "up" else limits.falls)[position[name]] = True
        for name, cost in self.cost.items():
            if not COST.accepts(cost):
                raise ValueError(f"cost must be {COST}; got {shown(cost)} for {shown(name)}.")
            limits.costs[position[name]] = cost
        for name, values in self.range.items():
            limits.restrict(position[name], schema.features[position[name]], values)
        return limits


@dataclass(frozen=True)
class Limits:
    """Constraints by feature, each (n_features,).

    Attributes
    ----------
    free, fills, rises, falls : whether it may change, also from a gap, and only up or only down
    category : whether its values have no order
    low, high : the range of its values, without extreme ones
    lowest, highest : the range with extreme values
    costs : what a change counts
    scale : the unit of a change
    decimals : the number of decimals of its values
    allowed : by category, the codes it may be changed to, if not all
    """

    free: NDArray[np.bool_]
    fills: NDArray[np.bool_]
    rises: NDArray[np.bool_]
    falls: NDArray[np.bool_]
    category: NDArray[np.bool_]
    low: Floats
    high: Floats
    lowest: Floats
    highest: Floats
    costs: Floats
    scale: Floats
    decimals: Indices
    allowed: dict[int, Floats]

    @classmethod
    def of(cls, X: Floats, kinds: NDArray[Any], free: NDArray[np.bool_]) -> Limits:
        """Return the limits that the training rows set."""
        category, (fills, rises, falls) = kinds == "category", np.zeros((3, len(kinds)), bool)
        spread = np.nanstd(X, axis=0)
        scale = np.where((spread > 0) & ~category, spread, 1.0)
        steps = [
            _decimals(x, s) if kind == "number" else 0 for x, s, kind in zip(X.T, scale, kinds, strict=True)
        ]
        shares = [0.0, EXTREME, 1.0 - EXTREME, 1.0]
        lowest, low, high, highest = np.transpose(
            [np.nanquantile(x.astype(np.float64), shares, method="nearest") for x in X.T]
        )
        is_whole = (kinds != "number") | (low == high)
        low, high = np.where(is_whole, lowest, low), np.where(is_whole, highest, high)
        costs, decimals = np.ones(len(kinds)), np.array(steps)
        return cls(
            free, fills, rises, falls, category, low, high, lowest, highest, costs, scale, decimals, {}
        )

    def restrict(self, position: int, feature: Feature, values: Sequence[Any]) -> None:
        """Restrict the range of a feature, given in the user's values."""
        listed = list(values)
        column, schema = (
            array_as_table(np.array([[v] for v in listed], dtype=object)),
            TableSchema((feature,)),
        )
        numbers = read(column, schema)[:, 0] if listed else np.empty(0)
        what = f"range of {feature.name!r}"
        if self.category[position]:
            if not len(numbers) or not (numbers > UNSEEN).all():
                raise ValueError(
                    f"The {what} must list categories of the training rows; got {shown(listed)}."
                )
            self.allowed[position] = numbers
            return
        if len(numbers) != 2:
            raise ValueError(f"The {what} must be two values, low and high; got {shown(listed)}.")
        low, high = np.fmax(numbers[0], self.lowest[position]), np.fmin(numbers[1], self.highest[position])
        if not low <= high:
            raise ValueError(
                f"The {what} has no value between the smallest and the largest of the training rows; got "
                f"{shown(listed)}."
            )
        self.low[position] = self.lowest[position] = low
        self.high[position] = self.highest[position] = high

    def widened(self) -> Limits:
        """Return the limits with extreme values."""
        return replace(self, low=self.lowest, high=self.highest)

    def amounts(self, rows: Floats, queries: Floats, features: Any = slice(None)) -> Floats:
        """Return the size of the change in each feature: (..., n_features).

        Another category, or a value in place of a gap, is a change of size 1.

        Parameters
        ----------
        rows, queries : ndarray of shape (..., n_features)
            They are broadcast.
        features : int or slice, default=slice(None)
            Which features they have.
        """
        amounts = np.abs(rows - queries) / self.scale[features]
        return np.where(self.category[features] | np.isnan(amounts), differ(rows, queries), amounts)

    def costs_of(self, rows: Floats, queries: Floats) -> Floats:
        """Return what the change of each feature costs: (n_rows, n_features).

        That is 1 and the size of the change, times the cost of the feature.
        """
        return (differ(rows, queries) + self.amounts(rows, queries)) * self.costs

    def nearest(self, values: Floats, queries: Floats) -> Floats:
        """Return the nearest values that queries may be changed to; NaN where there is none.

        Parameters
        ----------
        values, queries : ndarray of shape (..., n_features)
            They are broadcast.

        Returns
        -------
        values : ndarray of shape (..., n_features)
        """
        low = np.where(self.rises, np.maximum(self.low, queries), self.low)
        high = np.where(self.falls, np.minimum(self.high, queries), self.high)
        size = 10.0**self.decimals
        first, last = np.ceil(low * size - ROUNDING), np.floor(high * size + ROUNDING)
        steps = np.where(first <= last, np.clip(np.rint(values * size), first, last) + 0.0, np.nan)  # no -0.0
        is_free = self.free & (self.fills | ~np.isnan(queries))
        found = np.where(is_free, np.where(self.category, values, steps / size), np.nan)
        for position, codes in self.allowed.items():
            found[..., position] = np.where(
                np.isin(found[..., position], codes), found[..., position], np.nan
            )
        return found


def _position(feature: Any, names: list[Any]) -> int:
    """Return the position of a feature that is given by its name or its position."""
    if isinstance(feature, int | np.integer) and not isinstance(feature, bool):
        if -len(names) <= feature < len(names):
            return int(feature) % len(names)
    elif feature in names:
        return names.index(feature)
    raise ValueError(
        f"constraints must have names of features or positions below {len(names)}; got {shown(feature)}."
    )


def _decimals(values: Floats, spread: float) -> int:
    """Return the number of decimals of a feature: those that all values have at most, if these are few."""
    known = np.unique(values[~np.isnan(values)])
    most = min(max(int(np.ceil(-np.log10(spread))) + DECIMALS_OF_SPREAD, 0), MOST_DECIMALS)
    return next((d for d in range(most) if np.array_equal(np.round(known, d), known)), most)
