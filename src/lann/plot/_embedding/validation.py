"""Validation of the parameters of EmbeddingDisplay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann._types import Floats, Labels
from lann._validation import count_dimensions


def is_several_panels(coordinates: Any) -> bool:
    """Return whether the coordinates are a list with one array per panel."""
    is_list = isinstance(coordinates, list | tuple) and len(coordinates) > 0
    return is_list and count_dimensions(coordinates[0]) == 2


def check_panels(name: str, given: Any, n_panels: int, *, several: bool) -> list[Any]:
    """Return a list with one item per panel; None for all panels if nothing is given."""
    if given is None:
        return [None] * n_panels
    if not several:
        return [given]
    if not isinstance(given, list | tuple) or len(given) != n_panels:
        got = f"a list of {len(given)}" if isinstance(given, list | tuple) else f"one {type(given).__name__}"
        raise ValueError(f"{name} must be a list with one item for each of {n_panels} panels; got {got}.")
    return list(given)


def check_coordinates(name: str, given: Any) -> Floats:
    """Return finite coordinates of at least one row, (n_rows, 2)."""
    try:
        coordinates = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must have two numbers for each row; got {_abbreviate(given)}.") from None
    if coordinates.size == 0:
        raise ValueError(f"{name} must have at least one row; got none.")
    check_two_dimensions(coordinates)
    if not np.isfinite(coordinates).all():
        raise ValueError(f"{name} must be finite; got {coordinates[~np.isfinite(coordinates)][0]}.")
    return coordinates


def check_two_dimensions(coordinates: Floats) -> None:
    """Raise ValueError unless the coordinates have shape (n_rows, 2)."""
    if coordinates.ndim != 2 or coordinates.shape[1] != 2:
        raise ValueError(f"An embedding must have 2 dimensions to be drawn; got shape {coordinates.shape}.")


def check_labels(name: str, given: Any, coordinates: Floats | None) -> Labels | None:
    """Return class indices, one per row, (n_rows,)."""
    return None if given is None else _check_indices(name, given, coordinates, "class_names")


def check_values(given: Any, value_names: Sequence[str] | None, coordinates: Floats) -> NDArray[Any] | None:
    """Return one number per row, or one index into the names, (n_rows,)."""
    if given is None:
        if value_names is not None:
            raise ValueError("value_names needs values, which are indices into it; got values=None.")
        return None
    if value_names is None:
        values = _check_length("values", np.asarray(given), coordinates)
        if values.dtype.kind not in "biuf" or not np.isfinite(values).all():
            invalid = values[~np.isfinite(values)][0] if values.dtype.kind == "f" else values[0]
            raise ValueError(
                f"values without value_names must be finite numbers; got {_abbreviate(invalid)}."
            )
        return values.astype(np.float64)
    indices = _check_indices("values", given, coordinates, "value_names")
    if indices.max() >= len(value_names):
        raise ValueError(
            f"values must be indices into the {len(value_names)} value_names; got {indices.max()}."
        )
    return indices


def check_misclassified(given: Any, coordinates: Floats) -> NDArray[np.bool_] | None:
    """Return whether each row is misclassified, (n_rows,)."""
    return (
        None if given is None else _check_length("misclassified", np.asarray(given), coordinates).astype(bool)
    )


def check_lines(lines: Any, shares: Any) -> tuple[Floats, Floats]:
    """Return the starts and ends of lines, (n_lines, 2, 2), and their vote shares, (n_lines,)."""
    if (lines is None) != (shares is None):
        missing = "line_shares" if shares is None else "lines"
        raise ValueError(f"lines and line_shares must be given together; got {missing}=None.")
    if lines is None:
        return np.empty((0, 2, 2)), np.empty(0)
    lines, shares = np.asarray(lines, dtype=np.float64), np.asarray(shares, dtype=np.float64)
    if lines.shape[1:] != (2, 2) or shares.shape != lines.shape[:1]:
        raise ValueError(
            f"lines must have shape (n_lines, 2, 2) and line_shares (n_lines,); got {lines.shape} and "
            f"{shares.shape}."
        )
    for name, values in (("lines", lines), ("line_shares", shares)):
        if not np.isfinite(values).all():
            raise ValueError(f"{name} must be finite; got {values[~np.isfinite(values)][0]}.")
    return lines, shares


def check_texts(name: str, given: Sequence[str] | None, n_panels: int) -> list[str]:
    """Return one text per panel, empty if nothing is given."""
    if given is None:
        return [""] * n_panels
    if isinstance(given, str) or len(given) != n_panels:
        got = repr(given) if isinstance(given, str) else f"{len(given)}"
        raise ValueError(f"{name} must be a list with one text for each of {n_panels} panels; got {got}.")
    return [str(text) for text in given]


def check_combination(n_panels: int, **given: Any) -> None:
    """Raise ValueError on options for one panel with several panels, and on two meanings of the color."""
    present = [name for name, value in given.items() if value is not None]
    if present and n_panels > 1:
        raise ValueError(f"{present[0]} can be shown in one panel only; got {n_panels} panels.")
    if {"values", "misclassified"} <= set(present):
        raise ValueError("values and misclassified cannot both be shown; got both.")


def _check_indices(name: str, given: Any, coordinates: Floats | None, names: str) -> Labels:
    indices = _check_length(name, np.asarray(given), coordinates)
    if indices.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be indices into {names}, integers from 0; got {_abbreviate(indices[0])} "
            "(np.unique(…, return_inverse=True) returns names and indices)."
        )
    if indices.min() < 0:
        raise ValueError(f"{name} must be indices into {names}, integers from 0; got {indices.min()}.")
    return indices.astype(np.int64)


def _check_length(name: str, given: NDArray[Any], coordinates: Floats | None) -> NDArray[Any]:
    n_rows = 0 if coordinates is None else len(coordinates)
    if given.shape != (n_rows,):
        raise ValueError(f"{name} must have shape ({n_rows},), one value per row; got {given.shape}.")
    return given


def _abbreviate(value: Any) -> str:
    """Return the representation of a value, or the beginning of a long one."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 60 else f"{text[:59]}…"
