"""The methods: some take missing values as they are, the others imputed ones."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from benchmarks.common.methods import Method
from benchmarks.common.table_encoder import TableEncoder
from benchmarks.missing.imputer import TableImputer
from lann import LANNClassifier

NATIVE, IMPUTED = "gaps as they are", "gaps imputed"


def make_methods(imputer: Any, *encoders: Any) -> list[Method]:
    """
    Return the methods for one kind of rows.

    Parameters
    ----------
    imputer
        Not fitted; it fills gaps.
    *encoders
        What methods need that take arrays only, after the imputer.
    """
    return [
        Method(
            "forest",
            "random forest",
            lambda n_jobs, seed: make_pipeline(
                *(clone(step) for step in (imputer, *encoders)),
                RandomForestClassifier(300, n_jobs=n_jobs, random_state=seed),
            ),
            "300 trees, defaults; missing numbers imputed by the median, categories by the most frequent.",
            IMPUTED,
        ),
        Method(
            "lann-median",
            "LANN, imputed",
            lambda n_jobs, seed: make_pipeline(
                clone(imputer), LANNClassifier(n_jobs=n_jobs, random_state=seed)
            ),
            "Defaults; missing numbers imputed by the median, categories by the most frequent.",
            IMPUTED,
        ),
        Method(
            "boosting",
            "gradient boosting",
            lambda n_jobs, seed: HistGradientBoostingClassifier(
                categorical_features="from_dtype", random_state=seed
            ),
            "Gradient boosting over histograms, defaults; missing values as they are.",
            NATIVE,
        ),
        Method(
            "lann",
            "LANN",
            lambda n_jobs, seed: LANNClassifier(n_jobs=n_jobs, random_state=seed),
            "Defaults; missing values as they are.",
            NATIVE,
        ),
    ]


METHODS = make_methods(SimpleImputer(strategy="median", keep_empty_features=True))
"""For arrays."""

TABLE_METHODS = make_methods(TableImputer(), TableEncoder())
"""For data frames with categories; the names are those of `METHODS`."""
