"""Where the commands write: results to stdout, progress to stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress


def results() -> Console:
    from rich.console import Console

    # Column names and labels are the user's: "[kg]" is no markup.
    return Console(markup=False, highlight=False, emoji=False)


def note(text: str, console: Console) -> None:
    console.print(f"Note: {text}", style="yellow", soft_wrap=True)


def progress() -> Progress:
    """A bar that vanishes when done, and does not show at all unless stderr is a terminal."""
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
