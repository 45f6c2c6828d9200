"""The search for neighbors: exact under point metrics, and by shortlists that are ranked again."""

from lann.search._cell_search import CellSearch, coarse_search
from lann.search._cells import (
    FAR,
    LARGEST_CENTER,
    N_CALIBRATED,
    N_NEIGHBORS,
    POINTS_PER_CENTER,
    CellIndex,
    Partition,
    calibrate,
    n_cells_of,
)
from lann.search._device import check_device, gpu_search, gpu_shortlist, is_on_gpu
from lann.search._exact import (
    ExactSearch,
    MeasuredSearch,
    Shortlist,
    concatenate_results,
    exhaustive_search,
    smallest,
)

__all__ = [
    "FAR", "LARGEST_CENTER", "N_CALIBRATED", "N_NEIGHBORS", "POINTS_PER_CENTER", "CellIndex", "CellSearch",
    "ExactSearch", "MeasuredSearch", "Partition", "Shortlist", "calibrate", "check_device",
    "coarse_search", "concatenate_results", "exhaustive_search", "gpu_search", "gpu_shortlist", "is_on_gpu",
    "n_cells_of", "smallest",
]  # fmt: skip
