"""What an EmbeddingDisplay is given, checked: one sentence for whatever cannot be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann._types import Floats, Labels


def is_several(places: Any) -> bool:
    """Whether places of several panels are given, not those of one."""
    return isinstance(places, list | tuple) and len(places) > 0 and np.ndim(places[0]) == 2


def as_panels(name: str, given: Any, n_panels: int, *, several: bool) -> list[Any]:
    """One for each panel; None where there is none."""
    if given is None:
        return [None] * n_panels
    if not several:
        return [given]
    if not isinstance(given, list | tuple) or len(given) != n_panels:
        got = f"a list of {len(given)}" if isinstance(given, list | tuple) else f"one {type(given).__name__}"
        raise ValueError(f"{name} must be a list with one for each of {n_panels} panels; got {got}.")
    return list(given)


def as_places(name: str, given: Any) -> Floats:
    """Finite places of at least one point: (n_points, 2)."""
    try:
        places = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be two numbers for each point; got {_brief(given)}.") from None
    if places.size == 0:
        raise ValueError(f"{name} must have at least one point; got none.")
    check_plane(places)
    if not np.isfinite(places).all():
        odd = places[~np.isfinite(places)][0]
        raise ValueError(f"{name} must be finite; got {odd}.")
    return places


def check_plane(places: Floats) -> None:
    """Refuse what cannot be drawn on paper."""
    if places.ndim != 2 or places.shape[1] != 2:
        raise ValueError(f"Embeddings are drawn in 2 dimensions; got places of shape {places.shape}.")


def as_labels(name: str, given: Any, places: Floats | None) -> Labels | None:
    """Places in the names of the classes, one for each point: (n_points,)."""
    return None if given is None else _as_indices(name, given, places, "class_names")


def as_values(given: Any, value_names: Sequence[str] | None, places: Floats) -> NDArray[Any] | None:
    """Numbers, or places in the names, one for each point: (n_points,)."""
    if given is None:
        if value_names is not None:
            raise ValueError("value_names need values, which are places in them; got values=None.")
        return None
    if value_names is None:
        values = _of_length("values", np.asarray(given), places)
        if values.dtype.kind not in "biuf" or not np.isfinite(values).all():
            odd = values[~np.isfinite(values)][0] if values.dtype.kind == "f" else values[0]
            raise ValueError(f"values without value_names must be finite numbers; got {_brief(odd)}.")
        return values.astype(np.float64)
    chosen = _as_indices("values", given, places, "value_names")
    if chosen.max() >= len(value_names):
        raise ValueError(f"values must be places in the {len(value_names)} value_names; got {chosen.max()}.")
    return chosen


def as_wrong(given: Any, places: Floats) -> NDArray[np.bool_] | None:
    """Which points are marked: (n_points,)."""
    return None if given is None else _of_length("wrong", np.asarray(given), places).astype(bool)


def as_lines(lines: Any, shares: Any) -> tuple[Floats, Floats]:
    """The ends of lines, (n_lines, 2, 2), and how thick they are, (n_lines,)."""
    if (lines is None) != (shares is None):
        missing = "line_shares" if shares is None else "lines"
        raise ValueError(f"lines and line_shares must be given together; got {missing}=None.")
    if lines is None:
        return np.empty((0, 2, 2)), np.empty(0)
    ends, thick = np.asarray(lines, dtype=np.float64), np.asarray(shares, dtype=np.float64)
    if ends.shape[1:] != (2, 2) or thick.shape != ends.shape[:1]:
        raise ValueError(
            f"lines must be (n_lines, 2, 2) and line_shares (n_lines,); got {ends.shape} and {thick.shape}."
        )
    if not (np.isfinite(ends).all() and np.isfinite(thick).all()):
        raise ValueError("lines and line_shares must be finite; got others.")
    return ends, thick


def as_texts(name: str, given: Sequence[str] | None, n_panels: int) -> list[str]:
    """What stands below each panel."""
    if given is None:
        return [""] * n_panels
    if isinstance(given, str) or len(given) != n_panels:
        got = repr(given) if isinstance(given, str) else f"{len(given)}"
        raise ValueError(f"{name} must be a list with one text for each of {n_panels} panels; got {got}.")
    return [str(text) for text in given]


def check_together(n_panels: int, **given: Any) -> None:
    """Refuse what several panels have no place for, and two meanings of one color."""
    there = [name for name, value in given.items() if value is not None]
    if there and n_panels > 1:
        raise ValueError(f"{there[0]} can be shown in one panel only; got {n_panels} panels.")
    if {"values", "wrong"} <= set(there):
        raise ValueError("values and wrong cannot both be shown; got both.")


def _as_indices(name: str, given: Any, places: Floats | None, names: str) -> Labels:
    indices = _of_length(name, np.asarray(given), places)
    if indices.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be places in {names}, integers from 0 on; got {_brief(indices[0])} "
            "(np.unique(…, return_inverse=True) gives names and places)."
        )
    if indices.min() < 0:
        raise ValueError(f"{name} must be places in {names}, integers from 0 on; got {indices.min()}.")
    return indices.astype(np.int64)


def _of_length(name: str, given: NDArray[Any], places: Floats | None) -> NDArray[Any]:
    n_points = 0 if places is None else len(places)
    if given.shape != (n_points,):
        raise ValueError(f"{name} must be one for each of {n_points} points; got {given.shape}.")
    return given


def _brief(given: Any) -> str:
    """The value, or only the beginning of a long one."""
    text = repr(given.item() if isinstance(given, np.generic) else given)
    return text if len(text) <= 60 else f"{text[:59]}…"
