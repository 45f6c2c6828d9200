"""JSON with finite numbers, distinct keys and bounds of size and depth."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from lann.persist._errors import InvalidModelFile, shown

MOST_BYTES = 2**24
# A value takes up to a hundred times as much memory as its text; these bounds keep it to some dozens of MB.
MOST_CONTAINERS = 100_000
MOST_ITEMS = 200_000
DEEPEST = 20
LARGEST_INTEGER = 2**63
_TOO_LARGE = "its model.json is too large"


def write_json(value: Any) -> bytes:
    """Return a value as JSON; raise InvalidModelFile if `read_json` would not accept it."""
    try:
        content = json.dumps(value, allow_nan=False, indent=1).encode("ascii")
    except ValueError as error:
        raise InvalidModelFile("it has a number that is not finite where it may not be") from error
    _check_size(content)
    _check_value(value, 0)
    return content


def read_json(encoded: bytes | memoryview) -> Any:
    """Return the value that JSON describes; raise InvalidModelFile if it is invalid."""
    _check_length(encoded)  # before it is copied
    content = bytes(encoded)
    _check_size(content)
    try:
        value = json.loads(
            content.decode("utf-8"),
            object_pairs_hook=_distinct,
            parse_int=_integer,
            parse_float=_finite,
            parse_constant=_constant,
        )
    except RecursionError as error:
        raise InvalidModelFile("its model.json is nested too deeply") from error
    except InvalidModelFile:
        raise
    except ValueError as error:
        raise InvalidModelFile("its model.json is not valid JSON") from error
    _check_value(value, 0)
    return value


def _check_length(content: bytes | memoryview) -> None:
    if len(content) > MOST_BYTES:
        raise InvalidModelFile(_TOO_LARGE)


def _check_size(content: bytes) -> None:
    _check_length(content)
    n_containers = content.count(b"[") + content.count(b"{")
    if n_containers > MOST_CONTAINERS or content.count(b",") > MOST_ITEMS:
        raise InvalidModelFile(_TOO_LARGE)


def _check_value(value: Any, depth: int) -> None:
    if depth > DEEPEST:
        raise InvalidModelFile("its model.json is nested too deeply")
    if isinstance(value, dict):
        for key, item in value.items():
            _check_value(key, depth + 1)
            _check_value(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            _check_value(item, depth + 1)
    elif isinstance(value, str):
        # Half of a surrogate pair cannot be printed or written.
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise InvalidModelFile("it has text that is not valid Unicode")
    elif isinstance(value, int) and not -LARGEST_INTEGER <= value < LARGEST_INTEGER:
        raise InvalidModelFile("it has an integer that is too large")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InvalidModelFile("its model.json has a key twice")
    return found


def _integer(text: str) -> int:
    if len(text) > len(str(-LARGEST_INTEGER)):
        raise InvalidModelFile("its model.json has an integer that is too large")
    return int(text)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise InvalidModelFile(f"its model.json has a number that is not finite, {shown(text)}")
    return number


def _constant(text: str) -> NoReturn:
    raise InvalidModelFile(f"its model.json has a number that is not finite, {text}")
