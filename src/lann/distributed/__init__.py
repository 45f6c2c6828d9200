"""Locally adaptive nearest neighbors on a cluster: training and search by tasks of Dask.

Needs the packages dask and distributed: ``pip install 'lann[dask]'``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lann.distributed._classifier import DaskLANN
    from lann.distributed._folders import read_shards as read_shards
    from lann.distributed._folders import write_shards as write_shards

__all__ = ["DaskLANN"]

# Imported on first use, with Dask. Model files need the further names.
_MODULES = {"DaskLANN": "_classifier", "read_shards": "_folders", "write_shards": "_folders"}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'lann.distributed' has no attribute {name!r}")
    try:
        import dask.array
        import dask.dataframe  # noqa: F401
    except ImportError as error:
        raise ImportError("lann.distributed needs the package dask: pip install 'lann[dask]'.") from error
    return getattr(import_module(f"lann.distributed.{_MODULES[name]}"), name)
