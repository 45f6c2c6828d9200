"""The fitted model: training rows, their metrics, the search for neighbors and the vote, behind one protocol.

Rows and queries are in the user's units; distances are squared.
"""

from lann.model._local_model import NEIGHBORS_FOR_SCALE, ROWS_FOR_SCALE, WIDE, LocalModel
from lann.model._neighbor_model import (
    N_TYPICAL,
    CategoryValues,
    NeighborModel,
    NeighborSearch,
    Votes,
    typical_values,
)
from lann.model._row_memory import RowMemory
from lann.model._value_model import SLOPE_NEIGHBORS, ValueModel

__all__ = [
    "NEIGHBORS_FOR_SCALE", "N_TYPICAL", "ROWS_FOR_SCALE", "SLOPE_NEIGHBORS", "WIDE", "CategoryValues",
    "LocalModel", "NeighborModel", "NeighborSearch", "RowMemory", "ValueModel", "Votes", "typical_values",
]  # fmt: skip
