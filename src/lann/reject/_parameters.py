"""The parameters of a reject option: what each may be, and the target."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from lann._validation import (
    N_JOBS,
    RANDOM_STATE,
    Checked,
    Integer,
    Number,
    OneOf,
    ParameterTable,
    shown,
    validate_parameters,
)
from lann.reject._certainty import CERTAINTIES
from lann.reject._thresholds import Target

BY = ("global", "class", "local")
THRESHOLDS = ("greedy", "exact")
TARGETS = ("cost", "coverage", "risk")
DEFAULT_TARGET = Target("cost", 0.2)
PREFIT = "prefit"


def _check_estimator(estimator: Any) -> None:
    if estimator is None:
        return
    if isinstance(estimator, type) or not hasattr(estimator, "fit") or not hasattr(estimator, "get_params"):
        raise ValueError(f"estimator must be a classifier, or None; got {shown(estimator)}.")
    if not is_classifier(estimator):
        raise ValueError(f"estimator must be a classifier, which {type(estimator).__name__} is not.")
    if not hasattr(estimator, "predict_proba"):
        raise ValueError(
            f"estimator must have predict_proba, which {type(estimator).__name__} has not; put it into "
            "sklearn.calibration.CalibratedClassifierCV."
        )


def _check_reject_label(reject_label: Any) -> None:
    if not (reject_label is None or isinstance(reject_label, str | bool | int | float | np.generic)):
        raise ValueError(f"reject_label must be a text or a number, or None; got {shown(reject_label)}.")


PARAMETERS: ParameterTable = {
    "estimator": [Checked(_check_estimator)],
    "cost": [Number(0, 1), OneOf(None)],
    "coverage": [Number(0, 1), OneOf(None)],
    "risk": [Number(0, 1), OneOf(None)],
    "by": [OneOf(*BY)],
    "certainty": [OneOf(*CERTAINTIES)],
    "thresholds": [OneOf(*THRESHOLDS)],
    "cv": [Integer(2), Number(0, 1, closed="neither"), OneOf(PREFIT)],
    "novelty_share": [Number(0, 1, closed="left")],
    "reject_label": [Checked(_check_reject_label)],
    "random_state": RANDOM_STATE,
    "n_jobs": N_JOBS,
}


def check_parameters(reject: Any) -> Target:
    """Validate the parameters of a reject option; return its target."""
    validate_parameters(reject, PARAMETERS)
    values = {kind: getattr(reject, kind) for kind in TARGETS}
    given = [Target(kind, float(value)) for kind, value in values.items() if value is not None]
    if len(given) > 1:
        names = " and ".join(f"{kind}={value:g}" for kind, value in given)
        raise ValueError(f"At most one of cost, coverage and risk can be given; got {names}.")
    return given[0] if given else DEFAULT_TARGET
