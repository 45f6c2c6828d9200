"""The parameters of LANNClassifier: what they may be, and what they mean for training."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING

from sklearn.utils import check_random_state

from lann._inputs import check_jobs
from lann._parameters import check_choice, check_number

if TYPE_CHECKING:
    from lann.classifier import LANNClassifier
    from lann.training import Settings

LEVELS = ("curves", "map", "class", "point")
METRICS = ("diagonal", "low_rank", "full")


def check_parameters(clf: LANNClassifier) -> None:
    """Refuse, in one sentence, the first parameter that is not what it should be."""
    check_number("n_neighbors", clf.n_neighbors, low=1, integer=True, also=["auto"])
    check_choice("metric", clf.metric, METRICS)
    if not isinstance(clf.levels, tuple | list) or not all(level in LEVELS for level in clf.levels):
        raise ValueError(f"levels must be a tuple of some of {LEVELS}; got {clf.levels!r}.")
    check_number("n_components", clf.n_components, low=1, integer=True, also=[None])
    check_choice("weights", clf.weights, ("distance", "uniform"))
    check_number("power", clf.power, low=0, open_low=True, also=["auto"])
    _check_class_weight(clf.class_weight)
    check_number("n_candidates", clf.n_candidates, low=1, integer=True, also=[None])
    check_choice("solver", clf.solver, ("staged", "online"))
    check_choice("loss", clf.loss, ("shares", "softmax"))
    check_number("temperature", clf.temperature, low=0, open_low=True, also=["auto"])
    check_choice("constraint", clf.constraint, ("bounded", "norm", "determinant"))
    check_number("n_bins", clf.n_bins, low=1, high=256, integer=True)
    check_number("max_iter", clf.max_iter, low=0, integer=True, also=[None])
    check_number("learning_rate", clf.learning_rate, low=0, open_low=True, also=[None])
    check_number("alpha", clf.alpha, low=0)
    check_number("smoothing", clf.smoothing, low=0, high=1)
    check_number("candidate_dropout", clf.candidate_dropout, low=0, high=1, open_high=True)
    check_number("feature_dropout", clf.feature_dropout, low=0, high=1, open_high=True)
    check_number("validation_fraction", clf.validation_fraction, low=0, high=1, open_low=True, open_high=True)
    check_number("n_iter_no_change", clf.n_iter_no_change, low=1, integer=True)
    check_choice("early_stopping", clf.early_stopping, (True, False))
    check_choice("drop_levels", clf.drop_levels, (True, False))
    check_choice("warm_start", clf.warm_start, (True, False))
    check_number("verbose", clf.verbose, low=0, integer=True, also=[True, False])
    check_jobs(clf.n_jobs)
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
