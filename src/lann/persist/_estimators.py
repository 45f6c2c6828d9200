"""What files have of other estimators: baselines, embeddings and reject options."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from lann._support.sizes import LARGEST_VALUE
from lann.baselines import (
    DANN,
    GLML,
    GMLVQ,
    GRLVQ,
    LGMLVQ,
    LGRLVQ,
    LMNN,
    PLML,
    AnchorMaps,
    DiscriminantMaps,
    Gaussians,
    GenerativeMaps,
    GroupMaps,
    MultiMetricLMNN,
    Prototypes,
    PublishedLANN,
)
from lann.embedding import DiscriminantPlane, LANNEmbedding, NeighborEmbedding
from lann.model import N_TYPICAL
from lann.persist._classifier import CLASSIFIER, DERIVED, LARGEST_DISTANCE, LOCAL_MODEL, SCHEMA
from lann.persist._fields import (
    FLOAT_LIST,
    POSITIVE,
    AnyEstimator,
    Array,
    Arrays,
    Estimator,
    Float,
    Floats,
    Indices,
    Int,
    Json,
    Kind,
    Maybe,
    Names,
    Reader,
    Record,
    Size,
    require,
)
from lann.reject import Coordinates, HeldOut, NoveltyScale, PlainRows, RejectOption

# Baselines

# Products of a few such numbers are finite.
LARGEST = 1e75
# A map can divide by the smallest spread. Its squares are finite.
LARGEST_ENTRY = 1e145
LEARNED: dict[str, Any] = {"n_iter_": Int(0), "loss_curve_": FLOAT_LIST}


def _baseline(
    cls: type, model: Record, follows: Callable[[Any], dict[str, Any]] = lambda model: {}, **fields: Any
) -> Estimator:
    """Return the declaration of a baseline; `follows` returns further attributes from the model."""

    def finish(baseline: Any) -> Any:
        vars(baseline).update(follows(baseline.model_))
        return baseline

    return Estimator(cls, finish, classes_=Names("n_classes", distinct=True), model_=model, **fields)


PUBLISHED_LANN = _baseline(
    PublishedLANN,
    LOCAL_MODEL,
    lambda model: {"components_": model.levels.components},
    temperature_=Float(POSITIVE),
    **LEARNED,
)


# Training rows under linear maps


def _mapped_rows(build: Callable[..., Any], **fields: Kind) -> Record:
    """Return the declaration of training rows that are compared by linear maps.

    Parameters
    ----------
    build : callable
        Returns the rows without their vote, from X and the further fields.
    **fields : Kind
        The further fields.
    """

    def build_model(
        labels: Any, n_classes: int, n_neighbors: int, power: float, derived: Any, **values: Any
    ) -> Any:
        model = build(**values)
        model.set_vote(labels, n_classes=n_classes, n_neighbors=n_neighbors, power=power)
        model.derived |= derived
        return model

    return Record(
        build_model,
        X=Floats("n_rows", "n_features", within=LARGEST_VALUE),
        labels=Indices("n_rows", below="n_classes"),
        n_classes=Size("n_classes"),
        n_neighbors=Int(1, high="n_rows"),
        power=Float(0.0, 1.0),
        **fields,
        derived=DERIVED,
    )


GROUP_MAPS = _mapped_rows(
    GroupMaps,
    maps=Floats("n_groups", "n_map_rows", "n_features", within=LARGEST_ENTRY, any_order=True),
    groups=Indices("n_rows", below="n_groups"),
)
LARGE_MARGIN = _baseline(
    LMNN,
    GROUP_MAPS,
    lambda model: {"components_": model.maps[0]},
    margin_=Float(POSITIVE),
    **LEARNED,
)
MULTI_METRIC = _baseline(
    MultiMetricLMNN,
    GROUP_MAPS,
    lambda model: {"components_": model.maps, "groups_": model.groups},
    shared_components_=Floats("n_map_rows", "n_features", any_order=True),
    margin_=Float(POSITIVE),
    **LEARNED,
)
DISCRIMINANT = _baseline(
    DANN,
    _mapped_rows(
        DiscriminantMaps,
        # Part of the file, so that a model never takes much more memory than its file.
        memberships=Floats("n_rows", "n_classes", low=0.0, high=1.0),
        n_metric_neighbors=Int(1, high="n_rows"),
        alpha=Float(POSITIVE, LARGEST),
        shrinkage=Float(POSITIVE, 1.0),
        max_iter=Int(0, high=100),
    ),
    lambda model: {"n_metric_neighbors_": model.n_metric_neighbors},
    n_iter_=Int(0),
)
GAUSSIANS = Record(
    Gaussians,
    priors=Floats("n_classes", low=POSITIVE, high=1.0),
    means=Floats("n_classes", "n_features"),
    precisions=Floats("n_classes", "n_features", "n_features", any_order=True),
    log_determinants=Floats("n_classes"),
)
GENERATIVE = _baseline(
    GLML,
    _mapped_rows(GenerativeMaps, gaussians=GAUSSIANS, alpha=Float(0.0, LARGEST)),
    shrinkages_=Floats("n_classes", low=POSITIVE, high=1.0),
)
PARAMETRIC = _baseline(
    PLML,
    _mapped_rows(
        AnchorMaps,
        axes=Floats("n_axes", "n_features", within=LARGEST, any_order=True),
        weights=Floats("n_rows", "n_anchors", low=0.0, high=LARGEST, any_order=True),
        maps=Floats("n_anchors", "n_map_rows", "n_axes", within=LARGEST_ENTRY, any_order=True),
        n_metric_neighbors=Int(1, high="n_rows"),
    ),
    lambda model: {"anchor_weights_": model.weights},
    anchors_=Floats("n_anchors", "n_features", any_order=True),
    anchor_feature_weights_=Floats("n_anchors", "n_features", any_order=True),
    **LEARNED,
)


# Prototypes


def _lvq(cls: Any, *map_shape: str, components: Callable[[Any], Any] | None = None) -> Estimator:
    """Return the declaration of a method with prototypes.

    Parameters
    ----------
    cls : type
    *map_shape : str
        Shape of the map of each metric.
    components : callable or None
        Returns the maps from the model.
    """

    def build(n_classes: int, typical_values: Any, **values: Any) -> Prototypes:
        require(len(np.unique(values["labels"])) == n_classes, "there is a class without a prototype")
        # The typical values of the typical values are these themselves.
        return Prototypes(**values, form=cls._form, training_rows=typical_values)

    def finish(lvq: Any) -> Any:
        model = lvq.model_
        lvq.prototypes_, lvq.prototype_labels_ = model.X, lvq.classes_[model.labels]
        if components is not None:
            lvq.components_ = components(model)
        return lvq

    model = Record(
        build,
        X=Floats("n_prototypes", "n_features", within=LARGEST_VALUE),
        labels=Indices("n_prototypes", below="n_classes", ascending=0),
        n_classes=Size("n_classes"),
        maps=Floats("n_metrics", *map_shape, within=LARGEST, any_order=True),
        metric_indices=Indices("n_prototypes", below="n_metrics", ascending=0),
        typical_values=Floats(N_TYPICAL, "n_features", ascending=0, within=LARGEST_VALUE),
    )
    return Estimator(cls, finish, classes_=Names("n_classes", distinct=True), model_=model, **LEARNED)


PROTOTYPES = (
    _lvq(GRLVQ, "n_features"),
    _lvq(LGRLVQ, "n_features"),
    _lvq(GMLVQ, "n_map_rows", "n_features", components=lambda model: model.maps[0]),
    _lvq(LGMLVQ, "n_map_rows", "n_features", components=lambda model: model.maps[model.metric_indices]),
)
WITH_NEIGHBORS = (PUBLISHED_LANN, LARGE_MARGIN, MULTI_METRIC, DISCRIMINANT, GENERATIVE, PARAMETRIC)


# Embeddings

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


def _with_classifier(embedding: LANNEmbedding) -> LANNEmbedding:
    embedding.model_ = embedding.classifier_.model_
    if isinstance(embedding.classifier, FrozenEstimator):
        embedding.classifier = FrozenEstimator(copy(embedding.classifier_))
    return embedding


_LAYOUT: dict[str, Any] = {
    "embedding_": Floats("n_rows", "n_components", within=1e100),
    "neighbors_": Indices("n_rows", "n_listed", below="n_rows", low=-1),
    "distances_": Floats("n_rows", "n_listed", low=0.0, high=LARGEST_DISTANCE, infinite=True),
    "n_iter_": Int(0),
    "_n_features_out": Size("n_components"),
    "_scale": Float(1e-6, 1e100),
}
EMBEDDINGS = (
    Estimator(NeighborEmbedding, model_=LOCAL_MODEL, **_LAYOUT),
    Estimator(
        LANNEmbedding,
        _with_classifier,
        {"classifier": ClassifierParameter()},
        classifier_=AnyEstimator(CLASSIFIER, *WITH_NEIGHBORS),
        **_LAYOUT,
    ),
    Estimator(
        DiscriminantPlane,
        # Their products, and the sums of these, are finite.
        components_=Floats("n_components", "n_features", within=1e100, any_order=True),
        mean_=Floats("n_features", within=LARGEST_VALUE),
        _n_features_out=Size("n_components"),
    ),
)


# Reject options

# Parts of the novelty are logarithms up to this, and held-out rows differ in them by more than that.
LARGEST_PART, SMALLEST_PART_SPREAD = 1e6, 1e-3
# Parts of the novelty: of the model, of plain rows, and of the range.
N_PARTS = 3
CLASSIFIERS = AnyEstimator(CLASSIFIER, *WITH_NEIGHBORS, *PROTOTYPES)


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
        means=Floats("n_features", within=LARGEST_VALUE),
        scales=Floats("n_features", low=POSITIVE),
        feature=Indices("n_plain_coordinates", below="n_features", ascending=0),
        code=Floats("n_plain_coordinates", low=0.0, nan=True, infinite=True),
        shifts=Floats("n_plain_coordinates", low=0.0, high=1.0),
        factors=Floats("n_plain_coordinates", low=POSITIVE, high=LARGEST),
    ),
    whitening=Maybe(Floats("n_plain_coordinates", "n_plain_axes", within=LARGEST, any_order=True)),
    rows=Floats("n_plain", "n_plain_axes", within=LARGEST, any_order=True),
    labels=Indices("n_plain", below="n_classes", low=-1),
    spacing=Floats("n_plain", low=0.0, high=LARGEST_DISTANCE, infinite=True),
    extremes=Floats(2, "n_features", within=LARGEST_VALUE, nan=True),
    has_gaps=Array("n_features", dtypes=("|b1",)),
)


def _held_out(option: RejectOption) -> HeldOut:
    option.reader_.check_unchanged()
    return option.held_out_


HELD_OUT = Record(
    HeldOut,
    y_true=Names("n_held_out"),
    y_pred=Names("n_held_out"),
    certainties=Floats("n_held_out", infinite=True),
    novelties=Floats("n_held_out", low=0.0, infinite=True),
    groups=Indices("n_held_out", below="n_thresholds"),
    rows=Indices("n_held_out", ascending=0),
)
# What a reject option has learned, apart from its classifier.
LEARNED_REJECTION: dict[str, Any] = {
    "thresholds_": Floats("n_thresholds", infinite=True),
    "held_out_": HELD_OUT.of(_held_out),
    "novelty_scale_": Record(
        NoveltyScale,
        usual=Floats(N_PARTS, within=LARGEST_PART),
        spread=Floats(N_PARTS, low=SMALLEST_PART_SPREAD, high=2.0 * LARGEST_PART),
    ),
    "landmarks_": Maybe(Indices("n_thresholds")),
    "plain": PLAIN_ROWS.of(lambda option: option.reader_.plain),
    "spacing": Maybe(Floats("n_rows", low=0.0, high=LARGEST_DISTANCE, infinite=True)).of(
        lambda option: option.reader_.spacing
    ),
}


def _build_option(**learned: Any) -> RejectOption:
    option = RejectOption(cv="prefit")
    option.__dict__.update(learned)
    return option


# A reject option of a table, around the model of the file.
TABLE_REJECT = Record(_build_option, **LEARNED_REJECTION)


def restore(option: RejectOption, estimator: Any) -> RejectOption:
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
    return option


_UNFITTED = Maybe(AnyEstimator(*CLASSIFIERS.by_name.values(), is_fitted=False))
REJECT_OPTION = Estimator(
    RejectOption,
    lambda option: restore(option, option.estimator_),
    {"estimator": _UNFITTED.of(lambda option: None if option.cv == "prefit" else option.estimator)},
    estimator_=CLASSIFIERS,
    **LEARNED_REJECTION,
)
