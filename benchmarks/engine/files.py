"""Files that a run writes."""

from __future__ import annotations

from lann._files import check_writable as require_writable
from lann._files import write_atomically

__all__ = ["require_writable", "write_atomically"]
