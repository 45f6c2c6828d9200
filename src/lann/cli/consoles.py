"""Output of the commands: results on stdout, progress on stderr."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lann._format import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress


def results(*, quiet: bool = False) -> Console:
    """Return the console for results; a quiet one prints nothing, for commands that print JSON."""
    from rich.console import Console
    from rich.text import Text

    class Results(Console):
        """A console that escapes control characters of texts: files of others have names and labels.

        Line breaks, too: lines are printed one by one, or with `sep="\n"`. Measured are the escaped texts.
        """

        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(printable(text), **options)

    # Names of columns and labels are the user's: "[kg]" is not markup.
    return Results(markup=False, highlight=False, emoji=False, quiet=quiet)


def note(text: str, console: Console) -> None:
    """Print a note."""
    console.print(f"Note: {text}", style="yellow", soft_wrap=True)


@contextmanager
def collected_notes() -> Iterator[list[str]]:
    """Collect the warnings about tables in a list, which is filled at the end of the block.

    Other warnings are shown as usual.
    """
    from lann.tables import TableWarning

    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TableWarning)
        yield notes
    for warning in caught:
        if issubclass(warning.category, TableWarning):
            if str(warning.message) not in notes:
                notes.append(str(warning.message))
        else:
            warnings.showwarning(warning.message, warning.category, warning.filename, warning.lineno)


@contextmanager
def printable_warnings() -> Iterator[None]:
    """Escape control characters in the warnings that Python prints on stderr in the block."""
    original = warnings.formatwarning

    def escaped(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
    ) -> str:
        return original(printable(str(message)), category, printable(filename), lineno, line)

    warnings.formatwarning = escaped
    try:
        yield
    finally:
        warnings.formatwarning = original


def progress(*, quiet: bool = False) -> Progress:
    """Return a progress bar with the time that is left, which is removed at the end.

    It appears only on a terminal: not if stdout or stderr goes to a file or another program, and not if it is
    quiet, for commands that print a JSON document.
    """
    from datetime import timedelta

    from rich.console import Console
    from rich.progress import BarColumn, Progress, Task, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class TimeLeft(TimeRemainingColumn):
        """The time that is left, such as "0:01:12 left", or that has passed where there is no estimate."""

        def render(self, task: Task) -> Text:
            if task.total is None or task.time_remaining is None:
                passed = timedelta(seconds=int(task.elapsed or 0))
                return Text(f"{passed} so far", style="progress.elapsed")
            return super().render(task).append(" left")

    console = Console(stderr=True)
    # Earlier versions of rich end a bar that is disabled with an empty line.
    console.quiet = quiet or not (console.is_terminal and Console().is_terminal)
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeLeft(),
        console=console,
        transient=True,
        disable=console.quiet,
    )


def step(bar: Progress, description: str) -> Callable[[float, float], None]:
    """Start the next step of some work; return a function to call with how much of it is done, and of what.

    The time that is left is that of the step, which replaces the one before.
    """
    for task in bar.task_ids:
        bar.remove_task(task)
    current = bar.add_task(printable(description), total=None)
    return lambda done, total: bar.update(current, completed=done, total=total)
