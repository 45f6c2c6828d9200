"""What a file has of a LANNClassifier or LANNRegressor: encoding, levels, vote, derived values."""

from __future__ import annotations

from typing import Any

import numpy as np

from lann._row_estimator import UpdateProgress
from lann._support.inputs import LARGEST_WEIGHT
from lann._support.sizes import LARGEST_VALUE
from lann.classifier import LANNClassifier
from lann.columns.schema import FEATURE_KINDS, Feature, TableSchema
from lann.explain import Landmarks, Readings, Spacing
from lann.metric import CategoryPositions, Encoding, FeatureCurves, Levels, NumberGaps
from lann.model import LocalModel, ValueModel
from lann.persist._fields import (
    BOOL,
    FLOAT_LIST,
    POSITIVE,
    TEXT,
    TEXT_TUPLE,
    Array,
    Estimator,
    Float,
    Int,
    Maybe,
    Names,
    Record,
    Size,
    TupleOf,
    choice,
    require,
)
from lann.regressor import LANNRegressor
from lann.search import LARGEST_CENTER, CellIndex, Partition
from lann.vote import LOG_LOSS, QUANTILE_LEVELS, SQUARED_ERROR, ValueRule, VoteChoice

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


def _encoding(n_features: int, **values: Any) -> Encoding:
    encoding = Encoding(**values)
    n_categorical, n_numbers = len(set(encoding.category_features)), encoding.curves.n_features
    is_complete = n_categorical + n_numbers == n_features and n_categorical == len(encoding.positions)
    require(is_complete, "numbers and categories are not all features")
    return encoding


_INNER: dict[str, Any] = {"within": LARGEST_VALUE, "infinite": True, "ascending": -1}
CURVES = Record(
    FeatureCurves,
    slopes=Array("f8 n_numbers n_bins", within=LARGEST_SLOPE),
    edges=Array("f8 n_numbers n_bins-1", **_INNER),
    thresholds=Array("f8 n_numbers n_steps", **_INNER),
    jumps=Array("f8 n_numbers n_steps", low=0.0, high=LARGEST_COORDINATE),
)
GAPS = Record(
    NumberGaps,
    shares=Array("f8 n_numbers", low=0.0, high=1.0),
    heights=Array("f8 n_numbers", within=LARGEST_SLOPE),
    centers=Array("f8 n_numbers", within=LARGEST_VALUE),
    scales=Array("f8 n_numbers", low=1e-80, high=1e61),
    precision=Maybe(Array("f8 n_numbers n_numbers", within=LARGEST_ENTRY, any_order=True)),
)
CATEGORY_POSITIONS = Record(
    CategoryPositions,
    positions=Array("f8 _n_positions _n_dimensions", within=LARGEST_COORDINATE),
    shares=Array("f8 _n_positions", low=0.0, high=1.0),
    n_categories=Int(1, high="_n_positions"),
)
ENCODING = Record(
    _encoding,
    n_features=Size("n_features"),
    curves=CURVES,
    gaps=GAPS,
    category_features=TupleOf("n_category_features", Int(0, high="n_features-1")),
    positions=TupleOf("n_category_features", CATEGORY_POSITIONS),
)
FEATURE = Record(
    Feature, name=TEXT, kind=choice(*FEATURE_KINDS), categories=TEXT_TUPLE, unit=choice("", "D", "s")
)
SCHEMA = Record(TableSchema, features=TupleOf("n_features", FEATURE), has_names=BOOL)


# Levels


def _levels(**values: Any) -> Levels:
    levels, components = Levels(**values), values["components"]
    n_mapped = levels.class_log_weights.shape[1] if components is None else components.shape[1]
    require(n_mapped == levels.encoding.n_coordinates, "the axes are not those of the coordinates")
    for feature, positions in zip(levels.encoding.category_features, levels.encoding.positions, strict=True):
        check_codes(levels.X[:, feature], positions.n_categories)
    return levels


