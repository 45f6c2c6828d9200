"""The error for an invalid model file."""

from __future__ import annotations


class InvalidModelFile(ValueError):
    """An invalid model file; the message is the end of a sentence about "it"."""


def reason(error: Exception, otherwise: str) -> str:
    """Return the end of a sentence about an error; `otherwise` is for unexpected ones."""
    if isinstance(error, InvalidModelFile):
        return str(error)
    detail = " ".join(str(error).split()).rstrip(".")
    return f"{otherwise} ({type(error).__name__}: {detail})"
