"""What files have of other estimators: baselines, embeddings, reject options and classifiers for streams."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from lann import baselines, streams
from lann._support.sizes import LARGEST_VALUE
from lann.embedding import DiscriminantPlane, LANNEmbedding, NeighborEmbedding
from lann.model import N_TYPICAL
from lann.persist._classifier import CLASSIFIER, DERIVED, LARGEST_DISTANCE, LOCAL_MODEL
from lann.persist._fields import (
    FLOAT_LIST,
    POSITIVE,
    AnyEstimator,
    Array,
    Arrays,
    Estimator,
    Float,
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
from lann.persist._reject import LEARNED_REJECTION, restore
from lann.reject import RejectOption

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

    def finish(baseline: Any) -> None:
        vars(baseline).update(follows(baseline.model_))

    return Estimator(cls, finish, classes_=Names("n_classes", distinct=True), model_=model, **fields)


PUBLISHED_LANN = _baseline(
    baselines.PublishedLANN,
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
        X=Array("f8 n_rows n_features", within=LARGEST_VALUE),
        labels=Array("i8 n_rows", high="n_classes-1"),
        n_classes=Size("n_classes"),
        n_neighbors=Int(1, high="n_rows"),
        power=Float(0.0, 1.0),
        **fields,
        derived=DERIVED,
    )


GROUP_MAPS = _mapped_rows(
    baselines.GroupMaps,
    maps=Array("f8 n_groups n_map_rows n_features", within=LARGEST_ENTRY, any_order=True),
    groups=Array("i8 n_rows", high="n_groups-1"),
)
LARGE_MARGIN = _baseline(
    baselines.LMNN,
    GROUP_MAPS,
    lambda model: {"components_": model.maps[0]},
    margin_=Float(POSITIVE),
    **LEARNED,
)
MULTI_METRIC = _baseline(
    baselines.MultiMetricLMNN,
    GROUP_MAPS,
    lambda model: {"components_": model.maps, "groups_": model.groups},
    shared_components_=Array("f8 n_map_rows n_features", any_order=True),
    margin_=Float(POSITIVE),
    **LEARNED,
)
DISCRIMINANT = _baseline(
    baselines.DANN,
    _mapped_rows(
        baselines.DiscriminantMaps,
        # Part of the file, so that a model never takes much more memory than its file.
        memberships=Array("f8 n_rows n_classes", low=0.0, high=1.0),
        n_metric_neighbors=Int(1, high="n_rows"),
        alpha=Float(POSITIVE, LARGEST),
        shrinkage=Float(POSITIVE, 1.0),
        max_iter=Int(0, high=100),
    ),
    lambda model: {"n_metric_neighbors_": model.n_metric_neighbors},
    n_iter_=Int(0),
)
GAUSSIANS = Record(
    baselines.Gaussians,
    priors=Array("f8 n_classes", low=POSITIVE, high=1.0),
    means=Array("f8 n_classes n_features"),
    precisions=Array("f8 n_classes n_features n_features", any_order=True),
    log_determinants=Array("f8 n_classes"),
)
GENERATIVE = _baseline(
    baselines.GLML,
    _mapped_rows(baselines.GenerativeMaps, gaussians=GAUSSIANS, alpha=Float(0.0, LARGEST)),
    shrinkages_=Array("f8 n_classes", low=POSITIVE, high=1.0),
)
PARAMETRIC = _baseline(
    baselines.PLML,
    _mapped_rows(
        baselines.AnchorMaps,
        axes=Array("f8 n_axes n_features", within=LARGEST, any_order=True),
        weights=Array("f8 n_rows n_anchors", low=0.0, high=LARGEST, any_order=True),
        maps=Array("f8 n_anchors n_map_rows n_axes", within=LARGEST_ENTRY, any_order=True),
        n_metric_neighbors=Int(1, high="n_rows"),
    ),
    lambda model: {"anchor_weights_": model.weights},
    anchors_=Array("f8 n_anchors n_features", any_order=True),
    anchor_feature_weights_=Array("f8 n_anchors n_features", any_order=True),
    **LEARNED,
)


# Prototypes


def _lvq(cls: Any, map_shape: str, components: Callable[[Any], Any] | None = None) -> Estimator:
    """Return the declaration of a method with prototypes.

    Parameters
    ----------
    cls : type
    map_shape : str
        Shape of the map of each metric.
    components : callable or None
        Returns the maps from the model.
    """

    def build(n_classes: int, **values: Any) -> baselines.Prototypes:
        require(len(np.unique(values["labels"])) == n_classes, "there is a class without a prototype")
        return baselines.Prototypes(**values)

    def finish(lvq: Any) -> None:
        model = lvq.model_
        lvq.prototypes_, lvq.prototype_labels_ = model.X, lvq.classes_[model.labels]
        if components is not None:
            lvq.components_ = components(model)

    model = Record(
        build,
        X=Array("f8 n_prototypes n_features", within=LARGEST_VALUE),
        labels=Array("i8 n_prototypes", high="n_classes-1", ascending=0),
        n_classes=Size("n_classes"),
        maps=Array(f"f8 n_metrics {map_shape}", within=LARGEST, any_order=True),
        metric_indices=Array("i8 n_prototypes", high="n_metrics-1", ascending=0),
        typical_values=Array(f"f8 {N_TYPICAL} n_features", ascending=0, within=LARGEST_VALUE),
    )
    return Estimator(cls, finish, classes_=Names("n_classes", distinct=True), model_=model, **LEARNED)


PROTOTYPES = (
    _lvq(baselines.GRLVQ, "n_features"),
    _lvq(baselines.LGRLVQ, "n_features"),
    _lvq(baselines.GMLVQ, "n_map_rows n_features", lambda model: model.maps[0]),
    _lvq(baselines.LGMLVQ, "n_map_rows n_features", lambda model: model.maps[model.metric_indices]),
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


def _set_classifier(embedding: LANNEmbedding) -> None:
    embedding.model_ = embedding.classifier_.model_
    if isinstance(embedding.classifier, FrozenEstimator):
        embedding.classifier = FrozenEstimator(copy(embedding.classifier_))


_LAYOUT: dict[str, Any] = {
    "embedding_": Array("f8 n_rows n_components", within=1e100),
    "neighbors_": Array("i8 n_rows n_listed", high="n_rows-1", low=-1),
    "distances_": Array("f8 n_rows n_listed", low=0.0, high=LARGEST_DISTANCE, infinite=True),
    "n_iter_": Int(0),
    "_n_features_out": Size("n_components"),
    "_scale": Float(1e-6, 1e100),
}
EMBEDDINGS = (
    Estimator(NeighborEmbedding, model_=LOCAL_MODEL, **_LAYOUT),
    Estimator(
        LANNEmbedding,
        _set_classifier,
        {"classifier": ClassifierParameter()},
        classifier_=AnyEstimator(CLASSIFIER, *WITH_NEIGHBORS),
        **_LAYOUT,
    ),
    Estimator(
        DiscriminantPlane,
        # Their products, and the sums of these, are finite.
        components_=Array("f8 n_components n_features", within=1e100, any_order=True),
        mean_=Array("f8 n_features", within=LARGEST_VALUE),
        _n_features_out=Size("n_components"),
    ),
)


# Reject options

CLASSIFIERS = AnyEstimator(CLASSIFIER, *WITH_NEIGHBORS, *PROTOTYPES)
_UNFITTED = Maybe(AnyEstimator(*CLASSIFIERS.by_name.values(), is_fitted=False))
REJECT_OPTION = Estimator(
    RejectOption,
    lambda option: restore(option, option.estimator_),
    {"estimator": _UNFITTED.of(lambda option: None if option.cv == "prefit" else option.estimator)},
    estimator_=CLASSIFIERS,
    **LEARNED_REJECTION,
)


# Classifiers for streams

# Memories of other sizes are not saved: kernels would need more space than there is on any machine.
MOST_ROWS, MOST_NEIGHBORS = 10**9, 10**6


def _limits(**values: int) -> streams.Limits:
    require(values["long"] <= values["total"], "the long-term memory is larger than both memories")
    is_large = values["smallest"] > values["n_neighbors"]
    require(is_large, "a window is too small for the neighbors")
    return streams.Limits(**values)


LIMITS = Record(
    _limits,
    n_neighbors=Int(1, high=MOST_NEIGHBORS),
    total=Int(2, high=MOST_ROWS),
    long=Int(0, high=MOST_ROWS),
    smallest=Int(2, high=2 * MOST_ROWS),
)
# Bounds of the numbers in memories; all others are finite, and integers at least 0.
_ROWS: dict[str, Any] = {"within": LARGEST_VALUE, "nan": True}
_LABELS, _FLAGS, _GAPS = {"high": "n_classes-1"}, {"high": 1}, {"nan": True}
_POSITIVE, _NOT_NEGATIVE = {"low": POSITIVE}, {"low": 0.0}
BOUNDS: dict[str, dict[str, Any]] = {
    "short_X": _ROWS, "short_labels": _LABELS, "short_extras": _GAPS,
    "long_X": _ROWS, "long_labels": _LABELS, "long_extras": _GAPS,
    "long_arrivals": _NOT_NEGATIVE, "long_sizes": _POSITIVE,
    "before_X": _ROWS, "before_labels": _LABELS,
    "known": _FLAGS, "hits": _FLAGS, "window_hits": _FLAGS,
    "window_starts": {"low": -1, "high": "n_short-1"},
    "scale": {"low": POSITIVE, "infinite": True}, "edges": {"ascending": 1},
    "slopes": _POSITIVE, "class_weights": _POSITIVE, "typical": _NOT_NEGATIVE,
    "vote_weights": {"low": 0.0, "high": 1.0}, "vote_hits": _NOT_NEGATIVE,
}  # fmt: skip


def _arrays(declared: dict[str, str]) -> Record:
    arrays = {name: Array(text, **BOUNDS.get(name, {})) for name, text in declared.items()}
    return Record(SimpleNamespace, **arrays)


def _restore(clf: streams.SAMKNN) -> None:
    """Set the memories with their kernels' arrays."""
    n_groups = streams.N_GROUPS if hasattr(clf, "metric_") else 0
    clf.memories_ = streams.restore_memories(clf.__dict__.pop("memories"), clf.limits_, n_groups)


