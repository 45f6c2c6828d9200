"""The encoding of a table: each feature becomes one or more coordinates."""

from lann.encoding._curves import FeatureCurves
from lann.encoding._encoding import Encoding
from lann.encoding._gaps import GAP_HEIGHT, MOST_NUMBERS, NumberGaps, gap_moments
from lann.encoding._positions import CategoryPositions, initial_positions
from lann.encoding._reader import (
    array_as_table,
    as_table,
    category_mask,
    extend_schema,
    infer_schema,
    names_none,
    read,
)
from lann.encoding._schema import FEATURE_KINDS, UNSEEN, UNSEEN_TEXT, Feature, TableSchema, TableValues

__all__ = [
    "FEATURE_KINDS",
    "GAP_HEIGHT",
    "MOST_NUMBERS",
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
    "category_mask",
    "extend_schema",
    "gap_moments",
    "infer_schema",
    "initial_positions",
    "names_none",
    "read",
]
