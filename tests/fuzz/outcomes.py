"""What can happen in a case, defined once: what is right, what is rejected, and what must not happen."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import lann

RIGHT, REJECTED = "right", "rejected"
WRONG, FOREIGN, HANG, CRASH = "wrong result", "foreign exception", "hang", "crash"
OUTCOMES = (RIGHT, REJECTED, WRONG, FOREIGN, HANG, CRASH)
FAULTS = (WRONG, FOREIGN, HANG, CRASH)
"""What must not happen."""

LANN = Path(lann.__file__).parent
LONGEST_MESSAGE = 2000


@dataclass(frozen=True)
class Outcome:
    """What happened in a case: one of `OUTCOMES`, what was tried, and the message or what is wrong."""

    kind: str
    name: str = ""
    detail: str = ""
    trace: str = ""


@dataclass(frozen=True)
class Part:
    """
    A generator of cases.

    Parameters
    ----------
    run
        From a seed and a number to what happened. It is called in child processes, which are forked after
        the part was prepared; the same seed and number are the same case in every process.
    seconds
        Limit of time for each case.
    memory
        By how many bytes the address space of a child may grow; None: no limit.
    keep
        Writes what reproduces a case into a folder, given the folder, the seed and the number.
    """

    run: Callable[[int, int], Outcome]
    seconds: float = 20.0
    memory: int | None = None
    keep: Callable[[Path, int, int], None] | None = None


class WrongResult(AssertionError):
    """A result that must not be, found by a check of a part."""


def require(holds: Any, text: str) -> None:
    """Raise WrongResult with a text unless something holds."""
    if not np.all(holds):
        raise WrongResult(text)


def try_case(
    name: str, action: Callable[[], None], *, allowed: tuple[type[Exception], ...] = (ValueError, TypeError)
) -> Outcome:
    """
    Run an action and say what happened.

    Parameters
    ----------
    name
        What is tried.
    action
        Raises `WrongResult` if a result must not be, and returns if all is right.
    allowed
        The documented exceptions.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            action()
        except WrongResult as error:
            return Outcome(WRONG, name, str(error)[:LONGEST_MESSAGE], traceback.format_exc())
        except Exception as error:
            problem = None if isinstance(error, allowed) else "not a documented exception"
            problem = problem or why_not_rejected(error)
            if problem is None:
                return Outcome(REJECTED, name, str(error))
            detail = f"{type(error).__name__} ({problem}): {str(error)[:300]}"
            return Outcome(FOREIGN, name, detail, traceback.format_exc())
    return Outcome(RIGHT, name)


def why_not_rejected(error: BaseException) -> str | None:
    """Return why an exception is not a clear sentence of lann or of scikit-learn, or None if it is."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    path = Path(last.filename)
    if not str(error).strip():
        return "no sentence"
    if "sklearn" in path.parts:
        return None
    if not path.is_relative_to(LANN) or not (last.line or "").startswith("raise"):
        return f"raised by {path.name}:{last.lineno}, not by a statement of lann"
    if "\n" in str(error) or not str(error).endswith((".", ".)")) or len(str(error)) > LONGEST_MESSAGE:
        return "not one sentence with a period"
    return None
