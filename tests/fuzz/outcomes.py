"""What can happen in a case, defined once: what is right, what is rejected, and what must not happen."""

from __future__ import annotations

import dis
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import lann

RIGHT, REJECTED = "right", "rejected"
WRONG, FOREIGN, HANG, CRASH = "wrong result", "foreign exception", "hang", "crash"
OUTCOMES = (RIGHT, REJECTED, WRONG, FOREIGN, HANG, CRASH)
FAULTS = (WRONG, FOREIGN, HANG, CRASH)
"""What must not happen."""

LANN = Path(lann.__file__).parent
LONGEST_MESSAGE = 2000
# The modules of scikit-learn that validate input.
VALIDATION = ("validation.py", "multiclass.py", "_param_validation.py", "_response.py")


@dataclass(frozen=True)
class Outcome:
    """
    What happened in a case.

    Parameters
    ----------
    kind
        One of `OUTCOMES`.
    name
        What was tried, such as the name of a change, or of an estimator and a method.
    detail
        The message, or what is wrong.
    trace
        The traceback of an exception that must not be.
    """

    kind: str
    name: str = ""
    detail: str = ""
    trace: str = ""


class WrongResult(AssertionError):
    """A result that must not be, found by a check of a part."""


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
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        try:
            action()
            outcome = Outcome(RIGHT, name)
        except WrongResult as error:
            outcome = Outcome(WRONG, name, str(error)[:LONGEST_MESSAGE], traceback.format_exc())
        except Exception as error:
            outcome = _outcome_of(error, name, allowed)
    return outcome if outcome.kind in FAULTS else _of_warnings(name, shown) or outcome


def _of_warnings(name: str, shown: list[warnings.WarningMessage]) -> Outcome | None:
    """Return the outcome of a warning that shows that a computation went wrong, if there is one."""
    for warning in shown:
        if issubclass(warning.category, RuntimeWarning):
            position = f"{Path(warning.filename).name}:{warning.lineno}"
            return Outcome(FOREIGN, name, f"RuntimeWarning at {position}: {warning.message}")
    return None


def _outcome_of(error: Exception, name: str, allowed: tuple[type[Exception], ...]) -> Outcome:
    problem = None if isinstance(error, allowed) else "not a documented exception"
    problem = problem or why_not_rejected(error)
    if problem is None:
        return Outcome(REJECTED, name, str(error))
    last = traceback.extract_tb(error.__traceback__)[-1]
    position = f"{Path(last.filename).name}:{last.lineno}"
    detail = f"{type(error).__name__} at {position} ({problem}): {str(error)[:300]}"
    return Outcome(FOREIGN, name, detail, traceback.format_exc())


def why_not_rejected(error: BaseException) -> str | None:
    """
    Return why an exception is not a clear sentence, or None if it is.

    It has to be raised by a statement of lann, in one line with a period, or by scikit-learn's validation of
    input, which has its own form.

    Parameters
    ----------
    error
        As it was caught.
    """
    text = str(error)
    if not text.strip():
        return "no sentence"
    frames = list(_frames(error.__traceback__))
    paths = [Path(frame.tb_frame.f_code.co_filename) for frame in frames]
    own = [number for number, path in enumerate(paths) if path.is_relative_to(LANN)]
    below = paths[own[-1] + 1 :] if own else paths
    if below:  # raised by what lann has called last, or by a method that its estimators inherit
        called = below[:1] if own else below
        validates = any("sklearn" in path.parts and path.name in VALIDATION for path in called)
        return None if validates else "not raised by lann"
    if not _is_raise_statement(frames[-1]):
        return "not raised by a statement of lann"
    if "\n" in text or not text.endswith((".", ".)")) or len(text) > LONGEST_MESSAGE:
        return "not one sentence with a period"
    return None


def _frames(position: TracebackType | None):
    while position is not None:
        yield position
        position = position.tb_next


def _is_raise_statement(frame: TracebackType) -> bool:
    """Return whether a traceback ends in a statement that raises, not in an operation that failed."""
    instructions = dis.get_instructions(frame.tb_frame.f_code)
    return any(i.offset == frame.tb_lasti and i.opname in ("RAISE_VARARGS", "RERAISE") for i in instructions)
