"""Progress and reports in the terminal: results on stdout, progress on stderr."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as RichTable
from rich.text import Text

from benchmarks.engine.benchmark import Report
from benchmarks.engine.checks import NOT_MEASURED, OK, SHORT, Check
from benchmarks.engine.run import Run
from benchmarks.engine.tables import Row, Table

LONG = 300
"""Seconds from which on the time left is also in the lines that are not in a terminal."""

STYLES = {OK: "green", SHORT: "bold red", NOT_MEASURED: "dim"}


def results_console() -> Console:
    # Labels may contain brackets, which are no markup.
    return Console(markup=False, highlight=False, emoji=False)


def run_with_progress(run: Run) -> None:
    """Run all jobs, with a line for every outcome and, if stderr is a terminal, a progress bar."""
    console = Console(stderr=True, markup=False, highlight=False, emoji=False)
    if run.n_reused:
        console.print(f"{run.n_reused} measurements of earlier runs are reused.", soft_wrap=True)
    progress = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}", markup=False),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    # Without a bar: earlier versions of rich end one that is disabled with an empty line.
    with progress if console.is_terminal else nullcontext(progress) as bar:
        task = bar.add_task("", total=None, left="")
        for step in run.steps():
            left = f"{duration(step.seconds_left)} left" if step.seconds_left else ""
            if step.message:
                # Without a bar, as in a file, the line says how long a long run is going to take.
                is_long = not console.is_terminal and (step.seconds_left or 0.0) >= LONG
                bar.console.print(f"{step.message}, {left}" if is_long else step.message, soft_wrap=True)
            bar.update(task, description=step.label, completed=step.n_done, total=step.n_total, left=left)


def duration(seconds: float) -> str:
    """Write a duration in seconds, minutes or hours."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def show_report(report: Report, console: Console) -> None:
    """Print the tables and the checks."""
    console.print(f"{report.introduction}\n")
    for table in report.details if report.show_details else []:
        show_table(table, console, titled=True)
    for table in report.tables:
        show_table(table, console, titled=table.titled)
    if report.checks:
        show_checks(report.checks, console)


def show_table(table: Table, console: Console, *, titled: bool) -> None:
    """Print a table in blocks of columns that fit the terminal, and its notes."""
    if titled:
        console.print(table.title, style="bold")
    for columns in column_blocks(table, console.width):
        for line in _lines(table, columns):
            console.print(line, soft_wrap=True)
        console.print()
    if table.notes:
        console.print("\n".join(table.notes) + "\n")


def column_blocks(table: Table, width: int) -> list[range]:
    """
    Split the columns of a table into as few blocks as fit the terminal one below the other.

    Returns
    -------
    blocks
        The numbers of the columns of each block; the first column, which all blocks repeat, is not counted.
    """
    n_columns = len(table.head) - 1
    widths = _widths(table)
    for n_blocks in range(1, n_columns + 1):
        size = -(-n_columns // n_blocks)
        blocks = [range(start, min(start + size, n_columns)) for start in range(0, n_columns, size)]
        if all(widths[0] + sum(1 + widths[1 + i] for i in block) <= width for block in blocks):
            return blocks
    return [range(i, i + 1) for i in range(n_columns)]


def _widths(table: Table) -> list[int]:
    first = max(len(name) for name in [table.head[0], *(row.name for row in table.rows)])
    cells = [row.cells for row in table.rows if not row.text]
    return [
        first, *(max(len(name), *(len(row[i]) for row in cells), 0) for i, name in enumerate(table.head[1:]))
    ]  # fmt: skip


def _lines(table: Table, columns: range) -> Iterator[Text]:
    widths = _widths(table)
    cells = [table.head[1 + i].rjust(widths[1 + i]) for i in columns]
    yield Text(" ".join([table.head[0].ljust(widths[0]), *cells]), style="bold")
    for name, rows in table.sections:
        if name:
            yield Text(name, style="italic dim")
        for row in rows:
            yield _line(row, widths, columns)


def _line(row: Row, widths: list[int], columns: range) -> Text:
    text = Text(row.name.ljust(widths[0]))
    if row.text:
        return text.append(f" {row.text}")
    for i in columns:
        cell = row.cells[i]
        text.append(" " * (1 + widths[1 + i] - len(cell)))
        text.append(cell, style="bold green" if i in row.best else STYLES.get(cell))
    return text


def show_checks(checks: list[Check], console: Console) -> None:
    """Print the status of every check, the requirement, and what was measured."""
    table = RichTable(box=None, pad_edge=False, header_style="bold")
    table.add_column("checks", no_wrap=True)
    table.add_column("", ratio=3)
    table.add_column("measured", ratio=2)
    for check in checks:
        table.add_row(Text(check.status, style=STYLES[check.status]), Text(check.check), Text(check.measured))
    console.print(table)
