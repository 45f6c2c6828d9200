"""Where neighbors are searched: on the CPU, or on a GPU by torch, which is imported for that only."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from lann.metric import DiagonalMetric

if TYPE_CHECKING:
    from lann.search._torch_search import TorchSearch

DEVICES = ("cpu", "cuda", "auto")
# From this many pairs of a query and a point on, "auto" takes a GPU.
FEWEST_PAIRS = 2**30
# The device of torch.
GPU = "cuda"


def check_device(device: str) -> str:
    """Return the name of a device; raise an error if there is none of this name.

    Raises
    ------
    ValueError
        If the device is unknown, or if torch finds no GPU.
    ImportError
        If the device needs torch, which is not installed.
    """
    if not isinstance(device, str) or device not in DEVICES:
        raise ValueError(f"device must be 'cpu', 'cuda' or 'auto'; got {device!r}.")
    if device == "cuda":
        try:
            import torch
        except ImportError as error:
            raise ImportError("device='cuda' needs torch: pip install 'lann[gpu]'.") from error
        if not torch.cuda.is_available():
            raise ValueError("device='cuda' needs a GPU, and torch finds none; use 'cpu' or 'auto'.")
    return device


def is_on_gpu(device: str, n_pairs: int) -> bool:
    """Return whether this many pairs of a query and a point are compared on a GPU."""
    return device == "cuda" or (device == "auto" and n_pairs >= FEWEST_PAIRS and _has_gpu())


@cache
def _has_gpu() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())


def gpu_search(metric: DiagonalMetric, *, tile_rows: int | None = None) -> TorchSearch:
    """Return an exact search on the GPU, with `tile_rows` points there at a time, or as many as fit."""
    import torch

    from lann.search._torch_search import TorchSearch

    return TorchSearch(metric, torch.device(GPU), tile_rows=tile_rows)


def gpu_shortlist(coarse: TorchSearch, metric: Any, n_candidates: int) -> Any:
    """Return a search among the candidates of another one, on the GPU if the points fit and have weights."""
    from lann.search._torch_search import device_shortlist

    return device_shortlist(coarse, metric, n_candidates)
