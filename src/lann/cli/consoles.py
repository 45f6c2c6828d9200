"""Output of the commands: results on stdout, progress on stderr."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress


def results() -> Console:
    """Return the console for results."""
    from rich.console import Console

    # Names of columns and labels are the user's: "[kg]" is not markup.
    return Console(markup=False, highlight=False, emoji=False)


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
            notes.append(str(warning.message))
        else:
            warnings.showwarning(warning.message, warning.category, warning.filename, warning.lineno)


def progress() -> Progress:
    """Return a progress bar, which is removed at the end and appears only if stderr is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
