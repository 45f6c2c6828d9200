"""Metrics of training rows: one file per form, and the levels that they consist of."""

from lann.metrics._copies import Copies, find_copies, join_weights, row_hashes
from lann.metrics._diagonal import DiagonalMetric, distance, overflow_is_far, rounding_bound, row_parts
from lann.metrics._levels import Levels
from lann.metrics._matrix import MatrixMetric, project, squared_norm
from lann.metrics._pairs import measure_pairs

__all__ = [
    "Copies",
    "DiagonalMetric",
    "Levels",
    "MatrixMetric",
    "distance",
    "find_copies",
    "join_weights",
    "measure_pairs",
    "overflow_is_far",
    "project",
    "rounding_bound",
    "row_hashes",
    "row_parts",
    "squared_norm",
]
