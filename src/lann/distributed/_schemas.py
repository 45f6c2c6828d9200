"""The schema of a table in blocks: the features of each block, and what they are together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lann.columns.reader import array_as_table, as_table, category_mask, infer_schema, names_none
from lann.columns.schema import Feature, TableSchema


def needs_values(sample: Any, categorical_features: Any) -> bool:
    """Return whether the kinds of the features follow from their values, and not from their types alone.

    Parameters
    ----------
    sample : array or table
        Of the types of all blocks.
    categorical_features : "from_dtype", array-like or None
    """
    if not names_none(categorical_features):
        return True
    table = as_table(sample)
    if table is not None:
        return not all(dtype.is_numeric() for dtype in table.schema.values())
    return getattr(np.asarray(sample), "dtype", np.dtype(object)).kind in "OUST"


def features_of_block(X: Any, categorical_features: Any, has_names: bool) -> tuple[Feature, ...]:
    """Return the features of a block of rows.

    Parameters
    ----------
    X : array or table
    categorical_features : "from_dtype", array-like or None
    has_names : bool
        Whether the columns have names of the user's.
    """
    table = as_table(X)
    if table is None:
        table = array_as_table(np.asarray(X))
    names = list(table.columns)
    mask = category_mask(categorical_features, names, has_names=has_names)
    features: list[Feature] = []
    for name, given in zip(names, mask, strict=True):
        own = categorical_features if names_none(categorical_features) else np.array([given])
        features.append(infer_schema(table.select(name), own, has_names=True).features[0])
    return tuple(features)


def merge_features(blocks: Sequence[tuple[Feature, ...]], *, has_names: bool) -> TableSchema:
    """Return the schema of all blocks, given the features of each.

    Parameters
    ----------
    blocks : sequence of tuple of Feature
        Of the blocks that have rows.
    has_names : bool
        Whether the columns have names of the user's.

    Raises
    ------
    ValueError
        If a feature is of different kinds in different blocks.
    """
    return TableSchema(tuple(map(_merged, zip(*blocks, strict=True))), has_names)


def _merged(parts: tuple[Feature, ...]) -> Feature:
    features = [feature for feature in parts if feature.kind != "empty"] or parts[:1]
    first = features[0]
    kinds = list(dict.fromkeys(feature.kind for feature in features))
    if len(kinds) > 1 or (
        first.kind == "ordered" and any(f.categories != first.categories for f in features)
    ):
        raise ValueError(
            f"Feature {first.name!r} has values of different types in different blocks "
            f"({' and '.join(kinds)}); give the column one type in all of them."
        )
    if first.kind == "category":
        return replace(first, categories=tuple(sorted(set().union(*(f.categories for f in features)))))
    if first.kind == "date":
        return replace(first, unit="s" if any(feature.unit == "s" for feature in features) else "D")
    return first