def check_codes(codes: Any, n_categories: int) -> None:
    """Raise InvalidModelFile unless the values of a feature, without gaps, are those of categories."""
    are_valid = np.isin(codes[~np.isnan(codes)], np.arange(n_categories)).all()
    require(are_valid, "a training row has a category that is not there")


LEVELS = Record(
    _levels,
    X=Array("f8/f4 n_rows n_features", within=LARGEST_VALUE, nan=True),
    encoding=ENCODING,
    # Weights are products of a class weight and a point weight: e^700 is finite.
    class_log_weights=Array("f8 n_classes n_axes", high=300.0),
    labels=Array("i8 n_rows", high="n_classes-1"),
    point_log_weights=Array("f8/f4 n_rows n_axes", high=400.0),
    components=Maybe(Array("f8 n_axes n_coordinates", within=LARGEST_ENTRY, any_order=True)),
    point_matrices=Maybe(Array("f8/f4 n_rows n_axes n_ranks", within=LARGEST_ENTRY, any_order=True)),
    row_weights=Maybe(Array("f8 n_rows", low=1.0 / LARGEST_WEIGHT, high=LARGEST_WEIGHT)),
    values=Maybe(Array("f8 n_rows", within=LARGEST_VALUE)),
)


# What was computed from a model


LANDMARKS = Record(
    Landmarks,
    rows=Array("i8 n_landmarks", high="n_rows-1", ascending=0),
    readings=Record(
        Readings,
        votes=Array("f8 n_landmarks n_classes", low=0.0, high=LARGEST_SHARE),
        alone=Array("f8 n_landmarks n_features", low=0.0, high=LARGEST_SHARE),
        stepwise=Array("f8 n_landmarks n_features", low=0.0, high=LARGEST_SHARE),
    ),
    references=Array("f8 n_walks n_features", within=LARGEST_VALUE, nan=True),
    correlated=TupleOf("_", TupleOf("_", Int(0, high="n_features-1"))),
)
SPACING = Record(
    Spacing,
    rows=Array("i8 n_spaced", high="n_rows-1", ascending=0),
    distances=Array("f8 n_spaced", low=0.0, high=LARGEST_DISTANCE),
    limit=Float(0.0),
)
DERIVED = Record(
    lambda **values: {name: value for name, value in values.items() if value is not None},
    landmarks=Maybe(LANDMARKS),
    spacing=Maybe(SPACING),
)


# The model


def _local_model(
    vote_rule: dict[str, Any], derived: dict[str, Any], cls: type[LocalModel] = LocalModel, **values: Any
) -> LocalModel:
    require(
        (values["levels"].values is None) == (cls is LocalModel), "the rows have values for one model only"
    )
    model = cls(**values, **vote_rule)
    model.derived |= derived
    return model


def _value_model(**values: Any) -> LocalModel:
    return _local_model(cls=ValueModel, **values)


CELL_INDEX = Record(
    CellIndex,
    partition=Record(
        Partition,
        centers=Array("f8 n_cells n_axes", within=LARGEST_CENTER),
        offset=Array("f8 n_axes"),
        scale=Array("f8 n_axes", low=0.0),
    ),
    cells=Array("i4 n_rows", high="n_cells-1"),
    n_probed=Int(1, high="n_cells"),
    n_seen=Int(0),
)
_MODEL: dict[str, Any] = {
    "levels": LEVELS,
    "n_candidates": Maybe(Int(1)),
    "n_neighbors": VOTES,
    "vote_rule": Record(
        dict,
        power=Float(0.0),
        floor=Float(0.0),
        epsilon=Float(POSITIVE),
        class_weight=Maybe(Array("f8 n_classes", low=POSITIVE)),
        mixture=Maybe(Array("f8 n_mixed 3", low=0.0)),
    ),
    "arrivals": Maybe(Array("i8 n_rows", ascending=0)).of("arrivals_if_forgotten"),
    "n_arrived": Int(1),
    "index": Maybe(CELL_INDEX),
    "derived": DERIVED,
}
LOCAL_MODEL = Record(_local_model, **_MODEL)
VALUE_MODEL = Record(
    _value_model,
    **_MODEL,
    value_rule=Record(
        ValueRule,
        slope_share=Float(0.0, 1.0),
        floor=Float(POSITIVE),
        exponent=Float(0.0, 1.0),
        spreads=Array("f8 n_spreads", low=POSITIVE, ascending=0),
        residuals=Array(f"f8 n_spreads {len(QUANTILE_LEVELS)}", ascending=-1),
        deviations=Array("f8 n_spreads", low=0.0),
    ),
)


