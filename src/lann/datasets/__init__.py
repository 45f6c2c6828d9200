"""The data sets of the LANN paper, and generators whose relevant directions are known."""

from lann.datasets.artificial_classification import FeatureRoles, make_artificial_classification
from lann.datasets.licorice import Cylinders, make_licorice
from lann.datasets.loader import load
from lann.datasets.local_relevance import make_local_relevance
from lann.datasets.names import PAPER_SETS, names

__all__ = [
    "PAPER_SETS",
    "Cylinders",
    "FeatureRoles",
    "load",
    "make_artificial_classification",
    "make_licorice",
    "make_local_relevance",
    "names",
]
