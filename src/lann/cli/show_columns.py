"""What the columns of a table have, in a line or as a table on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lann._format import counted, percent

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from lann.tables import Column, TrainingTable

# Singular and plural of what a column has.
KINDS = {
    "number": ("number", "numbers"),
    "category": ("category", "categories"),
    "bool": ("true/false", "true/false"),
    "date": ("date", "dates"),
}
MOST_CATEGORIES = 3
MOST_CHARACTERS = 20


def column_summary(table: TrainingTable) -> str:
    """Return how many columns have what.

    For example, "6 columns: 4 with numbers, 2 with categories; 1 is not used".
    """
    kinds: list[str] = [column.kind for column in table.columns]
    counts = [(kinds.count(kind), names[1]) for kind, names in KINDS.items()]
    parts = ", ".join(f"{count} with {name}" for count, name in counts if count)
    n_ignored = kinds.count("ignored")
    rest = f"; {n_ignored} {'is' if n_ignored == 1 else 'are'} not used" if n_ignored else ""
    return f"{counted(len(kinds) - n_ignored, 'column')}: {parts}{rest}"


def column_table(table: TrainingTable) -> Table:
    """Return a table with a line for each column: what it has, its range or categories, and its gaps."""
    from rich.table import Table

    lines = Table(title="Columns", title_justify="left", title_style="bold")
    lines.add_column("column", overflow="fold")
    lines.add_column("kind")
    lines.add_column("values", overflow="fold")
    lines.add_column("missing", justify="right")
    lines.add_column("why")
    for column in table.columns:
        if column.is_used:
            values = table.rows[column.name]
            share = float(values.isna().mean())
            gaps = percent(share, 1) if share else ""
            lines.add_row(column.name, KINDS[column.kind][0], _range(column, values), gaps, column.reason)
        else:
            lines.add_row(column.name, "not used", "", "", column.reason, style="dim")
    return lines


def _range(column: Column, values: pd.Series) -> str:
    """Return the smallest and the largest value, or the most frequent categories."""
    if column.kind in ("number", "date"):
        return f"{column.format(values.min())} to {column.format(values.max())}"
    counts = values.value_counts()
    shown = [shortened(column.format(value)) for value in counts.index[:MOST_CATEGORIES]]
    n_more = len(counts) - len(shown)
    return ", ".join(shown) + (f" and {n_more} more" if n_more else "")


def shortened(text: str) -> str:
    """Return a text of a table cut to a length that a line can have."""
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"
