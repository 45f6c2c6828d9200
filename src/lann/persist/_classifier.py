"""What a file has of a LANNClassifier: encoding, levels, vote, and what was computed from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lann._support.inputs import LARGEST_WEIGHT
from lann._support.sizes import LARGEST_VALUE
from lann._updatable import UpdateProgress
from lann.classifier import LANNClassifier
from lann.columns.schema import FEATURE_KINDS, Feature, TableSchema
from lann.explain import Landmarks, Readings, Spacing
from lann.metric import CategoryPositions, Encoding, FeatureCurves, Levels, NumberGaps
from lann.model import LocalModel
from lann.persist._fields import (
    BOOL,
    FLOAT_LIST,
    FLOATS,
    INTEGERS,
    POSITIVE,
    TEXT,
    TEXT_TUPLE,
    Estimator,
    Float,
    Floats,
    Indices,
    Int,
    ListOf,
    Maybe,
    Names,
    Record,
    Size,
    choice,
    require,
)
from lann.search import LARGEST_CENTER, CellIndex, Partition
from lann.vote import VoteChoice

# Numbers in model files are bounded so that sums of their squares are finite. Coordinates are standardized;
# only those of rows that are added later can be larger.
LARGEST_COORDINATE = 1e20
# Slopes of curves, in the units of the data, and heights of gaps.
LARGEST_SLOPE = 1e80
# Linear maps start as the identity, and matrices have a mean square of 1 in each row.
LARGEST_ENTRY = 1e10
# Shares of votes are at most 1, up to rounding, and distances are the roots of finite numbers.
LARGEST_SHARE, LARGEST_DISTANCE = 1.001, 1e154
# With large sample weights: some hundred rows of the largest weight.
VOTES = Int(1, high=10**103)


# Encoding


def _gaps(precision: Any, **values: Any) -> NumberGaps:
    if precision is not None:
        is_positive = len(precision) > 0 and np.linalg.eigvalsh(precision)[0] > 0
        require(is_positive, "the precision of the numbers is not positive")
    return NumberGaps(**values, precision=precision)


def _category_positions(positions: Any, shares: Any, n_categories: int) -> CategoryPositions:
    is_complete = len(shares) == len(positions) and n_categories <= len(positions) <= n_categories + 1
    require(is_complete and positions.shape[1] > 0, "there is not a position for each category")
    return CategoryPositions(positions, shares, n_categories)


def _encoding(
    n_features: int, curves: Any, gaps: Any, category_features: Any, positions: list[Any]
) -> Encoding:
    is_distinct = len(np.unique(category_features)) == len(category_features)
    require(is_distinct, "a feature has categories twice")
    n_described = len(category_features) + curves.n_features
    require(n_described == n_features, "numbers and categories are not all features")
    return Encoding(curves, gaps, tuple(category_features.tolist()), tuple(positions))


_INNER: dict[str, Any] = {"within": LARGEST_VALUE, "infinite": True, "ascending": -1}
CURVES = Record(
    FeatureCurves,
    {
        "slopes": Floats("n_numbers", "n_bins", within=LARGEST_SLOPE),
        "edges": Floats("n_numbers", "n_bins-1", **_INNER),
        "thresholds": Floats("n_numbers", "n_steps", **_INNER),
        "jumps": Floats("n_numbers", "n_steps", low=0.0, high=LARGEST_COORDINATE),
    },
)
GAPS = Record(
    _gaps,
    {
        "shares": Floats("n_numbers", low=0.0, high=1.0),
        "heights": Floats("n_numbers", within=LARGEST_SLOPE),
        "centers": Floats("n_numbers", within=LARGEST_VALUE),
        "scales": Floats("n_numbers", low=1e-80, high=1e61),
        "precision": Maybe(Floats("n_numbers", "n_numbers", within=LARGEST_ENTRY, any_order=True)),
    },
)
CATEGORY_POSITIONS = Record(
    _category_positions,
    {
        "positions": Floats("_", "_", within=LARGEST_COORDINATE),
        "shares": Floats("_", low=0.0, high=1.0),
        "n_categories": Int(1),
    },
)
ENCODING = Record(
    _encoding,
    {
        "n_features": Size("n_features"),
        "curves": CURVES,
        "gaps": GAPS,
        "category_features": Indices("n_category_features", below="n_features", ascending=0),
        "positions": ListOf("n_category_features", CATEGORY_POSITIONS),
    },
    {"category_features": lambda encoding: np.array(encoding.category_features, np.int64)},
)


FEATURE = Record(
    Feature,
    {"name": TEXT, "kind": choice(*FEATURE_KINDS), "categories": TEXT_TUPLE, "unit": choice("", "D", "s")},
)
SCHEMA = Record(
    lambda features, has_names: TableSchema(tuple(features), has_names),
    {"features": ListOf("n_features", FEATURE), "has_names": BOOL},
)


# Levels


def _levels(**values: Any) -> Levels:
    levels, encoding = Levels(**values), values["encoding"]
    n_axes, components = levels.class_log_weights.shape[1], levels.components
    n_mapped = n_axes if components is None else components.shape[1]
    require(n_mapped == encoding.n_coordinates, "the axes are not those of the coordinates")
    for feature, positions in zip(encoding.category_features, encoding.positions, strict=True):
        _check_codes(levels.X[:, feature], positions.n_categories)
    return levels


def _check_codes(codes: Any, n_categories: int) -> None:
    """Raise InvalidModelFile unless the values of a feature, without gaps, are those of categories."""
    are_valid = np.isin(codes[~np.isnan(codes)], np.arange(n_categories)).all()
    require(are_valid, "a training row has a category that is not there")


LEVELS = Record(
    _levels,
    {
        "X": Floats("n_rows", "n_features", within=LARGEST_VALUE, nan=True, dtypes=FLOATS),
        "encoding": ENCODING,
        # Weights are products of a class weight and a point weight: e^700 is finite.
        "class_log_weights": Floats("n_classes", "n_axes", high=300.0),
        "labels": Indices("n_rows", below="n_classes"),
        "point_log_weights": Floats("n_rows", "n_axes", high=400.0, dtypes=FLOATS),
        "components": Maybe(Floats("n_axes", "n_coordinates", within=LARGEST_ENTRY, any_order=True)),
        "point_matrices": Maybe(
            Floats("n_rows", "n_axes", "n_ranks", within=LARGEST_ENTRY, dtypes=FLOATS, any_order=True)
        ),
        "row_weights": Maybe(Floats("n_rows", low=1.0 / LARGEST_WEIGHT, high=LARGEST_WEIGHT)),
    },
)


# What was computed from a model


def _landmarks(correlated: list[list[int]], readings: Readings, **values: Any) -> Landmarks:
    features = [feature for group in correlated for feature in group]
    are_valid = len(set(features)) == len(features) and set(features) <= set(range(readings.alone.shape[1]))
    require(are_valid, "the groups of features overlap, or have features that are not there")
    return Landmarks(**values, readings=readings, correlated=tuple(map(tuple, correlated)))


LANDMARKS = Record(
    _landmarks,
    {
        "rows": Indices("n_landmarks", below="n_rows", ascending=0),
        "readings": Record(
            Readings,
            {
                "votes": Floats("n_landmarks", "n_classes", low=0.0, high=LARGEST_SHARE),
                "alone": Floats("n_landmarks", "n_features", low=0.0, high=LARGEST_SHARE),
                "contrast": Floats("n_landmarks", "n_features", low=0.0, high=LARGEST_SHARE),
            },
        ),
        "contrast_rows": Indices("n_landmarks", "n_contrasts", below="n_rows", low=-1),
        "representatives": Indices("n_classes", "n_representatives", below="n_rows", low=-1),
        "correlated": ListOf("_", INTEGERS),
    },
)
SPACING = Record(
    Spacing,
    {
        "rows": Indices("n_spaced", below="n_rows", ascending=0),
        "distances": Floats("n_spaced", low=0.0, high=LARGEST_DISTANCE),
        "limit": Float(0.0),
    },
)
DERIVED = Record(
    lambda **values: {name: value for name, value in values.items() if value is not None},
    {"landmarks": Maybe(LANDMARKS), "spacing": Maybe(SPACING)},
)


# The model


def _local_model(vote_rule: dict[str, Any], derived: dict[str, Any], **values: Any) -> LocalModel:
    model = LocalModel(**values, **vote_rule)
    n_arrived, arrivals, index = model.n_arrived, values["arrivals"], values["index"]
    require(index is None or index.n_seen <= n_arrived, "the cells are those of rows that have not arrived")
    if arrivals is None:
        require(n_arrived == len(model.X), "the order in which the rows have arrived is missing")
    else:
        has_arrived = (arrivals[1:] > arrivals[:-1]).all() and arrivals[-1] < n_arrived
        require(has_arrived, "the rows have not arrived one after another")
    model.derived |= derived
    return model


CELL_INDEX = Record(
    CellIndex,
    {
        "partition": Record(
            Partition,
            {
                "centers": Floats("n_cells", "n_axes", within=LARGEST_CENTER),
                "offset": Floats("n_axes"),
                "scale": Floats("n_axes", low=0.0),
            },
        ),
        "cells": Indices("n_rows", below="n_cells", dtypes=("<i4",)),
        "n_probed": Int(1, high="n_cells"),
        "n_seen": Int(0),
    },
)
LOCAL_MODEL = Record(
    _local_model,
    {
        "levels": LEVELS,
        "n_candidates": Maybe(Int(1)),
        "n_neighbors": VOTES,
        "vote_rule": Record(
            dict,
            {
                "power": Float(0.0),
                "floor": Float(0.0),
                "epsilon": Float(POSITIVE),
                "class_weight": Maybe(Floats("n_classes", low=POSITIVE)),
            },
        ),
        "arrivals": Maybe(Indices("n_rows")),
        "n_arrived": Int(1),
        "index": Maybe(CELL_INDEX),
        "derived": DERIVED,
    },
    {"arrivals": "arrivals_if_forgotten"},
)


# The classifier


def _fitted_attributes(**values: Any) -> dict[str, Any]:
    model, vote, schema = values["model_"], values["vote_"], values["schema_"]
    encoding, names, rule = model.levels.encoding, values["feature_names_in_"], model.vote_rule
    require(max(vote["chosen"], vote["best"]) < len(vote["votes"]), "the index of the vote is out of range")
    n_categories = np.zeros(encoding.n_features, np.int64)
    for feature, positions in zip(encoding.category_features, encoding.positions, strict=True):
        n_categories[feature] = positions.n_categories
    same = n_categories.tolist() == list(schema.n_categories)
    require(same, "the categories of the features are not those of their positions")
    same = names is None or list(names) == list(schema.names)
    require(same, "the names of the features are not those of their schema")
    for feature, column in zip(schema.features, model.X.T, strict=True):
        if feature.kind in ("bool", "ordered"):
            _check_codes(column, 2 if feature.kind == "bool" else len(feature.categories))
    model.names = values["ids_"]
    return values | {
        "vote_": VoteChoice(model.n_neighbors, rule.power, rule.floor, **vote),
        "n_neighbors_": model.n_neighbors,
        "power_": rule.power,
        "encoding_": encoding,
        "curves_": model.levels.curves,
        "components_": model.levels.components,
    }


VOTE = Record(
    dict,
    {
        "votes": Floats("n_votes", 3, low=0.0),
        "log_losses": Floats("n_votes", nan=True, infinite=True),
        "chosen": Int(0),
        "best": Int(0),
        "gain": Float(),
        "gain_error": Float(0.0),
        "mean_weight": Float(POSITIVE),
    },
)
PROGRESS = Record(
    UpdateProgress,
    {
        "learned": BOOL,
        "loss_epsilon": Maybe(Float(POSITIVE)),
        "n_changes": Int(0),
        "n_rows": Int(0),
        "seed": Maybe(Int(0, high=2**31 - 1)),
    },
)
CLASSIFIER = Estimator(
    LANNClassifier,
    {
        "classes_": Names("n_classes", distinct=True),
        "schema_": SCHEMA,
        "model_": LOCAL_MODEL,
        "ids_": Maybe(Names("n_rows")),
        "vote_": VOTE,
        "levels_": TEXT_TUPLE,
        "n_iter_": Int(0),
        "loss_curve_": FLOAT_LIST,
        "validation_curve_": FLOAT_LIST,
        "_weight_unit": Float(POSITIVE, 1.0),
        "_progress": PROGRESS,
    },
    follows=_fitted_attributes,
    sources={"ids_": "_names"},
)