# The estimators


def _set_attributes(clf: LANNClassifier | LANNRegressor) -> None:
    """Set the attributes that follow from those that are saved."""
    model, schema, fitted = clf.model_, clf.schema_, clf.__dict__
    levels, rule, encoding = model.levels, model.vote_rule, model.levels.encoding
    n_categories = dict(zip(encoding.category_features, encoding.positions, strict=True))
    for number, (feature, column) in enumerate(zip(schema.features, model.X.T, strict=True)):
        n_positions = n_categories[number].n_categories if number in n_categories else 0
        same = n_positions == schema.n_categories[number]
        require(same, "the categories of the features are not those of their positions")
        if feature.kind in ("bool", "ordered"):
            check_codes(column, 2 if feature.kind == "bool" else len(feature.categories))
    clf._names = model.names = fitted.pop("ids_")
    vote = fitted["vote_"]
    mixture, n_neighbors = vote.mixture, vote.n_neighbors
    if isinstance(model, ValueModel):
        mixture, n_neighbors = vote.rule().votes(n_neighbors), max(n_neighbors, model.n_neighbors)
    same = np.array_equal(mixture, rule.mixture) if rule.mixture is not None else mixture is None
    same &= (n_neighbors, vote.power, vote.floor) == (model.n_neighbors, rule.power, rule.floor)
    require(same, "the vote of the model is not the one that was chosen")
    fitted |= {"n_neighbors_": vote.n_neighbors, "power_": rule.power}
    fitted |= {"encoding_": encoding, "curves_": levels.curves, "components_": levels.components}


def _vote(votes: Any, weights: Any, **values: Any) -> VoteChoice:
    require(weights.sum() > 0.5, "no vote has a weight")
    return VoteChoice(votes, weights, **values)


VOTE = Record(
    _vote,
    votes=Array("f8 n_votes 3", low=0.0, high=1e103),
    weights=Array("f8 n_votes", low=0.0, high=1.0),
    log_losses=Array("f8 n_votes", nan=True, infinite=True),
    log_loss=Maybe(Float()),
    gain=Float(),
    gain_error=Float(0.0),
    n_rows=Int(0),
    mean_weight=Float(POSITIVE),
    measure=choice(LOG_LOSS, SQUARED_ERROR),
)
PROGRESS = Record(
    UpdateProgress,
    learned=BOOL,
    loss_epsilon=Maybe(Float(POSITIVE)),
    n_changes=Int(0),
    n_rows=Int(0),
    seed=Maybe(Int(0, high=2**31 - 1)),
)
_FITTED: dict[str, Any] = {
    "ids_": Maybe(Names("n_rows")).of("_names"),
    "vote_": VOTE,
    "levels_": TEXT_TUPLE,
    "n_iter_": Int(0),
    "loss_curve_": FLOAT_LIST,
    "validation_curve_": FLOAT_LIST,
    "_weight_unit": Float(POSITIVE, 1.0),
    "_progress": PROGRESS,
    "finish": _set_attributes,
}
CLASSIFIER = Estimator(
    LANNClassifier,
    classes_=Names("n_classes", distinct=True),
    schema_=SCHEMA,
    model_=LOCAL_MODEL,
    **_FITTED,
)


def _set_regressor(reg: LANNRegressor) -> None:
    _set_attributes(reg)
    reg.value_rule_ = reg.model_.value_rule


REGRESSOR = Estimator(
    LANNRegressor, schema_=SCHEMA, model_=VALUE_MODEL, **_FITTED | {"finish": _set_regressor}
)
