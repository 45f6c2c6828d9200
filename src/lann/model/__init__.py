"""The fitted model: training rows, their metrics, the search for neighbors and the vote, behind one protocol.

Rows and queries are in the user's units; distances are squared.
"""

from lann.model._class_search import nearest_of_classes
from lann.model._local_model import ROWS_FOR_SCALE, WIDE, LocalModel
from lann.model._neighbor_model import (
    N_TYPICAL,
    Candidates,
    NeighborModel,
    NeighborSearch,
    Votes,
    typical_values,
)

__all__ = [
    "N_TYPICAL",
    "ROWS_FOR_SCALE",
    "WIDE",
    "Candidates",
    "LocalModel",
    "NeighborModel",
    "NeighborSearch",
    "Votes",
    "nearest_of_classes",
    "typical_values",
]
