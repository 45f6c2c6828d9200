"""The encoding of a table: each feature becomes one or more coordinates."""

from lann.encoding._curves import FeatureCurves
from lann.encoding._encoding import GAP_HEIGHT, Encoding, NumberGaps, gap_moments
from lann.encoding._positions import CategoryPositions, initial_positions
from lann.encoding._reader import array_as_table, as_table, infer_schema, read
from lann.encoding._schema import UNSEEN, UNSEEN_TEXT, Feature, TableSchema, TableValues

__all__ = [
    "GAP_HEIGHT",
    "UNSEEN",
    "UNSEEN_TEXT",
    "CategoryPositions",
    "Encoding",
    "Feature",
    "FeatureCurves",
    "NumberGaps",
    "TableSchema",
    "TableValues",
    "array_as_table",
    "as_table",
    "gap_moments",
    "infer_schema",
    "initial_positions",
    "read",
]
