"""CatBoost on tables as they are."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin

from benchmarks.common.arrays import Floats, Labels

MISSING = "(missing)"


class CatBoostTable(ClassifierMixin, BaseEstimator):
    """
    CatBoost with its defaults, which takes categories and missing numbers by itself.

    It has no missing categories: these are a level of their own.

    Parameters
    ----------
    n_jobs
        Number of threads.
    random_state
        Seed.
    """

    def __init__(self, n_jobs: int = 1, random_state: int = 0) -> None:
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Labels) -> CatBoostTable:
        from catboost import CatBoostClassifier

        numeric = X.select_dtypes("number").columns
        self.categorical_ = [column for column in X.columns if column not in numeric]
        self.model_ = CatBoostClassifier(
            cat_features=self.categorical_,
            thread_count=self.n_jobs,
            random_seed=self.random_state,
            verbose=False,
            allow_writing_files=False,
        ).fit(self._with_levels(X), y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X: Any) -> Labels:
        # A column if there are more than two classes.
        return self.model_.predict(self._with_levels(X)).reshape(len(X))

    def predict_proba(self, X: Any) -> Floats:
        return self.model_.predict_proba(self._with_levels(X))

    def _with_levels(self, X: Any) -> Any:
        table = X.astype(dict.fromkeys(self.categorical_, object))
        return table.fillna(dict.fromkeys(self.categorical_, MISSING))
