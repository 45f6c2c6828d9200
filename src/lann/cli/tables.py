"""The check that `lann bench` uses; it goes with that command."""

from __future__ import annotations

from pathlib import Path

from lann._files import check_writable


def check_output(path: Path, kinds: tuple[str, ...] = ()) -> None:
    """Raise an OSError if a file cannot be written."""
    check_writable(path)
