"""The parameters of LANNClassifier: what they may be, and what they mean for training."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING

from sklearn.utils import check_random_state

from lann._validation import BOOLEAN, N_JOBS, VERBOSE, Integer, Number, OneOf, validate

if TYPE_CHECKING:
    from lann.classifier import LANNClassifier
    from lann.training import Settings

LEVELS = ("curves", "map", "class", "point")
METRICS = ("diagonal", "low_rank", "full")


def check_parameters(clf: LANNClassifier) -> None:
    """Refuse, in one sentence, the first parameter that is not what it should be."""
    validate("n_neighbors", clf.n_neighbors, Integer(1), OneOf("auto"))
    validate("metric", clf.metric, OneOf(*METRICS))
    if not isinstance(clf.levels, tuple | list) or not all(level in LEVELS for level in clf.levels):
        raise ValueError(f"levels must be a tuple of some of {LEVELS}; got {clf.levels!r}.")
    validate("n_components", clf.n_components, Integer(1), OneOf(None))
    validate("weights", clf.weights, OneOf("distance", "uniform"))
    validate("power", clf.power, Number(0, closed="right"), OneOf("auto"))
    _check_class_weight(clf.class_weight)
    validate("n_candidates", clf.n_candidates, Integer(1), OneOf(None))
    validate("solver", clf.solver, OneOf("staged", "online"))
    validate("loss", clf.loss, OneOf("shares", "softmax"))
    validate("temperature", clf.temperature, Number(0, closed="right"), OneOf("auto"))
    validate("constraint", clf.constraint, OneOf("bounded", "norm", "determinant"))
    validate("n_bins", clf.n_bins, Integer(1, 256))
    validate("max_iter", clf.max_iter, Integer(0), OneOf(None))
    validate("learning_rate", clf.learning_rate, Number(0, closed="right"), OneOf(None))
    validate("alpha", clf.alpha, Number(0))
    validate("smoothing", clf.smoothing, Number(0, 1))
    validate("candidate_dropout", clf.candidate_dropout, Number(0, 1, closed="left"))
    validate("feature_dropout", clf.feature_dropout, Number(0, 1, closed="left"))
    validate("validation_fraction", clf.validation_fraction, Number(0, 1, closed="neither"))
    validate("n_iter_no_change", clf.n_iter_no_change, Integer(1))
    validate("early_stopping", clf.early_stopping, *BOOLEAN)
    validate("drop_levels", clf.drop_levels, *BOOLEAN)
    validate("warm_start", clf.warm_start, *BOOLEAN)
    validate("verbose", clf.verbose, *VERBOSE)
    validate("n_jobs", clf.n_jobs, *N_JOBS)
    check_random_state(clf.random_state)


def _check_class_weight(class_weight: object) -> None:
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return
    if not isinstance(class_weight, dict):
        raise ValueError(
            f"class_weight must be None, 'balanced' or a dictionary of weights; got {class_weight!r}."
        )
    for label, weight in class_weight.items():
        right = isinstance(weight, Real) and not isinstance(weight, bool) and 0 < float(weight) < math.inf
        if not right:
            raise ValueError(f"class_weight must be above 0 for every label; got {weight!r} for {label!r}.")


def settings_of(clf: LANNClassifier) -> Settings:
    """What training is told."""
    from lann.training import Settings

    settings = Settings(
        curves="curves" in clf.levels,
        map="map" in clf.levels,
        class_weights="class" in clf.levels,
        point_weights="point" in clf.levels,
        form=clf.metric,
        rank=clf.n_components,
        n_bins=clf.n_bins,
        solver=clf.solver,
        fixed_norm=clf.constraint == "norm",
        determinant=clf.constraint == "determinant",
        exhaustive=clf.n_candidates is None,
        n_candidates=clf.n_candidates or Settings.n_candidates,
        candidate_dropout=clf.candidate_dropout,
        feature_dropout=clf.feature_dropout,
        drop_levels=clf.drop_levels,
        alpha=clf.alpha,
        smoothing=clf.smoothing,
        learning_rate=clf.learning_rate,
        loss=clf.loss,
        temperature=getattr(clf, "temperature_", None) if clf.temperature == "auto" else clf.temperature,
        n_jobs=clf.n_jobs,
    )
    if clf.loss == "softmax":  # trained as it votes
        settings = settings.replace(
            n_neighbors=5 if clf.n_neighbors == "auto" else clf.n_neighbors,
            power=1.0 if clf.power == "auto" else clf.power,
        )
    return settings


def power_of(clf: LANNClassifier) -> float:
    """How steeply votes fall with the distance."""
    if clf.power != "auto":
        return float(clf.power)
    return 1.0 if len(clf.classes_) == 2 else 2.0
