"""A report as a Markdown document."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.engine.benchmark import Report
from benchmarks.engine.checks import Check
from benchmarks.engine.tables import Row, Table


def as_markdown(report: Report, command: str) -> str:
    """Return all tables, checks, methods and details; `command` is what wrote the document."""
    parts = [
        f"# {report.title}",
        f"{report.introduction} Written by `{command}`.",
        *(_table(table, "##") for table in report.tables),
    ]
    if report.checks:
        parts.append(_checks(report.checks))
    if report.legend:
        rows = [[label, f"`{name}`", description] for label, name, description in report.legend]
        parts += ["## The methods", _grid(["", "name", "description"], rows)]
    if report.details:
        parts += ["## Details", *(_table(table, "###") for table in report.details)]
    return "\n\n".join(parts) + "\n"


def _table(table: Table, heading: str) -> str:
    width = len(table.head) - 1
    lines: list[list[str]] = []
    for name, rows in table.sections:
        if name:
            lines.append([f"*{name}*", *[""] * width])
        lines += [_cells(row, width) for row in rows]
    grid = _grid(list(table.head), lines, rule=["---", *["---:"] * width])
    return "\n\n".join([f"{heading} {table.title}", grid, *table.notes])


def _cells(row: Row, width: int) -> list[str]:
    label = row.label or row.name
    if row.text:
        return [label, row.text, *[""] * (width - 1)]
    return [label, *(f"**{cell}**" if i in row.best else cell for i, cell in enumerate(row.cells))]


def _checks(checks: list[Check]) -> str:
    rows = [[check.status, check.check, check.measured] for check in checks]
    return f"## Checks\n\n{_grid(['', 'check', 'measured'], rows)}"


def _grid(head: list[str], rows: Iterable[list[str]], rule: list[str] | None = None) -> str:
    lines = [head, rule or ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_escaped, line))} |" for line in lines)


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")
