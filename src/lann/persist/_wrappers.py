"""What files have of estimators around a model: embeddings, and reject options with their held-out rows."""

from __future__ import annotations

from copy import copy
from typing import Any

from sklearn.frozen import FrozenEstimator

from lann._support.sizes import LARGEST_VALUE
from lann.columns.schema import Feature, TableSchema
from lann.embedding import DiscriminantPlane, LANNEmbedding, NeighborEmbedding
from lann.persist._baselines import PROTOTYPES, WITH_NEIGHBORS
from lann.persist._classifier import CLASSIFIER, COMPLETE_MODEL, LARGEST_DISTANCE, SCHEMA
from lann.persist._fields import (
    POSITIVE,
    AnyEstimator,
    Array,
    Arrays,
    Estimator,
    Float,
    Floats,
    Indices,
    Int,
    InvalidModelFile,
    Json,
    Kind,
    Maybe,
    Names,
    Reader,
    Record,
    Size,
    require,
    shown,
)
from lann.reject import Coordinates, HeldOut, NoveltyScale, PlainRows, RejectOption, RejectState

# Embeddings

# Its square is not 0.
SMALLEST_SCALE = 1e-6
LARGEST_COORDINATE = 1e100
FROZEN = "frozen"


class ClassifierParameter(Kind):
    """The parameter `classifier`: None, a classifier that is not fitted, or the fitted one, frozen."""

    parameters = AnyEstimator(CLASSIFIER, *WITH_NEIGHBORS, is_fitted=False)

    def write(self, value: Any, name: str, arrays: Arrays) -> Json:
        if isinstance(value, FrozenEstimator):
            return FROZEN
        return None if value is None else self.parameters.write(value, name, arrays)

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        if data == FROZEN:
            return FrozenEstimator(None)  # the fitted classifier follows
        return None if data is None else self.parameters.read(data, name, reader)


def _classifier_of(embedding: LANNEmbedding) -> Any:
    given = embedding.classifier
    if isinstance(given, FrozenEstimator):
        same = getattr(given.estimator, "model_", None) is embedding.model_
        require(same, "its frozen classifier has been fitted again since")
    return given


def _with_frozen(embedding: LANNEmbedding) -> LANNEmbedding:
    if isinstance(embedding.classifier, FrozenEstimator):
        embedding.classifier = FrozenEstimator(copy(embedding.classifier_))
    return embedding


_LAYOUT: dict[str, Kind] = {
    "embedding_": Floats("n_rows", "n_components", within=LARGEST_COORDINATE),
    "neighbors_": Indices("n_rows", "n_listed", below="n_rows", low=-1),
    "distances_": Floats("n_rows", "n_listed", low=0.0, high=LARGEST_DISTANCE, infinite=True),
    "n_iter_": Int(0),
    "_n_features_out": Size("n_components"),
    "_scale": Float(SMALLEST_SCALE, LARGEST_COORDINATE),
}
EMBEDDINGS = (
    Estimator(NeighborEmbedding, {"model_": COMPLETE_MODEL, **_LAYOUT}),
    Estimator(
        LANNEmbedding,
        {"classifier_": AnyEstimator(CLASSIFIER, *WITH_NEIGHBORS), **_LAYOUT},
        follows=lambda **values: values | {"model_": values["classifier_"].model_},
        sources={"classifier": _classifier_of},
        parameters={"classifier": ClassifierParameter()},
        finish=_with_frozen,
    ),
    Estimator(
        DiscriminantPlane,
        {
            # Their products, and the sums of these, are finite.
            "components_": Floats("n_components", "n_features", within=LARGEST_COORDINATE, any_order=True),
            "mean_": Floats("n_features", within=LARGEST_VALUE),
            "_n_features_out": Size("n_components"),
        },
    ),
)


# Reject options

# The square of a sum of many such numbers is finite.
LARGEST = 1e100
# Parts of the novelty are logarithms up to this, and held-out rows differ in them by more than that.
LARGEST_PART, SMALLEST_PART_SPREAD = 1e6, 1e-3
# Parts of the novelty: of the model, of plain rows, and of the range.
N_PARTS = 3
CLASSIFIERS = AnyEstimator(CLASSIFIER, *WITH_NEIGHBORS, *PROTOTYPES)
# Whose table can have held-out rows.
WITH_STATE = AnyEstimator(CLASSIFIER, *WITH_NEIGHBORS)


def _plain_rows(**values: Any) -> PlainRows:
    n_axes, n_coordinates = values["rows"].shape[1], len(values["coordinates"].feature)
    are_axes = values["whitening"] is not None or n_axes == n_coordinates
    require(are_axes, "the plain rows do not have the coordinates as axes")
    return PlainRows(**values)


PLAIN_ROWS = Record(
    _plain_rows,
    {
        "schema": SCHEMA,
        "coordinates": Record(
            Coordinates,
            {
                "means": Floats("n_features", within=LARGEST_VALUE),
                "scales": Floats("n_features", low=POSITIVE),
                "feature": Indices("n_plain_coordinates", below="n_features", ascending=0),
                "code": Floats("n_plain_coordinates", low=0.0, nan=True, infinite=True),
                "shifts": Floats("n_plain_coordinates", low=0.0, high=1.0),
                "factors": Floats("n_plain_coordinates", low=POSITIVE, high=LARGEST),
            },
        ),
        "whitening": Maybe(Floats("n_plain_coordinates", "n_plain_axes", within=LARGEST, any_order=True)),
        "rows": Floats("n_plain", "n_plain_axes", within=LARGEST, any_order=True),
        "labels": Indices("n_plain", below="n_classes", low=-1),
        "spacing": Floats("n_plain", low=0.0, high=LARGEST_DISTANCE, infinite=True),
        "extremes": Floats(2, "n_features", within=LARGEST_VALUE, nan=True),
        "has_gaps": Array("n_features", dtypes=("|b1",)),
    },
)


