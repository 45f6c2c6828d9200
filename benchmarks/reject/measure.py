"""Measure a reject option on one split: certainties, thresholds, and rows unlike the training rows."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from benchmarks.common.arrays import Floats, Labels
from benchmarks.common.measure import Task
from benchmarks.engine import Values
from benchmarks.reject.strangers import OtherSet, all_outside, one_outside, other_rows, permuted
from lann.reject import RejectOption, aurc, risk_coverage_curve

N_FOLDS = 5
CERTAINTIES = ("probability", "margin", "novelty", "combined")
BY = ("global", "class", "local")
REJECTED = 0.1
"""The share of the test rows that is rejected at most, where errors are counted."""
COVERAGES = np.linspace(0.5, 1.0, 26)
"""Targets of thresholds, and coverages at which their risks are compared."""
NOVELTY_SHARES = (0.01, 0.05)
STRANGERS = ("other", "matched", "permuted", "all_outside", "one_outside")


def measure_reject(
    estimator: Any, task: Task, unscaled: tuple[Floats, Floats], others: Sequence[OtherSet], seed: int
) -> Values:
    """
    Fit a classifier in folds and on all training rows, and measure its reject options on the test rows.

    Parameters
    ----------
    estimator
        Not fitted.
    task
        Training and test rows, scaled by the training rows.
    unscaled
        Mean and deviation of the training rows before: rows of other data sets are scaled by these.
    others
        Other data sets, of which rows are to be rejected as far.
    seed
        Of the folds, and of the rows of other data sets.

    Returns
    -------
    values
        ``error`` of all test rows; ``aurc_C`` of every certainty C; ``gone``: the share of the errors among
        the tenth of the test rows with the lowest certainty; for thresholds learned for a coverage of .9,
        ``rejected``, ``error_accepted`` and ``gone_learned``; ``area_B``: mean risk at coverages from .5 to 1
        with thresholds by B, and ``area_local_exact``; ``alarms_S`` and ``far_K_S``: shares of test rows and
        of rows of kind K that are rejected as far with `novelty_share` S; ``seconds``.
    """
    limit = nullcontext() if "n_jobs" in estimator.get_params() else threadpool_limits(1)
    with limit, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes with few rows, and that SVC is to lose its probabilities
        start = time.perf_counter()
        fitted = _Fitted(estimator, task, seed)
        seconds = time.perf_counter() - start
        values: Values = {
            **_certainties(fitted, task),
            **_learned(fitted, task),
            **_areas(fitted, task),
            **_far(fitted, task, unscaled, others, seed),
        }
    return values | {"seconds": seconds, "n_train": len(task.y_train), "n_test": len(task.y_test)}


class _Fitted:
    """A classifier fitted on all training rows and in folds, and reject options around it."""

    def __init__(self, estimator: Any, task: Task, seed: int) -> None:
        self.task, self.seed = task, seed
        X, y = task.X_train, task.y_train
        n_folds = max(min(N_FOLDS, int(np.bincount(y)[np.unique(y)].min())), 2)
        splits = StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(X, y)
        self.folds = [(clone(estimator).fit(X[train], y[train]), train, held) for train, held in splits]
        self.estimator = clone(estimator).fit(X, y)
        self.default = self.reject()

    def reject(self, **parameters: Any) -> RejectOption:
        """Return a reject option around the classifier, which is not fitted again."""
        X, y = self.task.X_train, self.task.y_train
        return RejectOption.from_folds(self.estimator, X, y, self.folds, random_state=self.seed, **parameters)


def _with(reject: RejectOption, **parameters: Any) -> RejectOption:
    """Return a reject option with other parameters that need no other rows."""
    return copy.copy(reject).set_params(**parameters).with_target()


def _predicted(reject: RejectOption, X: Floats) -> Labels:
    return reject.classes_[reject.predict_proba(X).argmax(axis=1)]


def _certainties(fitted: _Fitted, task: Task) -> Values:
    reject = fitted.default
    ordered = np.sort(reject.predict_proba(task.X_test), axis=1)
    certainties = {
        "probability": ordered[:, -1],
        "margin": ordered[:, -1] - ordered[:, -2],
        "novelty": -reject.novelties(task.X_test),
        "combined": reject.certainties(task.X_test),
    }
    predicted = _predicted(reject, task.X_test)
    wrong = predicted != task.y_test
    areas = {f"aurc_{kind}": aurc(task.y_test, predicted, certainties[kind]) for kind in CERTAINTIES}
    return areas | {"error": float(wrong.mean()), "gone": errors_gone(wrong, certainties["combined"])}


def errors_gone(wrong: Any, certainties: Floats) -> float:
    """Return the share of the errors among the rows with the lowest certainty, at most `REJECTED` of all."""
    if not wrong.any():
        return 1.0
    coverage, risk = risk_coverage_curve(np.zeros(len(wrong)), wrong.astype(float), certainties)
    step = int(np.flatnonzero(coverage >= 1.0 - REJECTED - 1e-9)[0])
    return float(1.0 - coverage[step] * risk[step] / wrong.mean())


def _learned(fitted: _Fitted, task: Task) -> Values:
    """Return what thresholds for a coverage of .9 do, far rows included."""
    reject = fitted.default.with_target(coverage=1.0 - REJECTED)
    accepted = reject.decision(task.X_test) == "accepted"
    wrong = _predicted(reject, task.X_test) != task.y_test
    return {
        "rejected": float(1.0 - accepted.mean()),
        "error_accepted": float(wrong[accepted].mean()) if accepted.any() else 0.0,
        "gone_learned": float(1.0 - wrong[accepted].sum() / wrong.sum()) if wrong.any() else 1.0,
    }


def _areas(fitted: _Fitted, task: Task) -> Values:
    options = {by: fitted.reject(by=by, novelty_share=0) for by in BY}
    options["local_exact"] = _with(options["local"], thresholds="exact")
    return {
        f"area_{name}": threshold_area(reject, task.X_test, task.y_test) for name, reject in options.items()
    }


def threshold_area(reject: RejectOption, X: Floats, y: Labels) -> float:
    """
    Return the mean risk at coverages from .5 to 1, with thresholds that are learned for these coverages.

    The risks are those at the coverages that are reached on the rows, interpolated.

    Parameters
    ----------
    reject
        Fitted, without far rows.
    X : (n_rows, n_features)
    y : (n_rows,)
    """
    reasons = reject.reasons(X)
    certainties = np.array([reason.certainty for reason in reasons])
    names = {label: number for number, label in enumerate(reject.classes_.tolist())}
    if reject.by == "class":
        groups = np.array([names[reason.region] for reason in reasons])
    else:
        groups = np.array([reason.region or 0 for reason in reasons])
    wrong = _predicted(reject, X) != y
    points = []
    for coverage in COVERAGES:
        thresholds = reject.with_target(coverage=float(coverage)).thresholds_
        accepted = certainties >= thresholds[groups]
        if accepted.any():
            points.append((float(accepted.mean()), float(wrong[accepted].mean())))
    points.sort()
    reached, risks = np.array(points).T
    return float(np.interp(COVERAGES, reached, risks).mean())


def _far(
    fitted: _Fitted, task: Task, unscaled: tuple[Floats, Floats], others: Sequence[OtherSet], seed: int
) -> Values:
    rng = np.random.default_rng(seed)
    n_features = task.X_test.shape[1]
    mean, deviation = unscaled
    rows: dict[str, list[Floats]] = {
        "other": [(other_rows(o, n_features, rng, matched=False) - mean) / deviation for o in others],
        "matched": [other_rows(o, n_features, rng, matched=True) for o in others],
        "permuted": [permuted(task.X_test, rng)],
        "all_outside": [all_outside(task.X_test, task.X_train, rng)],
        "one_outside": [one_outside(task.X_test, task.X_train, rng)],
    }
    values: Values = {}
    for share in NOVELTY_SHARES:
        reject = _with(fitted.default, novelty_share=share)
        suffix = f"{100 * share:.0f}"
        values[f"alarms_{suffix}"] = _share_far(reject, task.X_test)
        for kind, tables in rows.items():
            shares = [_share_far(reject, table) for table in tables]
            values[f"far_{kind}_{suffix}"] = float(np.mean(shares)) if shares else None
            if kind == "other":
                values[f"far_other_lowest_{suffix}"] = min(shares) if shares else None
    return values


def _share_far(reject: RejectOption, X: Floats) -> float:
    return float((reject.decision(X) == "far").mean())
