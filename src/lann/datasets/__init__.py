"""Data sets of the LANN paper, and generators of data whose relevant features are known."""

from lann.datasets._artificial_classification import FeatureRoles, make_artificial_classification
from lann.datasets._folders import cache_folder
from lann.datasets._licorice import Cylinders, make_licorice
from lann.datasets._loader import load
from lann.datasets._local_relevance import make_local_relevance
from lann.datasets._local_relevance_table import make_local_relevance_table
from lann.datasets._names import PAPER_SETS, canonical_name, names

__all__ = [
    "PAPER_SETS",
    "Cylinders",
    "FeatureRoles",
    "cache_folder",
    "canonical_name",
    "load",
    "make_artificial_classification",
    "make_licorice",
    "make_local_relevance",
    "make_local_relevance_table",
    "names",
]
