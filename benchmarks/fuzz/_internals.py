"""The form of a model file, without which almost every change would be rejected at the first byte."""

from __future__ import annotations

from lann.persist._archive import read_archive, write_archive
from lann.persist._npy import order_of, write_array

__all__ = ["order_of", "read_archive", "write_archive", "write_array"]
