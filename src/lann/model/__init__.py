"""The fitted model: training rows, their metrics, the search for neighbors and the vote, behind one protocol.

Rows and queries are in the user's units; distances are squared.
"""

from lann.model._local_model import (
    NEIGHBORS_FOR_SCALE,
    ROWS_FOR_SCALE,
    WIDE,
    LocalModel,
    category_values,
)
from lann.model._neighbor_model import (
    N_TYPICAL,
    Candidates,
    CategoryValues,
    NeighborModel,
    NeighborSearch,
    Slopes,
    Votes,
    nearest_of_classes,
    typical_values,
    walk_rows,
)
from lann.model._row_memory import POLICIES, HighestRanks, RowMemory, rows_to_forget, rows_to_learn_from

__all__ = [
    "NEIGHBORS_FOR_SCALE",
    "N_TYPICAL",
    "POLICIES",
    "ROWS_FOR_SCALE",
    "WIDE",
    "Candidates",
    "CategoryValues",
    "HighestRanks",
    "LocalModel",
    "NeighborModel",
    "NeighborSearch",
    "RowMemory",
    "Slopes",
    "Votes",
    "category_values",
    "nearest_of_classes",
    "rows_to_forget",
    "rows_to_learn_from",
    "typical_values",
    "walk_rows",
]
