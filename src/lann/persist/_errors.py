"""The error for an invalid model, or an invalid file of one."""

from __future__ import annotations

from typing import Any

MOST_CHARACTERS = 200


class InvalidModelFile(ValueError):
    """An invalid model file; the message is the end of a sentence about "it"."""


def shown(value: Any) -> str:
    """Return a value from a file for a message: in one line, and not too long."""
    text = repr(value[:MOST_CHARACTERS] if isinstance(value, str | bytes) else value)
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"


def one_sentence(error: Exception) -> str:
    """Return the message of an error as the end of a sentence."""
    text = " ".join(str(error).split()).rstrip(".")
    return text if len(text) <= 2 * MOST_CHARACTERS else f"{text[: 2 * MOST_CHARACTERS]}…"
