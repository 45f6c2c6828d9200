"""Learners of other packages, with their defaults: what an untuned method is to be compared with."""

from __future__ import annotations

from typing import Any

from benchmarks.common.methods.method import Method
from benchmarks.common.methods.scikit_learn import OTHERS


def _catboost(n_jobs: int, seed: int) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(thread_count=n_jobs, random_seed=seed, verbose=False, allow_writing_files=False)


def _lightgbm(n_jobs: int, seed: int) -> Any:
    from lightgbm import LGBMClassifier

    # Sums in another order, as of another number of threads, are other sums.
    return LGBMClassifier(
        n_jobs=n_jobs, random_state=seed, deterministic=True, force_row_wise=True, verbose=-1
    )


def _ebm(n_jobs: int, seed: int) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(n_jobs=n_jobs, random_state=seed)


METHODS = [
    Method("catboost", "CatBoost", _catboost, "Defaults.", OTHERS, needs="catboost"),
    Method("lightgbm", "LightGBM", _lightgbm, "Defaults, deterministic.", OTHERS, needs="lightgbm"),
    Method(
        "ebm",
        "EBM",
        _ebm,
        "Explainable boosting machine: a sum of functions of one and of two features. Defaults.",
        OTHERS,
        quick=False,
        needs="interpret",
    ),
]
