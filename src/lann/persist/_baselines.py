"""What files have of the baselines: rows or prototypes, and their metrics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

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
from lann.model import N_TYPICAL
from lann.persist._classifier import COMPLETE_MODEL, DERIVED
from lann.persist._fields import (
    FLOAT_LIST,
    POSITIVE,
    Estimator,
    Float,
    Floats,
    Indices,
    Int,
    Kind,
    Names,
    Record,
    Size,
    require,
)

# Products of a few such numbers are finite.
LARGEST = 1e75
# A map can divide by the smallest spread. Its squares are finite.
LARGEST_ENTRY = 1e145
# How often DANN computes the metric of a query.
MOST_ITERATIONS = 100


def _baseline(
    cls: type, model: Record, follows: Callable[[Any], dict[str, Any]], **fields: Kind
) -> Estimator:
    """Return the declaration of a baseline; `follows` returns further attributes from the model."""
    return Estimator(
        cls,
        {"classes_": Names("n_classes", distinct=True), "model_": model, **fields},
        follows=lambda **values: values | follows(values["model_"]),
    )


PUBLISHED_LANN = _baseline(
    PublishedLANN,
    COMPLETE_MODEL,
    lambda model: {"components_": model.levels.components},
    temperature_=Float(POSITIVE),
    n_iter_=Int(0),
    loss_curve_=FLOAT_LIST,
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
        {
            "X": Floats("n_rows", "n_features", within=LARGEST_VALUE),
            "labels": Indices("n_rows", below="n_classes"),
            "n_classes": Size("n_classes"),
            "n_neighbors": Int(1, high="n_rows"),
            "power": Float(0.0, 1.0),
            **fields,
            "derived": DERIVED,
        },
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
    n_iter_=Int(0),
    loss_curve_=FLOAT_LIST,
)
MULTI_METRIC = _baseline(
    MultiMetricLMNN,
    GROUP_MAPS,
    lambda model: {"components_": model.maps, "groups_": model.groups},
    shared_components_=Floats("n_map_rows", "n_features", any_order=True),
    margin_=Float(POSITIVE),
    n_iter_=Int(0),
    loss_curve_=FLOAT_LIST,
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
        max_iter=Int(0, high=MOST_ITERATIONS),
    ),
    lambda model: {"n_metric_neighbors_": model.n_metric_neighbors},
    n_iter_=Int(0),
)
GAUSSIANS = Record(
    Gaussians,
    {
        "priors": Floats("n_classes", low=POSITIVE, high=1.0),
        "means": Floats("n_classes", "n_features"),
        "precisions": Floats("n_classes", "n_features", "n_features", any_order=True),
        "log_determinants": Floats("n_classes"),
    },
)
GENERATIVE = _baseline(
    GLML,
    _mapped_rows(GenerativeMaps, gaussians=GAUSSIANS, alpha=Float(0.0, LARGEST)),
    lambda model: {},
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
    n_iter_=Int(0),
    loss_curve_=FLOAT_LIST,
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

    def follows(**values: Any) -> dict[str, Any]:
        model = values["model_"]
        values |= {"prototypes_": model.X, "prototype_labels_": values["classes_"][model.labels]}
        return values if components is None else values | {"components_": components(model)}

    model = Record(
        build,
        {
            "X": Floats("n_prototypes", "n_features", within=LARGEST_VALUE),
            "labels": Indices("n_prototypes", below="n_classes", ascending=0),
            "n_classes": Size("n_classes"),
            "maps": Floats("n_metrics", *map_shape, within=LARGEST, any_order=True),
            "metric_indices": Indices("n_prototypes", below="n_metrics", ascending=0),
            "typical_values": Floats(N_TYPICAL, "n_features", ascending=0, within=LARGEST_VALUE),
        },
    )
    fields = {"model_": model, "n_iter_": Int(0), "loss_curve_": FLOAT_LIST}
    return Estimator(cls, {"classes_": Names("n_classes", distinct=True), **fields}, follows=follows)


PROTOTYPES = (
    _lvq(GRLVQ, "n_features"),
    _lvq(LGRLVQ, "n_features"),
    _lvq(GMLVQ, "n_map_rows", "n_features", components=lambda model: model.maps[0]),
    _lvq(LGMLVQ, "n_map_rows", "n_features", components=lambda model: model.maps[model.metric_indices]),
)
WITH_NEIGHBORS = (PUBLISHED_LANN, LARGE_MARGIN, MULTI_METRIC, DISCRIMINANT, GENERATIVE, PARAMETRIC)