def _state(n_thresholds: int, **values: Any) -> RejectState:
    has_thresholds = values["thresholds"] is not None or n_thresholds == 1
    require(has_thresholds, "there are several groups, but no thresholds")
    y_true, y_pred = values["held_out"].y_true, values["held_out"].y_pred
    same = (y_true.dtype.kind in "UO") == (y_pred.dtype.kind in "UO")
    require(same, "some labels of the held-out rows are text and some are not")
    is_complete = values["novelty_scale"] is None or values["plain"] is not None
    require(is_complete, "novelties have a scale, but there are no rows to compare with")
    return RejectState(**values)


STATE = Record(
    _state,
    {
        "n_thresholds": Size("n_thresholds"),
        "thresholds": Maybe(Floats("n_thresholds", infinite=True)),
        "held_out": Record(
            HeldOut,
            {
                "y_true": Names("n_held_out"),
                "y_pred": Names("n_held_out"),
                "certainties": Floats("n_held_out", infinite=True),
                "novelties": Floats("n_held_out", low=0.0, nan=True, infinite=True),
                "groups": Indices("n_held_out", below="n_thresholds"),
                "rows": Indices("n_held_out", ascending=0),
            },
        ),
        "novelty_scale": Maybe(
            Record(
                NoveltyScale,
                {
                    "usual": Floats(N_PARTS, within=LARGEST_PART),
                    "spread": Floats(N_PARTS, low=SMALLEST_PART_SPREAD, high=2.0 * LARGEST_PART),
                },
            )
        ),
        "plain": Maybe(PLAIN_ROWS),
        "spacing": Maybe(Floats("n_rows", low=0.0, high=LARGEST_DISTANCE, infinite=True)),
        "landmarks": Maybe(Indices("n_thresholds")),
    },
    {"n_thresholds": lambda state: 1 if state.thresholds is None else len(state.thresholds)},
)


def check_state(option: RejectOption, estimator: Any, state: RejectState, part: str) -> None:
    """Raise InvalidModelFile unless a state fits to the parameters of a reject option and its classifier."""

    def check(condition: Any, sentence: str) -> None:
        require(condition, f"in its {part}, {sentence}")

    model, n_classes = estimator.model_, len(estimator.classes_)
    n_regions = None if state.landmarks is None else len(state.landmarks)
    n_thresholds = 1 if state.thresholds is None else len(state.thresholds)
    same = n_thresholds == {"global": 1, "class": n_classes, "local": n_regions}[option.by]
    check(same, "the number of thresholds is not that of the classes or regions")
    are_rows = state.landmarks is None or (option.by == "local" and state.landmarks.max() < len(model.X))
    check(are_rows, "a region is not the neighborhood of a training row")
    needs = option.novelty_share > 0 or option.certainty == "novelty"
    is_scaled = needs == (state.novelty_scale is not None)
    check(is_scaled, "there is a scale of novelties that is not needed, or none")
    has_spacing = needs and model.has_training_rows and len(model.X) > 1
    is_spaced = has_spacing == (state.spacing is not None)
    check(is_spaced, "there are distances between training rows that are not needed, or none")
    same = state.plain is None or _reads_the_same(state.plain.schema, estimator)
    check(same, "the rows to compare with have other features than the classifier")


def _reads_the_same(plain: TableSchema, estimator: Any) -> bool:
    """Return whether a schema of plain rows reads what the classifier reads.

    It is inferred from the types of the columns, which the classifier can be told to read as categories.
    """
    schema = getattr(estimator, "schema_", None)
    if schema is None:
        return len(plain.features) == estimator.n_features_in_ and all(map(_has_numbers, plain.features))
    return plain.names == schema.names and all(map(_can_be_read_as, schema.features, plain.features))


def _can_be_read_as(feature: Feature, plain: Feature) -> bool:
    """Return whether a feature of a classifier can be another one among plain rows."""
    if feature.kind == plain.kind:
        return feature.kind != "ordered" or feature.categories == plain.categories
    if feature.kind == "number":
        return plain.kind == "category" or _has_numbers(plain)
    if feature.kind != "category" or plain.kind == "date":
        return feature.kind == "category"
    if plain.kind == "number":
        return all(map(_is_number, feature.categories))
    return set(feature.categories) <= set(plain.categories or ("False", "True"))


def _has_numbers(plain: Feature) -> bool:
    """Return whether methods that take numbers only can read what is, by its type, another feature."""
    return plain.kind in ("number", "bool", "date") or all(map(_is_number, plain.categories))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _restore(option: RejectOption) -> RejectOption:
    """Return a reject option whose state is restored around its classifier, which is saved once."""
    state = option.__dict__.pop("_state")
    require(state.thresholds is not None, "in its RejectOption, there are no thresholds")
    check_state(option, option.estimator_, state, "RejectOption")
    if option.cv == "prefit":
        option.estimator = option.estimator_
    try:
        return state.restore(option, option.estimator_)
    except ValueError as error:
        raise InvalidModelFile(f"its RejectOption is invalid: {shown(str(error))}") from error


REJECT_OPTION = Estimator(
    RejectOption,
    {"estimator_": CLASSIFIERS, "_state": STATE},
    sources={
        "_state": RejectState.of,
        "estimator": lambda option: None if option.cv == "prefit" else option.estimator,
    },
    parameters={"estimator": Maybe(AnyEstimator(*CLASSIFIERS.by_name.values(), is_fitted=False))},
    finish=_restore,
)
