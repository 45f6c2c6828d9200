"""Files that a run writes."""

from __future__ import annotations

import os
from pathlib import Path

from lann._files import write_atomically

__all__ = ["require_writable", "write_atomically"]


def require_writable(path: Path) -> None:
    """Raise OSError if a file cannot be written, before the work rather than after it."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file to write.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent} to write {path.name} in.")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"The folder {path.parent} is not writable.")
