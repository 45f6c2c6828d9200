"""The methods that benchmarks compare, and the estimators for tables that some of them need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from benchmarks.harness import choose
from lann import LANNClassifier, baselines

NEIGHBORS, OTHERS, MAPS, LVQ, LOCAL, LANN = (
    "nearest neighbors", "other learners", "learned maps", "learning vector quantization", "local metrics",
    "LANN",
)  # fmt: skip


@dataclass(frozen=True)
class Method:
    """
    A row of the tables.

    Parameters
    ----------
    name, description, group
        The name after ``--method``, one sentence, and the section of the tables.
    make
        From the number of threads and a seed to an estimator that is not fitted.
    published
        The column of the paper's table with which the row is compared.
    quick
        Whether ``--quick`` measures it.
    needs
        The package that it needs, as it is imported.
    """

    name: str
    make: Callable[[int, int], Any]
    description: str
    group: str
    published: str | None = None
    quick: bool = True
    needs: str | None = None

    def key(self, n_jobs: int, seed: int) -> tuple[str, int, str]:
        """Return what a measurement depends on: parameters, threads and the version of the package."""
        version = getattr(import_module(self.needs), "__version__", "") if self.needs else ""
        return repr(self.make(n_jobs, seed)), n_jobs, version


def choose_methods(
    names: Sequence[str] | None, available: Sequence[Method], *, quick: bool = False
) -> tuple[list[Method], dict[str, str]]:
    """Return the methods with these names that can be measured here, and why the others cannot."""
    chosen = choose(names or (), [method.name for method in available], "method")
    methods = [m for m in available if m.name in chosen and (names or m.quick or not quick)]
    missing = {
        m.name: f"needs {m.needs}, which is not installed." for m in methods if not is_installed(m.needs)
    }
    return [method for method in methods if method.name not in missing], missing


def is_installed(package: str | None) -> bool:
    return package is None or find_spec(package) is not None


def make_estimator(name: str, n_jobs: int, seed: int) -> Any:
    """Return the estimator of a method of `METHODS`, not fitted."""
    return next(method for method in METHODS if method.name == name).make(n_jobs, seed)


def make_knn_cv(n_jobs: int, seed: int) -> GridSearchCV:
    k = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 35, 40, 50, 60, 75, 100)
    return GridSearchCV(
        KNeighborsClassifier(n_jobs=n_jobs),
        {"n_neighbors": k, "weights": ("uniform", "distance")},
        scoring="accuracy",
        cv=StratifiedKFold(5, shuffle=True, random_state=seed),
    )


def make_forest(n_jobs: int, seed: int) -> Any:
    return RandomForestClassifier(300, n_jobs=n_jobs, random_state=seed)


def make_boosting(n_jobs: int, seed: int) -> Any:
    return HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=seed)


def make_catboost(n_jobs: int, seed: int) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(thread_count=n_jobs, random_seed=seed, verbose=False, allow_writing_files=False)


def make_lightgbm(n_jobs: int, seed: int) -> Any:
    from lightgbm import LGBMClassifier

    # Without these, sums depend on the number of threads.
    exact: dict[str, Any] = {"deterministic": True, "force_row_wise": True}
    return LGBMClassifier(n_jobs=n_jobs, random_state=seed, verbose=-1, **exact)


def make_ebm(n_jobs: int, seed: int) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(n_jobs=n_jobs, random_state=seed)


def make_realmlp(n_jobs: int, seed: int) -> Any:
    from pytabkit import RealMLP_TD_Classifier

    return RealMLP_TD_Classifier(device="cpu", n_threads=n_jobs, random_state=seed)


def make_baseline(name: str, n_jobs: int, seed: int) -> Any:
    estimator = getattr(baselines, name)(n_jobs=n_jobs)
    return estimator.set_params(random_state=seed) if "random_state" in estimator.get_params() else estimator


class PublishedCV(ClassifierMixin, BaseEstimator):
    """PublishedLANN; β, rate and constraint have the best Brier score in 5-fold cross-validation."""

    def __init__(self, n_jobs: int = 1, random_state: int = 0) -> None:
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> PublishedCV:
        seed, automatic = self.random_state, baselines.PublishedLANN(max_iter=0).fit(X, y).temperature_
        # Few rows are split repeatedly, so that there are about 2000 predictions to choose by.
        n_repeats = min(max(2000 // len(y), 1), 10)
        self.search_ = GridSearchCV(
            baselines.PublishedLANN(n_jobs=self.n_jobs, random_state=seed),
            {
                "constraint": ("bounded", "norm", "determinant"),
                "learning_rate": (0.02, 0.1),
                "temperature": (automatic, 4 * automatic, automatic / 4),
            },
            scoring="neg_brier_score",
            cv=RepeatedStratifiedKFold(n_splits=5, n_repeats=n_repeats, random_state=seed),
        ).fit(X, y)
        self.classes_ = self.search_.classes_
        return self

    def predict(self, X: Any) -> Any:
        return self.search_.predict(X)

    def predict_proba(self, X: Any) -> Any:
        return self.search_.predict_proba(X)


def make_lann(n_jobs: int, seed: int, **parameters: Any) -> LANNClassifier:
    return LANNClassifier(n_jobs=n_jobs, random_state=seed, **parameters)


def _with_neighbors(n_jobs: int, seed: int) -> Any:
    return make_pipeline(
        NeighborhoodComponentsAnalysis(random_state=seed), KNeighborsClassifier(5, n_jobs=n_jobs)
    )


METHODS = [
    Method(
        "knn",
        lambda n_jobs, seed: KNeighborsClassifier(5, n_jobs=n_jobs),
        "Five neighbors.",
        NEIGHBORS,
        "kNN",
    ),
    Method(
        "knn-distance",
        lambda n_jobs, seed: KNeighborsClassifier(5, weights="distance", n_jobs=n_jobs),
        "Five neighbors, weighted by 1 / distance.",
        NEIGHBORS,
    ),
    Method("knn-cv", make_knn_cv, "1 to 100 neighbors and weights by 5-fold cross-validation.", NEIGHBORS),
    Method("nca", _with_neighbors, "Neighborhood components analysis, then five neighbors.", NEIGHBORS),
    Method("svm", lambda n_jobs, seed: SVC(C=10.0, random_state=seed), "RBF kernel, C=10.", OTHERS),
    Method("forest", make_forest, "300 trees.", OTHERS),
    Method("boosting", make_boosting, "Gradient boosting over histograms.", OTHERS),
    Method("catboost", make_catboost, "Defaults.", OTHERS, needs="catboost"),
    Method("lightgbm", make_lightgbm, "Defaults, deterministic.", OTHERS, needs="lightgbm"),
    Method("ebm", make_ebm, "Explainable boosting machine.", OTHERS, quick=False, needs="interpret"),
    *(
        Method(name, partial(make_baseline, estimator), description, group, published)
        for name, estimator, description, group, published in (
            ("lmnn", "LMNN", "One map with a large margin, then five neighbors.", MAPS, "LMNN"),
            ("lmnn-per-class", "MultiMetricLMNN", "A map for every class.", MAPS, None),
            ("grlvq", "GRLVQ", "A prototype per class, one weight per feature.", LVQ, None),
            ("gmlvq", "GMLVQ", "A prototype per class, one matrix.", LVQ, None),
            ("lgrlvq", "LGRLVQ", "A prototype per class, each with its weights.", LVQ, None),
            ("lgmlvq", "LGMLVQ", "A prototype per class, each with its matrix.", LVQ, "LGMLVQ"),
            ("plml", "PLML", "Metrics interpolated between anchor points.", LOCAL, None),
            ("glml", "GLML", "Metrics from Gaussians of the classes.", LOCAL, None),
            ("dann", "DANN", "Metrics from the scatter around the query.", LOCAL, None),
        )
    ),
    Method("lann", make_lann, "Defaults.", LANN, "LANN"),
    Method("lann-published", partial(make_baseline, "PublishedLANN"), "The paper's algorithm.", LANN, "LANN"),
    Method(
        "lann-published-cv",
        PublishedCV,
        "The paper's algorithm, parameters chosen on the training rows.",
        LANN,
        "LANN",
        quick=False,
    ),
    *(
        Method(f"lann-{name}", partial(make_lann, **parameters), description, LANN, quick=quick)
        for name, parameters, description, quick in (
            ("no-point", {"levels": ("curves", "map", "class")}, "Without point weights.", True),
            ("point-only", {"levels": ("point",)}, "Point weights only.", True),
            ("no-map", {"levels": ("curves", "class", "point")}, "Without the map.", False),
            ("no-curves", {"levels": ("map", "class", "point")}, "Without feature curves.", False),
            ("low-rank", {"metric": "low_rank"}, "Every row has a matrix of low rank.", False),
            ("full", {"metric": "full"}, "Every row has a full matrix.", False),
        )
    ),
]
"""All methods for arrays, in the order of the tables."""


class TableEncoder(TransformerMixin, BaseEstimator):
    """Impute numbers by the median and z-score them; one-hot encode categories, a missing one as a level."""

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        numeric = list(X.select_dtypes("number").columns)
        self.categorical_ = [column for column in X.columns if column not in numeric]
        numbers = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
        levels = make_pipeline(
            SimpleImputer(strategy="constant", fill_value="missing"),
            OneHotEncoder(handle_unknown="ignore", sparse_output=False),
        )
        self.transformer_ = ColumnTransformer(
            [("numbers", numbers, numeric), ("levels", levels, self.categorical_)]
        ).fit(self._as_objects(X))
        return self

    def transform(self, X: Any) -> Any:
        return np.ascontiguousarray(self.transformer_.transform(self._as_objects(X)), dtype=np.float64)

    def encoded_columns(self) -> list[str]:
        """Return the column of the table from which each encoded column comes."""
        numbers, levels = (list(columns) for _, _, columns in self.transformer_.transformers_[:2])
        if not levels:
            return numbers
        sizes = map(len, self.transformer_.named_transformers_["levels"][-1].categories_)
        return [*numbers, *(name for name, n in zip(levels, sizes, strict=True) for _ in range(n))]

    def _as_objects(self, X: Any) -> Any:
        return X.astype(dict.fromkeys(self.categorical_, object))


class TableImputer(TransformerMixin, BaseEstimator):
    """Impute numbers by the median, and categories by the most frequent."""

    def fit(self, X: Any, y: Any = None) -> TableImputer:
        numeric = X.select_dtypes("number")
        self.values_ = numeric.median().to_dict()
        for column in X.columns.difference(numeric.columns):
            levels = X[column].mode()
            if len(levels):
                self.values_[column] = levels.iloc[0]
        return self

    def transform(self, X: Any) -> Any:
        return X.fillna(self.values_)


class CatBoostTable(ClassifierMixin, BaseEstimator):
    """CatBoost with its defaults on tables; missing categories, which it does not have, are a level."""

    def __init__(self, n_jobs: int = 1, random_state: int = 0) -> None:
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> CatBoostTable:
        numeric = X.select_dtypes("number").columns
        self.categorical_ = [column for column in X.columns if column not in numeric]
        self.model_ = make_catboost(self.n_jobs, self.random_state)
        self.model_.set_params(cat_features=self.categorical_).fit(self._with_levels(X), y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X: Any) -> Any:
        return self.model_.predict(self._with_levels(X)).reshape(len(X))

    def predict_proba(self, X: Any) -> Any:
        return self.model_.predict_proba(self._with_levels(X))

    def _with_levels(self, X: Any) -> Any:
        table = X.astype(dict.fromkeys(self.categorical_, object))
        return table.fillna(dict.fromkeys(self.categorical_, "(missing)"))
