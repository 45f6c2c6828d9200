"""Names of columns: the nearest one to a name that does not exist."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence

import pandas as pd

MOST_LISTED = 20


def nearest_name(name: str, names: Iterable[str]) -> str | None:
    """Return the most similar of some names; None if none is similar.

    Upper and lower case, and spaces around the name, do not count.

    >>> nearest_name("Agee", ["Height", "Age"]), nearest_name("AGE", ["age"]), nearest_name("x", ["age"])
    ('Age', 'age', None)
    """
    by_plain_name: dict[str, str] = {}
    for other in names:
        by_plain_name.setdefault(_plain(other), other)
    if _plain(name) in by_plain_name:
        return by_plain_name[_plain(name)]
    close = difflib.get_close_matches(_plain(name), list(by_plain_name), n=1, cutoff=0.7)
    return by_plain_name[close[0]] if close else None


def with_text_names(frame: pd.DataFrame, table: str) -> pd.DataFrame:
    """Return a table whose columns have texts as names; raise ValueError if two have the same."""
    names = [str(name) for name in frame.columns]
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(f"There is more than one column {repeated[0]!r} in {table}.")
    return frame.set_axis(names, axis=1)


def check_columns_present(frame: pd.DataFrame, names: Iterable[str], table: str) -> None:
    """Raise ValueError if a table does not have some columns."""
    needed = list(names)
    missing = [name for name in needed if name not in frame]
    if not missing:
        return
    columns, are = ("columns", "are") if len(missing) > 1 else ("column", "is")
    message = f"The {columns} {listed(missing)} {are} missing in {table}"
    others = [str(name) for name in frame.columns if name not in set(needed)]
    similar = [found for name in missing if (found := nearest_name(name, others)) is not None]
    if len(similar) < len(missing):
        raise ValueError(f"{message}.")
    raise ValueError(f"{message}; {'are they' if len(missing) > 1 else 'is it'} {listed(similar)}?")


def check_named_column(frame: pd.DataFrame, name: str, parameter: str, table: str) -> None:
    """Raise ValueError if a table does not have the column that a parameter names."""
    if name in frame:
        return
    message = f"There is no column {name!r} in {table} for {parameter}; "
    names = [str(column) for column in frame.columns]
    similar = nearest_name(name, names)
    if similar is not None:
        raise ValueError(f"{message}did you mean {similar!r}?")
    n_more = len(names) - MOST_LISTED
    raise ValueError(
        f"{message}its columns are {listed(names[:MOST_LISTED])}"
        f"{f' and {n_more} more' if n_more > 0 else ''}."
    )


def listed(names: Sequence[str]) -> str:
    """Return names in quotes, with commas between them."""
    return ", ".join(map(repr, names))


def _plain(name: str) -> str:
    return str(name).strip().casefold()
