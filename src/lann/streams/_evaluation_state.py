"""The state of a prequential evaluation as JSON, checked when it is read."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import Any

from lann.streams._scores import PrequentialCurve

N_OUTCOME = 5


@dataclass(frozen=True)
class EvaluationState:
    """The state of a `PrequentialEvaluation`: numbers, labels and lists of them."""

    window_size: int
    max_points: int
    labels: list[Any]
    true_counts: list[int]
    predicted_counts: list[int]
    n_rows: int
    n_correct: int
    n_no_change: int
    n_majority: int
    loss: float
    last: int
    most_frequent: int
    window: list[list[Any]]
    every: int
    sizes: list[int] | None
    points: list[list[Any]]
    drifts: list[int]
    n_drifts: int

    def to_dict(self) -> dict[str, Any]:
        """Return the state; raise ValueError if a label cannot be in JSON."""
        for label in self.labels:
            if not _is_label(label):
                raise ValueError(f"Labels must be text, numbers or bools to be saved; got {label!r}.")
        return asdict(self)


def read_state(state: Any) -> EvaluationState:
    """Return the state of a dict; raise ValueError if it is not one that an evaluation has made."""
    names = [field.name for field in fields(EvaluationState)]
    if not isinstance(state, dict) or sorted(state) != sorted(names):
        raise ValueError("The state of an evaluation must have exactly the entries that to_dict makes.")
    found = EvaluationState(**state)
    for name, is_valid in _CHECKS.items():
        if not is_valid(getattr(found, name), found):
            raise ValueError(f"{name} of the state of an evaluation is not valid.")
    return found


def _is_count(value: Any, least: int = 0, most: float = math.inf) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _is_real(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_label(value: Any) -> bool:
    return isinstance(value, str | bool) or _is_real(value)


def _is_list(values: Any, is_valid: Callable[[Any], bool]) -> bool:
    return isinstance(values, list) and all(is_valid(value) for value in values)


def _are_labels(values: Any, _: EvaluationState) -> bool:
    return _is_list(values, _is_label) and len(set(values)) == len(values)


def _are_counts(values: Any, state: EvaluationState) -> bool:
    return _is_list(values, _is_count) and len(values) == len(state.labels) and sum(values) <= state.n_rows


def _is_code(value: Any, state: EvaluationState) -> bool:
    return _is_count(value, -1, len(state.labels) - 1)


def _is_part(value: Any, state: EvaluationState) -> bool:
    return _is_count(value, 0, state.n_rows)


def _is_window(values: Any, state: EvaluationState) -> bool:
    def is_outcome(value: Any) -> bool:
        return (
            isinstance(value, list)
            and len(value) == N_OUTCOME
            and _is_count(value[0], 0, len(state.labels) - 1)
            and _is_code(value[1], state)
            and all(_is_count(part, 0, 1) for part in value[2:4])
            and _is_real(value[4])
        )

    return _is_list(values, is_outcome) and len(values) == min(state.n_rows, state.window_size)


def _are_points(values: Any, state: EvaluationState) -> bool:
    def is_point(value: Any) -> bool:
        return (
            isinstance(value, list)
            and len(value) == len(PrequentialCurve._fields)
            and _is_count(value[0], 1, state.n_rows)
            and all(_is_real(part) for part in value[1:-3])
            and all(part is None or _is_count(part) for part in value[-3:-1])
            and _is_count(value[-1])
        )

    return _is_list(values, is_point) and len(values) <= state.max_points


# In this order: later checks rely on earlier ones.
_CHECKS: dict[str, Callable[[Any, EvaluationState], bool]] = {
    "window_size": lambda value, _: _is_count(value, 2),
    "max_points": lambda value, _: _is_count(value, 2),
    "n_rows": lambda value, _: _is_count(value),
    "labels": _are_labels,
    "true_counts": lambda value, state: _are_counts(value, state) and sum(value) == state.n_rows,
    "predicted_counts": _are_counts,
    "n_correct": _is_part,
    "n_no_change": _is_part,
    "n_majority": _is_part,
    "loss": lambda value, _: _is_real(value) and value >= 0,
    "last": _is_code,
    "most_frequent": _is_code,
    "window": _is_window,
    "every": lambda value, _: _is_count(value, 1),
    "sizes": lambda value, _: value is None or (_is_list(value, _is_count) and len(value) == 2),
    "points": _are_points,
    "drifts": lambda value, state: _is_list(value, _is_count),
    "n_drifts": lambda value, state: _is_count(value, len(state.drifts)),
}
