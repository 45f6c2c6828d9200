"""The reason why a model file is not accepted."""

from __future__ import annotations


class Refused(ValueError):
    """Why a file is not accepted, worded as the end of a sentence about "it"."""


def reason(error: Exception, otherwise: str) -> str:
    """The end of a sentence, whatever went wrong; `otherwise` stands for what nobody has foreseen."""
    if isinstance(error, Refused):
        return str(error)
    detail = " ".join(str(error).split()).rstrip(".")
    return f"{otherwise} ({type(error).__name__}: {detail})"
