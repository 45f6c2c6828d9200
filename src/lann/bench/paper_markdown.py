"""The tables of `lann bench paper` as a Markdown document."""

from __future__ import annotations

from lann.bench.checks import Check
from lann.bench.compare import Comparison
from lann.bench.methods import Method
from lann.bench.paper_tables import Grid, Row, accuracy_grid, comparison_grid, details_grid, methods_grid
from lann.bench.protocols import PROTOCOLS
from lann.bench.results import Results


def as_markdown(results: Results, comparisons: list[Comparison], checks: list[Check]) -> str:
    """All tables, those of the single data sets included."""
    labels = {method.name: method.label for method in results.methods}
    grids = [
        accuracy_grid(results, _label),
        methods_grid(results, _label),
        *([comparison_grid(comparisons, labels)] if comparisons else []),
    ]
    parts = [
        "# The paper's table",
        f"{results.n_splits} splits, seed {results.seed}: {PROTOCOLS[results.protocol].description}. "
        f"Written by `lann bench paper --protocol {results.protocol}`.",
        *(section(grid, "##") for grid in grids),
    ]
    if checks:
        parts.append(checks_section(checks))
    parts += ["## The methods", _legend(results.methods), "## Each data set"]
    parts += [section(details_grid(results, name, _label), "###") for name in results.data_sets]
    return "\n\n".join(parts) + "\n"


def checks_section(checks: list[Check]) -> str:
    """What must hold, whether it does, and what was measured."""
    rows = [f"| {check.status} | {_cell(check.check)} | {_cell(check.measured)} |" for check in checks]
    return "## Checks\n\n" + "\n".join(["| | check | measured |", "|---|---|---|", *rows])


def section(grid: Grid, heading: str) -> str:
    """A table below its heading, with its notes."""
    lines = [_line(list(grid.head)), _line(["---", *["---:"] * (len(grid.head) - 1)])]
    for name, rows in grid.sections:
        if name:
            lines.append(_line([f"*{name}*", *[""] * (len(grid.head) - 1)]))
        lines += [_row(row, len(grid.head) - 1) for row in rows]
    return "\n\n".join([f"{heading} {grid.title}", "\n".join(lines), *grid.notes])


def _row(row: Row, n_cells: int) -> str:
    if row.text:
        return _line([row.label, row.text, *[""] * (n_cells - 1)])
    cells = [f"**{cell}**" if i in row.best else cell for i, cell in enumerate(row.cells)]
    return _line([row.label, *cells])


def _legend(methods: list[Method]) -> str:
    rows = [_line([method.label, f"`{method.name}`", method.description]) for method in methods]
    return "\n".join([_line(["", "name", "what it is"]), "|---|---|---|", *rows])


def _label(method: Method) -> str:
    return method.label


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(_cell(cell) for cell in cells)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
