"""What files have of reject options, apart from their classifier."""

from __future__ import annotations

from typing import Any

from lann._support.sizes import LARGEST_VALUE
from lann.persist._classifier import LARGEST_DISTANCE, SCHEMA
from lann.persist._fields import (
    POSITIVE,
    Array,
    Maybe,
    Names,
    Record,
    require,
)
from lann.reject import Coordinates, HeldOut, NoveltyScale, PlainRows, RejectOption

# Products of a few such numbers are finite.
LARGEST = 1e75
# Parts of the novelty are logarithms up to this, and held-out rows differ in them by more than that.
LARGEST_PART, SMALLEST_PART_SPREAD = 1e6, 1e-3


def _plain_rows(**values: Any) -> PlainRows:
    n_axes, n_coordinates = values["rows"].shape[1], len(values["coordinates"].feature)
    are_axes = values["whitening"] is not None or n_axes == n_coordinates
    require(are_axes, "the plain rows do not have the coordinates as axes")
    return PlainRows(**values)


PLAIN_ROWS = Record(
    _plain_rows,
    schema=SCHEMA,
    coordinates=Record(
        Coordinates,
        means=Array("f8 n_features", within=LARGEST_VALUE),
        scales=Array("f8 n_features", low=POSITIVE),
        feature=Array("i8 n_plain_coordinates", high="n_features-1", ascending=0),
        code=Array("f8 n_plain_coordinates", low=0.0, nan=True, infinite=True),
        shifts=Array("f8 n_plain_coordinates", low=0.0, high=1.0),
        factors=Array("f8 n_plain_coordinates", low=POSITIVE, high=LARGEST),
    ),
    whitening=Maybe(Array("f8 n_plain_coordinates n_plain_axes", within=LARGEST, any_order=True)),
    rows=Array("f8 n_plain n_plain_axes", within=LARGEST, any_order=True),
    labels=Array("i8 n_plain", high="n_classes-1", low=-1),
    spacing=Array("f8 n_plain", low=0.0, high=LARGEST_DISTANCE, infinite=True),
    extremes=Array("f8 2 n_features", within=LARGEST_VALUE, nan=True),
    has_gaps=Array("b1 n_features"),
)


def _held_out(option: RejectOption) -> HeldOut:
    option.reader_.check_unchanged()
    return option.held_out_


HELD_OUT = Record(
    HeldOut,
    y_true=Names("n_held_out"),
    y_pred=Names("n_held_out"),
    certainties=Array("f8 n_held_out", infinite=True),
    novelties=Array("f8 n_held_out", low=0.0, infinite=True),
    groups=Array("i8 n_held_out", high="n_thresholds-1"),
    rows=Array("i8 n_held_out", ascending=0),
)
# What a reject option has learned, apart from its classifier.
LEARNED_REJECTION: dict[str, Any] = {
    "thresholds_": Array("f8 n_thresholds", infinite=True),
    "held_out_": HELD_OUT.of(_held_out),
    # Of three parts: of the model, of plain rows, and of the range.
    "novelty_scale_": Record(
        NoveltyScale,
        usual=Array("f8 3", within=LARGEST_PART),
        spread=Array("f8 3", low=SMALLEST_PART_SPREAD, high=2.0 * LARGEST_PART),
    ),
    "landmarks_": Maybe(Array("i8 n_thresholds")),
    "plain": PLAIN_ROWS.of(lambda option: option.reader_.plain),
    "spacing": Maybe(Array("f8 n_rows", low=0.0, high=LARGEST_DISTANCE, infinite=True)).of(
        lambda option: option.reader_.spacing
    ),
}


def _build_option(**learned: Any) -> RejectOption:
    option = RejectOption(cv="prefit")
    option.__dict__.update(learned)
    return option


# A reject option of a table, around the model of the file.
TABLE_REJECT = Record(_build_option, **LEARNED_REJECTION)


def restore(option: RejectOption, estimator: Any) -> None:
    """Set the classifier of a reject option; raise InvalidModelFile unless they fit together."""
    plain, spacing = option.__dict__.pop("plain"), option.__dict__.pop("spacing")
    model, landmarks = estimator.model_, option.landmarks_
    n_regions = None if landmarks is None else len(landmarks)
    n_needed = {"global": 1, "class": len(estimator.classes_), "local": n_regions}[option.by]
    has_spacing = model.has_training_rows and len(model.X) > 1
    schema = getattr(estimator, "schema_", None)
    checks = {
        "the number of thresholds is not that of the classes or regions": len(option.thresholds_) == n_needed,
        "a region is not the neighborhood of a training row": landmarks is None
        or (option.by == "local" and landmarks.max() < len(model.X)),
        "there are distances between training rows that are not needed, or none": has_spacing
        == (spacing is not None),
        "the rows to compare with have other features than the classifier": len(plain.schema.features)
        == estimator.n_features_in_
        and (schema is None or plain.schema.names == schema.names),
    }
    for sentence, holds in checks.items():
        require(holds, sentence)
    if option.cv == "prefit":
        option.estimator = estimator
    option.restore(estimator, plain, spacing)
