"""The search for neighbors: exact under point metrics, and by shortlists that are ranked again."""

from lann.search._cell_search import FEWEST_POINTS, CellSearch, Shortlist, coarse_search
from lann.search._cells import (
    LARGEST_CENTER,
    N_CALIBRATED,
    N_NEIGHBORS,
    POINTS_PER_CENTER,
    CellIndex,
    Partition,
    calibrate,
    distinct_points,
    n_cells_of,
)
from lann.search._exact import ExactSearch, MeasuredSearch, Search, exhaustive_search
from lann.search._scan import ALL_CELLS, ScanPoints, find_nearest
from lann.search._topk import concatenate_results, count_found, insert, smallest

__all__ = [
    "ALL_CELLS",
    "FEWEST_POINTS",
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
    "distinct_points",
    "exhaustive_search",
    "find_nearest",
    "insert",
    "n_cells_of",
    "smallest",
]
