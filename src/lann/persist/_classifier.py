"""What a file has of a LANNClassifier: the levels of its metric, its vote, and what was derived from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lann._inputs import LARGEST_WEIGHT
from lann._sizes import LARGEST_VALUE, find_too_large
from lann._updatable_classifier import UpdateProgress
from lann.classifier import LANNClassifier
from lann.explain import Landmarks, Readings, Spacing
from lann.metrics import Levels
from lann.model import LocalModel
from lann.persist._encoding import ENCODING, SCHEMA, check_codes, check_values
from lann.persist._kinds import (
    Bool,
    Float,
    FloatList,
    Floats,
    Groups,
    Indices,
    Int,
    Maybe,
    Names,
    Size,
    Texts,
    TextTuple,
    Votes,
)
from lann.persist._records import Estimator, Record, Rule, Values, if_present
from lann.search import LARGEST_CENTER, CellIndex, Partition
from lann.vote import VoteChoice

LEVELS_IN_USE = ("curves", "map", "class", "point")
LANDMARKS, SPACING = "landmarks", "spacing"
# Weights are products of a class weight and a point weight, whose exponents add up to 700 at most: e^700 is
# finite. In float32, e^80 is.
LARGEST_CLASS_EXPONENT, LARGEST_POINT_EXPONENT, LARGEST_SINGLE_EXPONENT = 300.0, 400.0, 80.0
# Linear maps start as the identity, and matrices have a mean square of 1 in each row.
LARGEST_ENTRY = 1e10
# Shares of votes are at most 1, up to rounding, and distances are the roots of finite numbers.
LARGEST_SHARE, LARGEST_DISTANCE = 1.001, 1e154


def _axes_are_coordinates(values: Values) -> str | None:
    components, n_axes = values["components"], values["class_log_weights"].shape[1]
    n_coordinates = values["encoding"].n_coordinates
    if components is None:
        differ = n_axes != n_coordinates
        return "there is no linear map, but not an axis per coordinate" if differ else None
    return None if components.shape[1] == n_coordinates else "the linear map is not from the coordinates"


def _codes_are_valid(values: Values) -> str | None:
    return check_codes(values["X"], values["encoding"])


def _weights_are_finite(values: Values) -> str | None:
    by_class, by_point = values["class_log_weights"], values["point_log_weights"]
    if by_point.dtype == np.float64 or by_class.max() + float(by_point.max()) <= LARGEST_SINGLE_EXPONENT:
        return None
    return "the weights are too large for float32"


def _rows_are_measurable(values: Values) -> str | None:
    levels, encoding = Levels(**values), values["encoding"]
    limits = levels.row_limits
    feature = find_too_large(values["X"], limits)
    if feature is not None:
        return f"the metrics are too large for the values of feature {feature}"
    # Curves are measured from their first edge.
    edges = encoding.curves.edges
    largest = np.where(np.isfinite(edges), np.abs(edges), 0.0).max(axis=1, initial=0.0)
    if (largest > limits.by_feature[encoding.number_features]).any():
        return "the edges of curves are too far away"
    too_far = np.abs(encoding.gaps.heights).max(initial=0.0) > levels.coordinate_limit
    return "the coordinates of gaps are too far away" if too_far else None


LEVELS = Record(
    Levels,
    {
        "X": Floats("n_rows", "n_features", low=-LARGEST_VALUE, high=LARGEST_VALUE, nan=True, single=True),
        "encoding": ENCODING,
        "class_log_weights": Floats("n_classes", "n_axes", high=LARGEST_CLASS_EXPONENT),
        "labels": Indices("n_rows", below="n_classes"),
        "point_log_weights": Floats("n_rows", "n_axes", high=LARGEST_POINT_EXPONENT, single=True),
        "components": Maybe(
            Floats("n_axes", "n_coordinates", low=-LARGEST_ENTRY, high=LARGEST_ENTRY, any_order=True)
        ),
        "point_matrices": Maybe(
            Floats(
                "n_rows",
                "n_axes",
                "n_ranks",
                low=-LARGEST_ENTRY,
                high=LARGEST_ENTRY,
                single=True,
                any_order=True,
            )
        ),
        "row_weights": Maybe(Floats("n_rows", low=1.0 / LARGEST_WEIGHT, high=LARGEST_WEIGHT)),
    },
    at_least={"n_rows": 1, "n_features": 1, "n_classes": 1, "n_axes": 1, "n_ranks": 1},
    rules=(_axes_are_coordinates, _codes_are_valid, _weights_are_finite, _rows_are_measurable),
)


def _cell_index(centers: Any, offset: Any, scale: Any, **values: Any) -> CellIndex:
    return CellIndex(Partition(centers, offset, scale), **values)


CELL_INDEX = Record(
    _cell_index,
    {
        "centers": Floats("n_cells", "n_axes", low=-LARGEST_CENTER, high=LARGEST_CENTER),
        "offset": Floats("n_axes"),
        "scale": Floats("n_axes", low=0.0),
        "cells": Indices("n_rows", below="n_cells", short=True),
        "n_probed": Int(1, "n_cells"),
        "n_seen": Int(0),
    },
    sources={
        "centers": "partition.centers",
        "offset": "partition.offset",
        "scale": "partition.scale",
    },
    at_least={"n_cells": 1},
)


def _landmarks(
    rows: Any,
    votes: Any,
    alone: Any,
    contrast: Any,
    contrast_rows: Any,
    representatives: Any,
    correlated: Any,
    **_: Any,
) -> Landmarks | None:
    """Return landmarks; None for those of earlier versions, which are computed again when they are needed."""
    if alone is None or contrast is None or contrast_rows is None or representatives is None:
        return None
    return Landmarks(rows, Readings(votes, alone, contrast), contrast_rows, representatives, correlated)


LANDMARK_ROWS = Record(
    _landmarks,
    {
        "rows": Indices("n_landmarks", below="n_rows", ascending=True),
        "votes": Floats("n_landmarks", "n_classes", low=0.0, high=LARGEST_SHARE),
        "alone": Maybe(Floats("n_landmarks", "n_features", low=0.0, high=LARGEST_SHARE)),
        "contrast": Maybe(Floats("n_landmarks", "n_features", low=0.0, high=LARGEST_SHARE)),
        "contrast_rows": Maybe(Indices("n_landmarks", "n_contrasts", below="n_rows", low=-1)),
        "representatives": Maybe(Indices("n_classes", "n_representatives", below="n_rows", low=-1)),
        "correlated": Groups("n_features"),
        # Of the first version.
        "relevances": Maybe(Floats("n_landmarks", "n_features")),
        "supports": Maybe(Floats("n_landmarks", "n_classes", "n_features")),
    },
    sources={
        "votes": "readings.votes",
        "alone": "readings.alone",
        "contrast": "readings.contrast",
        "relevances": lambda landmarks: None,
        "supports": lambda landmarks: None,
    },
    at_least={"n_landmarks": 1},
    optional=("alone", "contrast", "contrast_rows", "representatives", "relevances", "supports"),
)


SPACED_ROWS = Record(
    Spacing,
    {
        "rows": Indices("n_spaced", below="n_rows", ascending=True),
        "distances": Floats("n_spaced", low=0.0, high=LARGEST_DISTANCE),
        "limit": Float(0.0),
    },
    at_least={"n_spaced": 2},
)

# What was computed from a model, if it was, and where it is found.
DERIVED = {LANDMARKS: Maybe(LANDMARK_ROWS), SPACING: Maybe(SPACED_ROWS)}
DERIVED_SOURCES = {
    LANDMARKS: lambda model: model.derived.get(LANDMARKS),
    SPACING: lambda model: model.derived.get(SPACING),
}
# What files of earlier versions do not have.
OPTIONAL = (SPACING,)


def with_derived(model: Any, **derived: Any) -> Any:
    """Return a model with what was computed from it; None is what was not."""
    model.derived |= {name: value for name, value in derived.items() if value is not None}
    return model


def _rows_have_arrived(values: Values) -> str | None:
    arrivals, n_rows = values["arrivals"], len(values["levels"].X)
    n_arrived = n_rows if values["n_arrived"] is None else values["n_arrived"]
    if values["index"] is not None and values["index"].n_seen > n_arrived:
        return "the cells are those of rows that have not arrived"
    if arrivals is None:
        return None if n_arrived == n_rows else "the order in which the rows have arrived is missing"
    ascending = bool((arrivals[1:] > arrivals[:-1]).all())
    return None if ascending and arrivals[-1] < n_arrived else "the rows have not arrived one after another"


def _local_model(*rules: Rule) -> Record:
    """Return the declaration of a model with local metrics, which has to obey further rules."""
    return Record(
        lambda landmarks, spacing, **values: with_derived(
            LocalModel(**values), landmarks=landmarks, spacing=spacing
        ),
        {
            "levels": LEVELS,
            "n_candidates": Maybe(Int(1)),
            "n_neighbors": Votes(),
            "power": Float(0.0),
            "floor": Float(0.0),
            "epsilon": Float(above=0.0),
            "class_weight": Maybe(Floats("n_classes", above=0.0)),
            "arrivals": Maybe(Indices("n_rows", below=None)),
            "n_arrived": Maybe(Int(1)),
            "index": Maybe(CELL_INDEX),
            **DERIVED,
        },
        sources={
            "power": "vote_rule.power",
            "floor": "vote_rule.floor",
            "epsilon": "vote_rule.epsilon",
            "class_weight": "vote_rule.class_weight",
            "arrivals": "arrivals_if_forgotten",
            **DERIVED_SOURCES,
        },
        optional=(*OPTIONAL, "arrivals", "n_arrived", "index"),
        rules=(_rows_have_arrived, *rules),
    )


def _has_no_gaps(values: Values) -> str | None:
    return "a training row has a gap" if np.isnan(values["levels"].X).any() else None


LOCAL_MODEL = _local_model()
# Of methods that measure numbers only.
COMPLETE_MODEL = _local_model(_has_no_gaps)


def _is_chosen(values: Values) -> str | None:
    n_votes, chosen = len(values["votes"]), values["chosen"]
    if chosen >= n_votes or values["best"] >= n_votes:
        return "the position of the vote is out of range"
    vote = [values["n_neighbors"], values["power"], values["floor"]]
    return None if values["votes"][chosen].tolist() == vote else "the vote is not the chosen one"


VOTE = Record(
    VoteChoice,
    {
        "n_neighbors": Votes(),
        "power": Float(0.0),
        "floor": Float(0.0),
        "votes": Floats("n_votes", 3, low=0.0),
        "log_losses": Floats("n_votes", nan=True, infinite=True),
        "chosen": Int(0, "n_votes"),
        "best": Int(0, "n_votes"),
        "gain": Float(),
        "gain_error": Float(0.0),
        "mean_weight": Float(above=0.0),
    },
    at_least={"n_votes": 1},
    own_sizes=True,
    rules=(_is_chosen,),
)


def _same_vote(values: Values) -> str | None:
    vote, model = values["vote_"], values["model_"]
    rule = model.vote_rule
    same = (vote.n_neighbors, vote.power, vote.floor) == (model.n_neighbors, rule.power, rule.floor)
    return None if same else "the vote of the model is not the chosen one"


def _values_are_valid(values: Values) -> str | None:
    return check_values(values["model_"].X, values["schema_"])


def _same_categories(values: Values) -> str | None:
    encoding = values["model_"].levels.encoding
    n_categories = np.zeros(encoding.n_features, np.int64)
    for feature, positions in zip(encoding.category_features, encoding.positions, strict=True):
        n_categories[feature] = positions.n_categories
    same = n_categories.tolist() == list(values["schema_"].n_categories)
    return None if same else "the categories of the features are not those of their positions"


def _same_names(values: Values) -> str | None:
    names = values["feature_names_in_"]
    same = names is None or list(names) == [feature.name for feature in values["schema_"].features]
    return None if same else "the names of the features are not those of their schema"


PROGRESS = Record(
    UpdateProgress,
    {
        "learned": Bool(),
        "loss_epsilon": Maybe(Float(above=0.0)),
        "n_changes": Int(0),
        "n_rows": Int(0),
        "seed": Maybe(Int(0, 2**31 - 1)),
    },
    own_sizes=True,
)


def _fitted_attributes(**values: Any) -> Values:
    vote, levels = values["vote_"], values["model_"].levels
    values["model_"].names = values["ids_"]
    if values["_progress"] is None:  # of an earlier version
        values["_progress"] = UpdateProgress(learned=bool(values["levels_"]), n_rows=len(levels.X))
    follows = {
        "n_neighbors_": vote.n_neighbors,
        "power_": vote.power,
        "encoding_": levels.encoding,
        "curves_": levels.curves,
        "components_": levels.components,
    }
    return values | follows


CLASSIFIER = Estimator(
    LANNClassifier,
    Record(
        _fitted_attributes,
        {
            "n_features_in_": Size("n_features"),
            "feature_names_in_": Maybe(Texts("n_features")),
            "classes_": Names("n_classes", distinct=True),
            "schema_": SCHEMA,
            "model_": LOCAL_MODEL,
            "ids_": Maybe(Names("n_rows")),
            "vote_": VOTE,
            "levels_": TextTuple(*LEVELS_IN_USE),
            "n_iter_": Int(0),
            "loss_curve_": FloatList(),
            "validation_curve_": FloatList(),
            "_weight_unit": Float(above=0.0, high=1.0),
            "_progress": Maybe(PROGRESS),
        },
        sources={"feature_names_in_": if_present("feature_names_in_"), "ids_": "_names"},
        rules=(_same_vote, _same_categories, _same_names, _values_are_valid),
        optional=("_progress",),
    ),
    added=("max_points", "forget_policy", "storage"),
)
