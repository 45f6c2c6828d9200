"""Who is near: exact search under local metrics, and shortlists that are ranked again."""

from lann.search.exact import ExactSearch
from lann.search.graph import GraphSearch
from lann.search.measured import MeasuredSearch, exhaustive_search
from lann.search.shortlist import Shortlist, coarse_search

__all__ = ["ExactSearch", "GraphSearch", "MeasuredSearch", "Shortlist", "coarse_search", "exhaustive_search"]
