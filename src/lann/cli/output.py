"""Output of the commands: tables and one JSON document on stdout, progress on stderr."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from lann._markup import check_page_path
from lann._support.format import counted, figure, is_missing, printable, to_plain

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

Report = Callable[[float, float], None]


class Output:
    """What a command prints: tables, sentences and notes, or one JSON document in place of them.

    Parameters
    ----------
    is_json : bool
    table, page : Path or None
        A table and a page that will be written; ValueError if their formats are unknown.
    guarded : bool
        Whether tables are written such that spreadsheets do not take texts as formulas.

    Attributes
    ----------
    console : Console
        For results; that of a command that prints JSON prints nothing.
    notes : list of str
    files : list of Path
        The files that were written.
    """

    def __init__(
        self, is_json: bool, *, table: Path | None = None, page: Path | None = None, guarded: bool = False
    ) -> None:
        if table is not None:
            from lann.tables import check_table_path

            check_table_path(table)
        if page is not None:
            check_page_path(page)
        self.guarded = guarded
        self.is_json, self.console = is_json, results(quiet=is_json)
        self.notes: list[str] = []
        self.files: list[Path] = []
        self._n_shown = 0

    def print(self, *parts: Any, style: str | None = None, soft_wrap: bool = True) -> None:
        """Print texts and tables, a line each; texts are wrapped by the terminal, or else at its width."""
        for part in parts:
            self.console.print(part, style=style, soft_wrap=soft_wrap and isinstance(part, str))

    def hint(self, *texts: str) -> None:
        """Print how results are to be read, wrapped at the width of the terminal."""
        self.print(*texts, style="dim", soft_wrap=False)

    @contextmanager
    def progress(self) -> Iterator[Callable[[str], Report]]:
        """Show the progress with the remaining time, and collect warnings about tables as notes.

        Yields a function that takes the description of a step, and returns a function of how much of it is
        done, and of what. The bar appears only if stdout and stderr are a terminal, and not beside JSON; it
        is removed at the end.
        """
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        from lann.tables import TableWarning

        console = Console(stderr=True)
        # Earlier versions of rich end a bar that is disabled with an empty line.
        console.quiet = self.is_json or not (console.is_terminal and Console().is_terminal)
        bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(elapsed_when_finished=True),
            console=console,
            transient=True,
            disable=console.quiet,
        )

        def step(description: str) -> Report:
            for task in bar.task_ids:
                bar.remove_task(task)
            current = bar.add_task(printable(description), total=None)
            return lambda done, total: bar.update(current, completed=done, total=total)

        with warnings.catch_warnings(record=True) as caught, bar:
            warnings.simplefilter("always", TableWarning)
            yield step
        for warning in caught:
            if not issubclass(warning.category, TableWarning):
                warnings.showwarning(warning.message, warning.category, warning.filename, warning.lineno)
            elif str(warning.message) not in self.notes:
                self.notes.append(str(warning.message))

    def wrote(self, path: Path, ending: str = "") -> None:
        """Say that a file was written."""
        self.files.append(path)
        self.print(f"Wrote {path}{ending}")

    def write_table(self, frame: pd.DataFrame, path: Path, ending: str = "") -> None:
        """Write a table to a file."""
        from lann.tables import write_table

        write_table(frame, path, guard_formulas=self.guarded)
        self.wrote(path, ending)

    def show_notes(self) -> None:
        """Print the notes that have not been printed, a line each."""
        for text in self.notes[self._n_shown :]:
            self.print(f"Note: {text}", style="yellow")
        self._n_shown = len(self.notes)

    def finish(self, **document: Any) -> None:
        """Print the notes, or a JSON document with files, notes and values, which functions may return."""
        self.show_notes()
        if self.is_json:
            values = {name: value() if callable(value) else value for name, value in document.items()}
            document = {"files": self.files, "notes": self.notes, **values}
            # The only thing on stdout, with characters outside ASCII escaped.
            typer.echo(json.dumps(to_plain(document), indent=2, allow_nan=False))


def results(*, quiet: bool = False) -> Console:
    """Return the console for results; a quiet one prints nothing, for commands that print JSON."""
    from rich.console import Console

    class Results(Console):
        """A console that escapes control characters, as names and labels come from files of others."""

        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(printable(text), **options)

    # Names of columns and labels are the user's: "[kg]" is not markup.
    return Results(markup=False, highlight=False, emoji=False, quiet=quiet)


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
    rows : iterable of sequences, or None
        The cells of each row, such as those of `DataFrame.itertuples`; None separates the rows before from
        those after it. Floats have three decimals, missing values are empty cells.
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
            table.add_row(*map(_cell, row))
    return table


def _cell(value: Any) -> Any:
    """Return a value as the cell of a table; texts stay as they are."""
    if is_missing(value):
        return ""
    if isinstance(value, float):
        return figure(value)
    return f"{value:,}" if isinstance(value, int) else value


def styled(text: str, style: str) -> Text:
    """Return a cell of a table with a style."""
    from rich.text import Text

    return Text(printable(text), style=style)


def more(n_more: int, noun: str, ending: str = "", plural: str | None = None) -> str | None:
    """Return the caption of a table that does not show everything; None if it does."""
    return f"and {counted(n_more, f'more {noun}', plural)}{ending}" if n_more > 0 else None
