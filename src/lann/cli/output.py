"""Output of the commands: tables and JSON documents on stdout, progress on stderr."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from lann._support.format import counted, printable, to_plain

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table
    from rich.text import Text


def results(*, quiet: bool = False) -> Console:
    """Return the console for results; a quiet one prints nothing, for commands that print JSON."""
    from rich.console import Console

    class Results(Console):
        """A console that escapes control characters, as names and labels come from files of others."""

        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(printable(text), **options)

    # Names of columns and labels are the user's: "[kg]" is not markup.
    return Results(markup=False, highlight=False, emoji=False, quiet=quiet)


def show_notes(notes: Iterable[str], console: Console) -> None:
    """Print notes, a line each."""
    for text in notes:
        console.print(f"Note: {text}", style="yellow", soft_wrap=True)


def make_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any] | None],
    *,
    title: str | None = None,
    caption: str | None = None,
) -> Table:
    """Return a table for the terminal.

    Parameters
    ----------
    columns : sequence of str
        Names of the columns. One that starts with ">" is aligned to the right; with ">>", its cells are not
        wrapped, either.
    rows : iterable of sequences of str or Text, or None
        The cells of each row; None separates the rows before from those after it.
    title, caption : str or None
    """
    from rich.table import Table

    table = Table(
        title=title, title_justify="left", title_style="bold", caption=caption, caption_justify="left"
    )
    for name in columns:
        is_number, no_wrap = name.startswith(">"), name.startswith(">>")
        if is_number:
            table.add_column(name.lstrip(">"), justify="right", no_wrap=no_wrap)
        else:
            table.add_column(name, overflow="fold")
    for row in rows:
        if row is None:
            table.add_section()
        else:
            table.add_row(*row)
    return table


def styled(text: str, style: str) -> Text:
    """Return a cell of a table with a style."""
    from rich.text import Text

    return Text(printable(text), style=style)


def more(n_more: int, noun: str, ending: str = "", plural: str | None = None) -> str | None:
    """Return the caption of a table that does not show everything; None if it does."""
    return f"and {counted(n_more, f'more {noun}', plural)}{ending}" if n_more > 0 else None


def print_document(document: Mapping[str, Any]) -> None:
    """Print a document as JSON, the only thing on stdout, with characters outside ASCII escaped."""
    typer.echo(json.dumps(to_plain(document), indent=2, allow_nan=False))


def frame_records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as dictionaries."""
    return [dict(zip(frame.columns, row, strict=True)) for row in frame.itertuples(index=False, name=None)]


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
        if not issubclass(warning.category, TableWarning):
            warnings.showwarning(warning.message, warning.category, warning.filename, warning.lineno)
        elif str(warning.message) not in notes:
            notes.append(str(warning.message))


def progress(*, quiet: bool = False) -> Progress:
    """Return a progress bar with the remaining time, which is removed at the end.

    It appears only if stdout and stderr are a terminal, and not if it is quiet, for commands that print JSON.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    # Earlier versions of rich end a bar that is disabled with an empty line.
    console.quiet = quiet or not (console.is_terminal and Console().is_terminal)
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=console,
        transient=True,
        disable=console.quiet,
    )


def step(bar: Progress, description: str) -> Callable[[float, float], None]:
    """Replace the step that a progress bar shows; return a function of how much is done, and of what."""
    for task in bar.task_ids:
        bar.remove_task(task)
    current = bar.add_task(printable(description), total=None)
    return lambda done, total: bar.update(current, completed=done, total=total)
