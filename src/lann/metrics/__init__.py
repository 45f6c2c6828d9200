"""Metrics of training rows: one file per form, and the levels that they consist of."""

from lann.metrics._diagonal import DiagonalMetric, distance, overflow_is_far, rounding_bound, row_parts
from lann.metrics._levels import Copies, Levels, apply_map, find_copies, join_weights, row_hashes
from lann.metrics._matrix import MatrixMetric, measure_pairs, project, squared_norm

__all__ = [
    "Copies",
    "DiagonalMetric",
    "Levels",
    "MatrixMetric",
    "apply_map",
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
