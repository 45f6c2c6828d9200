"""JSON lines: an object in every line."""

from __future__ import annotations

import json
from typing import Any


def read_json_lines(text: str, source: str) -> dict[str, list[Any]]:
    """Return the columns of a text in which every line is a JSON object; keys that an object lacks are None.

    Parameters
    ----------
    text : str
    source : str
        Name of the file in messages.

    Raises
    ------
    ValueError
        If a line is not an object of single values.
    """
    if text.lstrip().startswith("["):
        raise ValueError(f"{source} is a JSON array; a table must have one JSON object in each line.")
    rows = [_object(line, number, source) for number, line in _lines(text)]
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _lines(text: str) -> list[tuple[int, str]]:
    # Not splitlines, which splits at characters that a JSON string may contain.
    return [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]


def _object(line: str, number: int, source: str) -> dict[str, Any]:
    try:
        found = json.loads(line, object_pairs_hook=_unique, parse_constant=float)
    except _DuplicateError as error:
        raise ValueError(f"Line {number} of {source} has more than one {str(error)!r}.") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"Line {number} of {source} is not JSON.") from error
    if not isinstance(found, dict):
        raise ValueError(f"Line {number} of {source} is not a JSON object.")
    for name, value in found.items():
        if isinstance(value, dict | list):
            raise ValueError(
                f"Line {number} of {source} has a list or an object in {name!r}; cells must be single values."
            )
    return found


class _DuplicateError(Exception):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise _DuplicateError(name)
        found[name] = value
    return found
