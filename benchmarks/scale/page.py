"""Put the tables of a run into a page: `python -m benchmarks.scale.page TABLES.md PAGE.md`."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.engine.files import write_atomically

MARK = "The rest of this page was written by `python -m benchmarks scale`.\n"


def with_tables(page: str, tables: str) -> str:
    """
    Return a page with the document that ``--markdown`` wrote, without its title, after `MARK`.

    Raises
    ------
    ValueError
        If the page does not have the mark.
    """
    before, mark, _ = page.partition(MARK)
    if not mark:
        raise ValueError(f"The page does not have the line {MARK.strip()!r}.")
    return before + mark + "\n" + tables.partition("\n")[2].lstrip("\n")


if __name__ == "__main__":
    tables, page = map(Path, sys.argv[1:])
    write_atomically(page, with_tables(page.read_text("utf-8"), tables.read_text("utf-8")).encode())
