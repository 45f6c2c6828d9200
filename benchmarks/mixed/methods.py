"""The methods on tables: some take categories and gaps by themselves, the others an encoded table."""

from __future__ import annotations

from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from benchmarks.common.catboost_table import CatBoostTable
from benchmarks.common.methods import Method
from benchmarks.common.table_encoder import TableEncoder
from lann import LANNClassifier

NATIVE = "the table as it is"
ENCODED = "the encoded table"
ENCODING = "median for missing numbers, z-scores; one-hot categories with a level for missing ones"


def _lightgbm(n_jobs: int, seed: int) -> Any:
    from lightgbm import LGBMClassifier

    # Sums in another order, as of another number of threads, are other sums.
    return LGBMClassifier(
        n_jobs=n_jobs, random_state=seed, deterministic=True, force_row_wise=True, verbose=-1
    )


METHODS = [
    Method(
        "knn",
        "kNN",
        lambda n_jobs, seed: make_pipeline(
            TableEncoder(), KNeighborsClassifier(5, weights="distance", n_jobs=n_jobs)
        ),
        f"Five neighbors with votes weighted by 1 / distance; {ENCODING}.",
        ENCODED,
    ),
    Method(
        "forest",
        "random forest",
        lambda n_jobs, seed: make_pipeline(
            TableEncoder(), RandomForestClassifier(300, n_jobs=n_jobs, random_state=seed)
        ),
        f"300 trees, defaults; {ENCODING}.",
        ENCODED,
    ),
    Method(
        "lann-onehot",
        "LANN, one-hot",
        lambda n_jobs, seed: make_pipeline(TableEncoder(), LANNClassifier(n_jobs=n_jobs, random_state=seed)),
        f"Defaults; {ENCODING}.",
        ENCODED,
    ),
    Method(
        "boosting",
        "gradient boosting",
        lambda n_jobs, seed: HistGradientBoostingClassifier(
            categorical_features="from_dtype", random_state=seed
        ),
        "Gradient boosting over histograms, defaults; categories by their type, missing values as they are.",
        NATIVE,
    ),
    Method(
        "catboost",
        "CatBoost",
        CatBoostTable,
        "Defaults; categories and missing numbers as they are, missing categories as a level of their own.",
        NATIVE,
        needs="catboost",
    ),
    Method(
        "lightgbm",
        "LightGBM",
        _lightgbm,
        "Defaults, deterministic; categories by their type, missing values as they are.",
        NATIVE,
        needs="lightgbm",
    ),
    Method(
        "lann",
        "LANN",
        lambda n_jobs, seed: LANNClassifier(n_jobs=n_jobs, random_state=seed),
        "Defaults; categories by their type, missing values as they are.",
        NATIVE,
    ),
]
