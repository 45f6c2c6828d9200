"""Data sets of the LANN paper, and generators of data whose relevant features are known."""

from lann.datasets._files import cache_folder
from lann.datasets._generated import (
    Cylinders,
    FeatureRoles,
    make_artificial_classification,
    make_licorice,
    make_local_relevance,
    make_local_relevance_table,
)
from lann.datasets._load import PAPER_SETS, canonical_name, load

__all__ = [
    "PAPER_SETS", "Cylinders", "FeatureRoles", "cache_folder", "canonical_name", "load",
    "make_artificial_classification", "make_licorice", "make_local_relevance", "make_local_relevance_table",
]  # fmt: skip
