"""The search for neighbors: exact under point metrics, and by shortlists that are ranked again."""

from lann.search._cell_search import CellSearch, coarse_search
from lann.search._cells import (
    LARGEST_CENTER,
    N_CALIBRATED,
    N_NEIGHBORS,
    POINTS_PER_CENTER,
    CellIndex,
    Partition,
    calibrate,
    n_cells_of,
)
from lann.search._exact import (
    ExactSearch,
    MeasuredSearch,
    Search,
    Shortlist,
    concatenate_results,
    count_found,
    exhaustive_search,
    insert,
    smallest,
)
from lann.search._scan import ALL_CELLS, ScanPoints, find_nearest

__all__ = [
    "ALL_CELLS",
    "LARGEST_CENTER",
    "N_CALIBRATED",
    "N_NEIGHBORS",
    "POINTS_PER_CENTER",
    "CellIndex",
    "CellSearch",
    "ExactSearch",
    "MeasuredSearch",
    "Partition",
    "ScanPoints",
    "Search",
    "Shortlist",
    "calibrate",
    "coarse_search",
    "concatenate_results",
    "count_found",
    "exhaustive_search",
    "find_nearest",
    "insert",
    "n_cells_of",
    "smallest",
]
