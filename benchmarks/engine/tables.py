"""Tables as text, for the terminal and for documents, and how numbers are written in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

NONE = "–"


@dataclass(frozen=True)
class Row:
    """
    A row of a table.

    Parameters
    ----------
    name
        First column in the terminal.
    cells
        The other columns.
    best
        Numbers of the cells to highlight.
    text
        If given, it takes the place of all cells.
    label
        First column in documents; by default the name.
    """

    name: str
    cells: tuple[str, ...]
    best: frozenset[int] = frozenset()
    text: str = ""
    label: str = ""


Section = tuple[str, list[Row]]
"""A heading, which may be empty, and the rows below it."""


@dataclass(frozen=True)
class Table:
    """
    A table.

    Parameters
    ----------
    title
        Heading in documents.
    head
        Names of the columns, that of the first included.
    sections
        The rows, in sections.
    notes
        Sentences below the table.
    titled
        Whether the title is also shown in the terminal.
    """

    title: str
    head: tuple[str, ...]
    sections: list[Section]
    notes: tuple[str, ...] = ()
    titled: bool = False

    @property
    def rows(self) -> list[Row]:
        return [row for _, rows in self.sections for row in rows]


def in_groups(rows: Iterable[tuple[str, Row | None]]) -> list[Section]:
    """Make sections of rows with the names of their groups; rows that are None are left out."""
    kept = [(group, row) for group, row in rows if row is not None]
    return [(group, [row for _, row in pairs]) for group, pairs in groupby(kept, key=lambda pair: pair[0])]


def best_values(values: Sequence[float | None], *, largest: bool = True, digits: int = 3) -> set[int]:
    """Return the positions of the best values, as they are printed with so many digits."""
    known = [round(value, digits) for value in values if value is not None]
    if not known:
        return set()
    best = max(known) if largest else min(known)
    return {i for i, value in enumerate(values) if value is not None and round(value, digits) == best}


def plural(count: int, noun: str) -> str:
    """Write a number and a noun: "1 seed", "2 seeds"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def share(value: float | None, digits: int = 3) -> str:
    """Write a number from 0 to 1 without the leading zero: ".954"."""
    return NONE if value is None else f"{value:.{digits}f}".removeprefix("0")


def share_and_std(value: float | None, spread: float | None) -> str:
    """Write a number from 0 to 1 and its standard deviation, if there is one: ".954 ± .012"."""
    if value is None:
        return NONE
    return share(value) if spread is None else f"{share(value)} ± {share(spread)}"


def signed(value: float | None, digits: int = 4) -> str:
    """Write a difference with its sign."""
    return NONE if value is None else f"{value:+.{digits}f}".replace("-", "−")


def decimal(value: float | None, digits: int) -> str:
    return NONE if value is None else f"{value:.{digits}f}"


def milliseconds(seconds: float | None) -> str:
    """Write seconds as milliseconds with three digits, without an exponent."""
    if seconds is None:
        return NONE
    value = 1e3 * seconds
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
