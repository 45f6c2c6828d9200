"""What a file has of an encoding: curves, positions of categories and gaps, and the schema of the table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann._sizes import LARGEST_IMAGE, LARGEST_VALUE
from lann.encoding import (
    FEATURE_KINDS,
    MOST_NUMBERS,
    CategoryPositions,
    Encoding,
    Feature,
    FeatureCurves,
    NumberGaps,
    TableSchema,
)
from lann.persist._kinds import Bool, Floats, Indices, ListOf, Maybe, Ragged, Size, Text, TextList
from lann.persist._records import Record, Values

# The inverses of the ridge and of the largest correlation are between these.
SMALLEST_PRECISION, LARGEST_PRECISION = 1e-6, 1e3
# Days and seconds before and after 1970 that are dates of at most four digits, about.
LARGEST_DATE = {"": 0.0, "D": 4e6, "s": 4e11}
# Coordinates are standardized; only those of rows that are added later can be larger.
LARGEST_COORDINATE = 1e20
# Standard deviations of values that differ by SMALLEST_SPREAD or more, and of those up to LARGEST_VALUE.
SMALLEST_SCALE, LARGEST_SCALE = 1e-150, 1e141


def _edges(*shape: str) -> Floats:
    """Return the declaration of values in ascending order; infinite ones are not in use."""
    return Floats(*shape, low=-LARGEST_VALUE, high=LARGEST_VALUE, infinite=True, ascending=-1)


CURVES = Record(
    FeatureCurves,
    {
        "slopes": Floats("n_numbers", "n_bins", low=-LARGEST_IMAGE, high=LARGEST_IMAGE),
        "edges": _edges("n_numbers", "n_bins-1"),
        "thresholds": _edges("n_numbers", "n_steps"),
        "jumps": Floats("n_numbers", "n_steps", low=0.0, high=LARGEST_COORDINATE),
    },
    at_least={"n_bins": 1},
)


def _precision_is_positive(values: Values) -> str | None:
    precision = values["precision"]
    if precision is None:
        return None
    if not 0 < len(precision) <= MOST_NUMBERS or not np.array_equal(precision, precision.T):
        return "the precision of the numbers is empty, too large, or not symmetric"
    eigenvalues = np.linalg.eigvalsh(precision)
    in_range = eigenvalues[0] > SMALLEST_PRECISION and eigenvalues[-1] < LARGEST_PRECISION
    return None if in_range else "the precision of the numbers is not positive"


GAPS = Record(
    NumberGaps,
    {
        "shares": Floats("n_numbers", low=0.0, high=1.0),
        "heights": Floats("n_numbers", low=-LARGEST_IMAGE, high=LARGEST_IMAGE),
        "centers": Floats("n_numbers", low=-LARGEST_VALUE, high=LARGEST_VALUE),
        "scales": Floats("n_numbers", low=SMALLEST_SCALE, high=LARGEST_SCALE),
        "precision": Maybe(Floats("n_numbers", "n_numbers", any_order=True)),
    },
    rules=(_precision_is_positive,),
)


def _features_add_up(values: Values) -> str | None:
    features, n_features = values["category_features"], int(values["n_features"])
    if len(np.unique(features)) < len(features):
        return "a feature has categories twice"
    if len(features) + values["curves"].n_features != n_features:
        return "numbers and categories are not all features"
    return None


def _positions_match(values: Values) -> str | None:
    parts = zip(values["positions"], values["shares"], values["n_categories"].tolist(), strict=True)
    for positions, shares, n_categories in parts:
        if positions.shape[1] < 1 or len(shares) != len(positions):
            return "a feature has positions without axes, or without shares"
        if abs(shares.sum() - 1.0) > 1e-6:
            return "the shares of the categories of a feature do not add up to 1"
        if not 1 <= n_categories <= len(positions) <= n_categories + 1:
            return "a feature does not have a position for each category"
    return None


def _encoding(
    n_features: int,
    curves: FeatureCurves,
    gaps: NumberGaps,
    category_features: NDArray[np.int64],
    positions: list[Any],
    shares: list[Any],
    n_categories: NDArray[np.int64],
) -> Encoding:
    parts = zip(positions, shares, n_categories.tolist(), strict=True)
    return Encoding(
        curves, gaps, tuple(category_features.tolist()), tuple(CategoryPositions(*part) for part in parts)
    )


ENCODING = Record(
    _encoding,
    {
        "n_features": Size("n_features"),
        "curves": CURVES,
        "gaps": GAPS,
        "category_features": Indices("n_category_features", below="n_features", ascending=True),
        "positions": Ragged("n_category_features", 2, low=-LARGEST_COORDINATE, high=LARGEST_COORDINATE),
        "shares": Ragged("n_category_features", 1, low=0.0, high=1.0),
        "n_categories": Indices("n_category_features", below=None),
    },
    sources={
        "category_features": lambda encoding: np.array(encoding.category_features, np.int64),
        "positions": lambda encoding: [own.positions for own in encoding.positions],
        "shares": lambda encoding: [own.shares for own in encoding.positions],
        "n_categories": lambda encoding: np.array([own.n_categories for own in encoding.positions], np.int64),
    },
    rules=(_features_add_up, _positions_match),
)


def check_codes(X: NDArray[np.float64], encoding: Encoding) -> str | None:
    """Return what is wrong with the codes of categories in training rows, None if nothing is."""
    for feature, positions in zip(encoding.category_features, encoding.positions, strict=True):
        codes = X[:, feature]
        codes = codes[~np.isnan(codes)]
        if np.any((codes < 0) | (codes >= positions.n_categories) | (codes != np.rint(codes))):
            return "a training row has a category that is not there"
    return None


def check_values(X: NDArray[np.float64], schema: TableSchema) -> str | None:
    """Return what is wrong with bools, dates and ordered categories in training rows, None if nothing is."""
    for feature, values in zip(schema.features, X.T, strict=True):
        known = values[~np.isnan(values)]
        if feature.kind == "date" and np.any(np.abs(known) > LARGEST_DATE[feature.unit]):
            return "a training row has a date out of range"
        n_values = {"bool": 2, "ordered": len(feature.categories)}.get(feature.kind)
        if n_values is not None and np.any(~np.isin(known, np.arange(n_values))):
            return "a training row has a value that its feature does not have"
    return None


def _no_category_twice(values: Values) -> str | None:
    categories = values["categories"]
    if len(set(categories)) < len(categories):
        return "a feature has a category twice"
    needs = values["kind"] in ("category", "ordered")
    return None if needs == bool(len(categories)) else "a feature has categories without being one, or none"


def _feature(name: str, kind: str, categories: list[str], unit: str) -> Feature:
    return Feature(name, kind, tuple(categories), unit)


SCHEMA = Record(
    lambda features, has_names: TableSchema(tuple(features), has_names),
    {
        "features": ListOf(
            "n_features",
            Record(
                _feature,
                {
                    "name": Text(),
                    "kind": Text(*FEATURE_KINDS),
                    "categories": TextList(),
                    "unit": Text("", "D", "s"),
                },
                rules=(_no_category_twice,),
            ),
        ),
        "has_names": Bool(),
    },
)
