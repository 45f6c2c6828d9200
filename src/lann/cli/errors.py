"""Invalid input ends a command with one sentence and exit code 2, Ctrl-C with one word and 130."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import typer
from typer.core import TyperGroup

from lann._format import printable
from lann.cli import INTERRUPTED, is_interrupt, show_interrupt
from lann.cli.consoles import printable_warnings
from lann.cli.files import check_files

TOO_LITTLE_MEMORY = (
    "There is not enough memory; `lann fit --max-rows` learns from a sample of the rows, and "
    "`lann predict -o` reads large .parquet and .csv files in parts."
)
P = ParamSpec("P")
R = TypeVar("R")


def one_sentence(command: Callable[P, R]) -> Callable[P, R]:
    """Make a command print an error as one line on stderr, without a traceback."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            with printable_warnings():
                check_files(kwargs)
                return command(*args, **kwargs)
        except KeyboardInterrupt as error:
            show_interrupt()
            raise typer.Exit(INTERRUPTED) from error
        except BrokenPipeError:
            raise  # the reader of the output has ended, as `head` does: there is nobody to tell
        except MemoryError as error:
            typer.echo(TOO_LITTLE_MEMORY, err=True)
            raise typer.Exit(2) from error
        except (OSError, ValueError, ImportError) as error:
            if is_interrupt(error):
                raise
            typer.echo(_sentence(error), err=True)
            raise typer.Exit(2) from error

    return run


class Commands(TyperGroup):
    """Commands whose errors about arguments show control characters escaped: names of files have some."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Parse the arguments before the command."""
        with _printable_usage_errors():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        """Parse the arguments of the command and run it."""
        with _printable_usage_errors():
            return super().invoke(ctx)


@contextmanager
def _printable_usage_errors() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        # Some versions of typer have a click of their own: there is no class of errors that is common to all.
        message = getattr(error, "message", None)
        if isinstance(message, str) and hasattr(error, "format_message"):
            vars(error)["message"] = printable(message)
        raise


def _sentence(error: Exception) -> str:
    text = str(error)
    if isinstance(error, OSError) and error.strerror:  # from the system: without "[Errno 13]"
        text = f"{error.strerror}: {error.filename}." if error.filename else f"{error.strerror}."
    return printable(" ".join(text.split())) or type(error).__name__
