"""The axes and metrics in which distances are measured: curves, categories, gaps, map, point metrics."""

from lann.metric._curves import FeatureCurves
from lann.metric._diagonal import DiagonalMetric, overflow_is_far, rounding_bound, row_parts
from lann.metric._encoding import Encoding
from lann.metric._levels import Copies, Levels, find_copies, join_weights, row_hashes
from lann.metric._matrix import MatrixMetric, measure_pairs
from lann.metric._positions import (
    GAP_HEIGHT,
    MOST_NUMBERS,
    CategoryPositions,
    NumberGaps,
    gap_moments,
    initial_positions,
)

__all__ = [
    "GAP_HEIGHT", "MOST_NUMBERS", "CategoryPositions", "Copies", "DiagonalMetric", "Encoding",
    "FeatureCurves", "Levels", "MatrixMetric", "NumberGaps", "find_copies", "gap_moments",
    "initial_positions", "join_weights", "measure_pairs", "overflow_is_far", "rounding_bound", "row_hashes",
    "row_parts",
]  # fmt: skip