def _detector(**values: Any) -> streams.DriftDetector:
    n_rows, n_reference, n_errors = values["state"][-1]
    require(n_errors <= n_reference <= n_rows, "there are more errors than rows")
    return streams.DriftDetector.from_dict(values)


DETECTOR = Record(
    _detector,
    rows_per_false_alarm=Int(1),
    n_alarms=Int(0),
    alarms=Array("f8 n_kept_alarms 4", low=0.0).of(lambda detector: np.reshape(detector.alarms, (-1, 4))),
    # Products of the bets of the test are finite.
    state=Array("f8 {} {}".format(*streams.STATE_SHAPE), low=0.0, high=LARGEST_VALUE),
)
_MEMORIES: dict[str, Any] = {
    "classes_": Names("n_classes", distinct=True),
    "limits_": LIMITS,
    "detector_": DETECTOR,
    "memories": _arrays(streams.MEMORIES).of(lambda clf: streams.trim_memories(clf.memories_, clf.limits_)),
}
STREAMS = (
    Estimator(streams.SAMKNN, _restore, **_MEMORIES),
    Estimator(streams.SAMLANN, _restore, **_MEMORIES, metric_=_arrays(streams.METRIC)),
)
ESTIMATORS = (*WITH_NEIGHBORS, *PROTOTYPES, *EMBEDDINGS, REJECT_OPTION, *STREAMS)
