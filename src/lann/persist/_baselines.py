"""What files have of the baselines: rows or prototypes, and their metrics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lann._sizes import LARGEST_VALUE, find_too_large
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
from lann.persist._classifier import COMPLETE_MODEL, DERIVED, DERIVED_SOURCES, OPTIONAL, with_derived
from lann.persist._errors import InvalidModelFile
from lann.persist._kinds import Float, FloatList, Floats, Indices, Int, Kind, Maybe, Names, Size, Texts
from lann.persist._records import Estimator, Record, Rule, Values, if_present

# Products of a few such numbers are finite.
LARGEST = 1e75
# A map can divide by the smallest spread. Its squares are finite.
LARGEST_ENTRY = 1e145
# How often DANN computes the metric of a query.
MOST_ITERATIONS = 100


def _estimator(cls: type, follows: Callable[[Values], Values] | None = None, **fields: Kind) -> Estimator:
    """Return the declaration of a baseline.

    Parameters
    ----------
    cls : type
    follows : callable or None
        From the saved attributes to those that follow from them.
    **fields : Kind
        The fitted attributes beside features and labels.
    """
    return Estimator(
        cls,
        Record(
            lambda **values: values | (follows(values) if follows else {}),
            {
                "n_features_in_": Size("n_features"),
                "feature_names_in_": Maybe(Texts("n_features")),
                "classes_": Names("n_classes", distinct=True),
                **fields,
            },
            sources={"feature_names_in_": if_present("feature_names_in_")},
            at_least={"n_classes": 2, "n_features": 1},
        ),
    )


PUBLISHED_LANN = _estimator(
    PublishedLANN,
    lambda values: {"components_": values["model_"].levels.components},
    model_=COMPLETE_MODEL,
    temperature_=Float(above=0.0),
    n_iter_=Int(0),
    loss_curve_=FloatList(),
)


# Training rows under linear maps


def _measurable(model: Any) -> Any:
    """Return a model; raise InvalidModelFile if it cannot measure its own rows."""
    feature = find_too_large(model.X, model.limits)
    if feature is not None:
        raise InvalidModelFile(f"its metrics are too large for the values of feature {feature}")
    return model


def _mapped_rows(
    build: Callable[..., Any], *rules: Rule, sources: dict[str, Any] | None = None, **fields: Kind
) -> Record:
    """Return the declaration of training rows that are compared by linear maps.

    Parameters
    ----------
    build : callable
        Returns the rows without their vote, from X and the further fields.
    *rules : callables
    sources : dict or None
        Of the further fields.
    **fields : Kind
        The further fields.
    """

    def build_model(labels: Any, n_classes: int, n_neighbors: int, power: float, **values: Any) -> Any:
        derived = {name: values.pop(name) for name in DERIVED}
        model = _measurable(build(**values))
        model.set_vote(labels, n_classes=n_classes, n_neighbors=n_neighbors, power=power)
        return with_derived(model, **derived)

    return Record(
        build_model,
        {
            "X": Floats("n_rows", "n_features", low=-LARGEST_VALUE, high=LARGEST_VALUE),
            "labels": Indices("n_rows", below="n_classes"),
            "n_classes": Size("n_classes"),
            "n_neighbors": Int(1, "n_rows"),
            "power": Float(0.0, 1.0),
            **fields,
            **DERIVED,
        },
        sources={**DERIVED_SOURCES, **(sources or {})},
        rules=rules,
        at_least={"n_rows": 1, "n_map_rows": 1, "n_axes": 1},
        optional=OPTIONAL,
    )


GROUP_MAPS = _mapped_rows(
    GroupMaps,
    maps=Floats(
        "n_groups", "n_map_rows", "n_features", low=-LARGEST_ENTRY, high=LARGEST_ENTRY, any_order=True
    ),
    groups=Indices("n_rows", below="n_groups"),
)

LARGE_MARGIN = _estimator(
    LMNN,
    lambda values: {"components_": values["model_"].maps[0]},
    model_=GROUP_MAPS,
    margin_=Float(above=0.0),
    n_iter_=Int(0),
    loss_curve_=FloatList(),
)

MULTI_METRIC = _estimator(
    MultiMetricLMNN,
    lambda values: {"components_": values["model_"].maps, "groups_": values["model_"].groups},
    model_=GROUP_MAPS,
    shared_components_=Floats("n_map_rows", "n_features", any_order=True),
    margin_=Float(above=0.0),
    n_iter_=Int(0),
    loss_curve_=FloatList(),
)


def _one_hot(values: Values) -> str | None:
    memberships, labels = values["memberships"], values["labels"]
    own = memberships[np.arange(len(labels)), labels]
    right = (own == 1.0).all() and (memberships.sum(axis=1) == 1.0).all()
    return None if right else "the memberships are not those of the labels"


DISCRIMINANT_MAPS = _mapped_rows(
    DiscriminantMaps,
    _one_hot,
    # Part of the file, so that a model never takes much more memory than its file.
    memberships=Floats("n_rows", "n_classes", low=0.0, high=1.0),
    n_metric_neighbors=Int(1, "n_rows"),
    alpha=Float(above=0.0, high=LARGEST),
    shrinkage=Float(above=0.0, high=1.0),
    max_iter=Int(0, MOST_ITERATIONS),
)

DISCRIMINANT = _estimator(
    DANN,
    lambda values: {"n_metric_neighbors_": values["model_"].n_metric_neighbors},
    model_=DISCRIMINANT_MAPS,
    n_iter_=Int(0),
)

GENERATIVE_MAPS = _mapped_rows(
    lambda X, alpha, **gaussians: GenerativeMaps(X, Gaussians(**gaussians), alpha=alpha),
    sources={name: f"gaussians.{name}" for name in Gaussians._fields},
    priors=Floats("n_classes", above=0.0, high=1.0),
    means=Floats("n_classes", "n_features"),
    precisions=Floats("n_classes", "n_features", "n_features", any_order=True),
    log_determinants=Floats("n_classes"),
    alpha=Float(0.0, LARGEST),
)

GENERATIVE = _estimator(GLML, model_=GENERATIVE_MAPS, shrinkages_=Floats("n_classes", above=0.0, high=1.0))

ANCHOR_MAPS = _mapped_rows(
    AnchorMaps,
    axes=Floats("n_axes", "n_features", low=-LARGEST, high=LARGEST, any_order=True),
    weights=Floats("n_rows", "n_anchors", low=0.0, high=LARGEST, any_order=True),
    maps=Floats("n_anchors", "n_map_rows", "n_axes", low=-LARGEST_ENTRY, high=LARGEST_ENTRY, any_order=True),
    n_metric_neighbors=Int(1, "n_rows"),
)

PARAMETRIC = _estimator(
    PLML,
    lambda values: {"anchor_weights_": values["model_"].weights},
    model_=ANCHOR_MAPS,
    anchors_=Floats("n_anchors", "n_features", any_order=True),
    anchor_feature_weights_=Floats("n_anchors", "n_features", any_order=True),
    n_iter_=Int(0),
    loss_curve_=FloatList(),
)


# Prototypes


def _all_classes(values: Values) -> str | None:
    present = len(np.unique(values["labels"])) == values["n_classes"]
    return None if present else "there is a class without a prototype"


def _prototypes(cls: Any, *map_shape: str) -> Record:
    """Return the declaration of prototypes; `map_shape` is the shape of the map of each metric."""

    def build(n_classes: int, typical_values: Any, **values: Any) -> Prototypes:
        # The typical values of the typical values are these themselves.
        return Prototypes(**values, form=cls._form, training_rows=typical_values)

    return Record(
        build,
        {
            "X": Floats("n_prototypes", "n_features", low=-LARGEST_VALUE, high=LARGEST_VALUE),
            "labels": Indices("n_prototypes", below="n_classes", ascending=True),
            "n_classes": Size("n_classes"),
            "maps": Floats("n_metrics", *map_shape, low=-LARGEST, high=LARGEST, any_order=True),
            "metric_indices": Indices("n_prototypes", below="n_metrics", ascending=True),
            "typical_values": Floats(
                N_TYPICAL, "n_features", ascending=0, low=-LARGEST_VALUE, high=LARGEST_VALUE
            ),
        },
        rules=(_all_classes,),
        at_least={"n_map_rows": 1},
    )


def _lvq(cls: Any, *map_shape: str, components: Callable[[Any], Any] | None = None) -> Estimator:
    """Return the declaration of a method with prototypes; `components` returns its maps from the model."""

    def follows(values: Values) -> Values:
        model = values["model_"]
        prototypes = {"prototypes_": model.X, "prototype_labels_": values["classes_"][model.labels]}
        return prototypes if components is None else prototypes | {"components_": components(model)}

    return _estimator(
        cls, follows, model_=_prototypes(cls, *map_shape), n_iter_=Int(0), loss_curve_=FloatList()
    )


PROTOTYPES = (
    _lvq(GRLVQ, "n_features"),
    _lvq(LGRLVQ, "n_features"),
    _lvq(GMLVQ, "n_map_rows", "n_features", components=lambda model: model.maps[0]),
    _lvq(LGMLVQ, "n_map_rows", "n_features", components=lambda model: model.maps[model.metric_indices]),
)

WITH_NEIGHBORS = (PUBLISHED_LANN, LARGE_MARGIN, MULTI_METRIC, DISCRIMINANT, GENERATIVE, PARAMETRIC)
