"""The search for neighbors: exact under point metrics, and by shortlists that are ranked again."""

from lann.search._exact import ExactSearch
from lann.search._graph import FEWEST_QUERIES, GraphSearch
from lann.search._grown_graph import GrownGraph
from lann.search._measured import MeasuredSearch, exhaustive_search
from lann.search._scan import ScanPoints, find_nearest
from lann.search._search import Search
from lann.search._shortlist import Shortlist, coarse_search
from lann.search._topk import concatenate_results, count_found, insert, smallest

__all__ = [
    "FEWEST_QUERIES",
    "ExactSearch",
    "GraphSearch",
    "GrownGraph",
    "MeasuredSearch",
    "ScanPoints",
    "Search",
    "Shortlist",
    "coarse_search",
    "concatenate_results",
    "count_found",
    "exhaustive_search",
    "find_nearest",
    "insert",
    "smallest",
]
