"""The tables of `lann bench paper` in a terminal; tables and checks of other benchmarks, too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from lann.bench.checks import Check
    from lann.bench.compare import Comparison
    from lann.bench.paper_tables import Grid, Row
    from lann.bench.results import Results


def show_results(
    results: Results,
    comparisons: list[Comparison],
    checks: list[Check],
    console: Console,
    *,
    details: bool = False,
) -> None:
    """Print all tables; with `details`, one for each data set too."""
    from lann.bench.methods import Method
    from lann.bench.paper_tables import accuracy_grid, comparison_grid, details_grid, methods_grid

    def name(method: Method) -> str:
        return method.name

    if details:
        for data_set in results.data_sets:
            show_grid(details_grid(results, data_set, name), console, titled=True)
    show_grid(accuracy_grid(results, name), console)
    show_grid(methods_grid(results, name), console)
    if comparisons:
        show_grid(comparison_grid(comparisons, {}), console)
    if checks:
        show_checks(checks, console)


def show_grid(grid: Grid, console: Console, *, titled: bool = False) -> None:
    """Print a table, in blocks of columns that fit the terminal, and its notes."""
    if titled:
        console.print(grid.title, style="bold")
    for columns in blocks(grid, console.width):
        for line in _lines(grid, columns):
            console.print(line, soft_wrap=True)
        console.print()
    if grid.notes:
        console.print("\n".join(grid.notes) + "\n")


def blocks(grid: Grid, width: int) -> list[range]:
    """
    Deal the columns of a table into as few blocks as fit the terminal one below the other, evenly filled.

    Returns
    -------
    blocks
        The numbers of the columns of each block, not counting the labels'.
    """
    n_columns = len(grid.head) - 1
    widths = _widths(grid)
    for n_blocks in range(1, n_columns + 1):
        size = -(-n_columns // n_blocks)
        dealt = [range(start, min(start + size, n_columns)) for start in range(0, n_columns, size)]
        if all(widths[0] + sum(1 + widths[1 + i] for i in block) <= width for block in dealt):
            return dealt
    return [range(i, i + 1) for i in range(n_columns)]


def _widths(grid: Grid) -> list[int]:
    rows = [row for _, rows in grid.sections for row in rows]
    first = max(len(label) for label in [grid.head[0], *(row.label for row in rows)])
    return [
        first,
        *(
            max(len(grid.head[1 + i]), *(len(row.cells[i]) for row in rows if not row.text), 0)
            for i in range(len(grid.head) - 1)
        ),
    ]


def _lines(grid: Grid, columns: range) -> Iterator[Text]:
    from rich.text import Text

    widths = _widths(grid)
    cells = [grid.head[1 + i].rjust(widths[1 + i]) for i in columns]
    yield Text(" ".join([grid.head[0].ljust(widths[0]), *cells]), style="bold")
    for name, rows in grid.sections:
        if name:
            yield Text(name, style="italic dim")
        for row in rows:
            yield _line(row, widths, columns)


def _line(row: Row, widths: list[int], columns: range) -> Text:
    from rich.text import Text

    text = Text(row.label.ljust(widths[0]))
    if row.text:
        return text.append(f" {row.text}")
    for i in columns:
        cell = row.cells[i]
        text.append(" " * (1 + widths[1 + i] - len(cell)))
        text.append(cell, style="bold green" if i in row.best else None)
    return text


def show_checks(checks: list[Check], console: Console) -> None:
    """Print what must hold, whether it does, and what was measured."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("checks", no_wrap=True)
    table.add_column("", ratio=3)
    table.add_column("measured", ratio=2)
    for check in checks:
        style = {"ok": "green", "SHORT": "bold red"}.get(check.status, "dim")
        table.add_row(Text(check.status, style=style), Text(check.check), Text(check.measured))
    console.print(table)
