"""R², intervals and time of LANN and other regressors on eight tables with a numeric target."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit
from sklearn.neighbors import KNeighborsRegressor
from threadpoolctl import threadpool_limits

from benchmarks.harness import Report, Results, Table, Values, check, highlight, share
from benchmarks.methods import LANN, NEIGHBORS, OTHERS, Method, TableEncoder
from benchmarks.tabular import (
    N_SPLITS,
    Source,
    SplitBenchmark,
    TableSet,
    Task,
    cell,
    load_tables,
    set_table,
)
from lann import LANNRegressor

PART, OURS = "splits", "lann"
SETS = (
    "abalone", "airfoil-self-noise", "bike-sharing-hour", "california-housing", "concrete",
    "energy-efficiency", "kin8nm", "wine-quality-white",
)  # fmt: skip
LARGE_SETS = ("bike-sharing-hour", "california-housing", "kin8nm")
MOST_TRAINING_ROWS = 5000
LEVELS = np.arange(1, 100) / 100
COVERAGE, N_FIFTHS = 0.9, 5

# From a fitted model, rows and levels to quantiles, (n_rows, n_levels).
Quantiles = Callable[[Any, Any, Any], Any]


class Encoded(RegressorMixin, BaseEstimator):
    """A regressor behind the encoder of tables; `quantiles` is how it predicts them, if it does."""

    def __init__(self, model: Any, quantiles: Quantiles | None = None) -> None:
        self.model = model
        self.quantiles = quantiles

    def fit(self, X: Any, y: Any) -> Encoded:
        self.encoder_ = TableEncoder().fit(X)
        self.model.fit(self.encoder_.transform(X), y)
        return self

    def predict(self, X: Any) -> Any:
        return self.model.predict(self.encoder_.transform(X))

    def predict_quantiles(self, X: Any, levels: Any) -> Any:
        return (
            None if self.quantiles is None else self.quantiles(self.model, self.encoder_.transform(X), levels)
        )


def make_knn_cv(n_jobs: int, seed: int) -> Any:
    grid = {"n_neighbors": (1, 2, 3, 5, 7, 10, 15, 20, 30, 50), "weights": ("uniform", "distance")}
    folds = KFold(5, shuffle=True, random_state=seed)
    return Encoded(GridSearchCV(KNeighborsRegressor(n_jobs=n_jobs), grid, cv=folds))


def make_forest(n_jobs: int, seed: int) -> Any:
    return Encoded(RandomForestRegressor(300, n_jobs=n_jobs, random_state=seed))


def make_boosting(n_jobs: int, seed: int) -> Any:
    return HistGradientBoostingRegressor(categorical_features="from_dtype", random_state=seed)


def make_catboost(n_jobs: int, seed: int) -> Any:
    from catboost import CatBoostRegressor

    class CatBoostTable(CatBoostRegressor):
        def fit(self, X: Any, y: Any) -> Any:
            return super().fit(X, y, cat_features=list(X.select_dtypes("category").columns))

    return CatBoostTable(thread_count=n_jobs, random_seed=seed, verbose=False, allow_writing_files=False)


def make_lightgbm(n_jobs: int, seed: int) -> Any:
    from lightgbm import LGBMRegressor

    exact: dict[str, Any] = {"deterministic": True, "force_row_wise": True}
    return LGBMRegressor(n_jobs=n_jobs, random_state=seed, verbose=-1, **exact)


def make_ebm(n_jobs: int, seed: int) -> Any:
    from interpret.glassbox import ExplainableBoostingRegressor

    return ExplainableBoostingRegressor(n_jobs=n_jobs, random_state=seed)


def make_quantile_forest(n_jobs: int, seed: int) -> Any:
    from quantile_forest import RandomForestQuantileRegressor

    forest = RandomForestQuantileRegressor(300, n_jobs=n_jobs, random_state=seed)
    return Encoded(forest, lambda model, X, levels: model.predict(X, quantiles=levels.tolist()))


def make_ngboost(n_jobs: int, seed: int) -> Any:
    from ngboost import NGBRegressor

    model = NGBRegressor(random_state=seed, verbose=False)
    return Encoded(model, lambda model, X, levels: model.pred_dist(X).ppf(levels[:, None]).T)


def make_pytabkit(name: str, n_jobs: int, seed: int) -> Any:
    import pytabkit

    return Encoded(getattr(pytabkit, name)(device="cpu", n_threads=n_jobs, random_state=seed))


def make_lann(n_jobs: int, seed: int) -> Any:
    return LANNRegressor(n_jobs=n_jobs, random_state=seed)


METHODS = [
    Method("knn-cv", make_knn_cv, "1 to 50 neighbors and weights by 5-fold cross-validation.", NEIGHBORS),
    Method("forest", make_forest, "300 trees.", OTHERS),
    Method("boosting", make_boosting, "Gradient boosting over histograms.", OTHERS),
    Method("catboost", make_catboost, "Defaults.", OTHERS, needs="catboost"),
    Method("lightgbm", make_lightgbm, "Defaults, deterministic.", OTHERS, needs="lightgbm"),
    Method("quantile-forest", make_quantile_forest, "300 trees.", OTHERS, needs="quantile_forest"),
    Method("ngboost", make_ngboost, "Defaults: normal distributions.", OTHERS, quick=False, needs="ngboost"),
    Method("ebm", make_ebm, "Explainable boosting machine.", OTHERS, quick=False, needs="interpret"),
    *(
        Method(name, partial(make_pytabkit, model), text, OTHERS, quick=False, needs="pytabkit")
        for name, model, text in (
            ("realmlp", "RealMLP_TD_Regressor", "A neural network with tuned defaults."),
            ("tabm", "TabM_D_Regressor", "An ensemble in one neural network."),
        )
    ),
    Method(OURS, make_lann, "Defaults.", LANN),
]


def load_numeric(names: list[str]) -> tuple[list[TableSet], dict[str, str]]:
    """Return the tables with targets as they are, and the reasons why the others cannot be read."""
    return load_tables(dict.fromkeys(SETS, "regression"), names, target=float)


def make_task(data: TableSet, seed: int, number: int) -> Task:
    n_rows = len(data.y)
    n_train = min(n_rows // 2, MOST_TRAINING_ROWS)
    splitter = ShuffleSplit(N_SPLITS, train_size=n_train, test_size=n_rows - n_rows // 2, random_state=seed)
    train, test = list(splitter.split(data.y))[number]
    return Task(data.table.iloc[train], data.y[train], data.table.iloc[test], data.y[test])


def measure_regressor(estimator: Any, task: Task, n_jobs: int) -> Values:
    """Fit on the training rows and score on the test rows; errors are in deviations of the target."""
    limit = nullcontext() if "n_jobs" in estimator.get_params(deep=False) else threadpool_limits(n_jobs)
    with limit:
        start = time.perf_counter()
        estimator.fit(task.X_train, task.y_train)
        fitted = time.perf_counter()
        predicted = np.asarray(estimator.predict(task.X_test))
        done = time.perf_counter()
        quantiles = None
        if hasattr(estimator, "predict_quantiles"):
            quantiles = estimator.predict_quantiles(task.X_test, LEVELS)
    y, scale = task.y_test, task.y_test.std()
    errors = (y - predicted) / scale
    values = {
        "r2": float(1.0 - np.square(errors).mean()),
        "rmse": float(np.sqrt(np.square(errors).mean())),
        "mae": float(np.abs(errors).mean()),
        "fit_seconds": fitted - start,
        "predict_seconds": done - fitted,
        "n_train": len(task.y_train),
        "n_test": len(y),
    }
    return values if quantiles is None else values | score_quantiles(y / scale, quantiles / scale)


def score_quantiles(y: Any, quantiles: Any) -> Values:
    """Score quantiles of `LEVELS`: CRPS, and coverage and width of intervals, in all and by width."""
    above = y[:, None] - quantiles
    pinball = np.maximum(LEVELS * above, (LEVELS - 1.0) * above)
    low, high = (_at(quantiles, (1.0 + side * COVERAGE) / 2) for side in (-1, 1))
    covered, order = (low <= y) & (y <= high), np.argsort(high - low, kind="stable")
    fifths = [float(covered[part].mean()) for part in np.array_split(order, N_FIFTHS)]
    return {
        "crps": float(2.0 * pinball.mean()),
        "coverage": float(covered.mean()),
        "width": float((high - low).mean()),
        **{f"coverage_{number}": value for number, value in enumerate(fifths, 1)},
    }


def _at(quantiles: Any, level: float) -> Any:
    return quantiles[:, round(level * 100) - 1]


class Regression(SplitBenchmark):
    main_score = "r2"
    quick = "small data sets, 1 split."
    splits = (N_SPLITS, 1)
    available = METHODS

    def load(self) -> dict[str, list[Source]]:
        quick = [name for name in SETS if name not in LARGE_SETS]
        found = self.load_chosen(load_numeric, SETS, quick)
        return {PART: [Source(data.name, data.digest, partial(make_task, data)) for data in found]}

    def measure(self, estimator: Any, source: Source, split: int) -> Values:
        return measure_regressor(estimator, source.task(self.options.seed, split), self.options.n_jobs)

    def warm_up(self, jobs: object) -> None:
        """Fit nothing: the encoders need tables."""

    def report(self, results: Results) -> Report:
        names = [source.name for source in self.sources[PART]]
        tables = [
            set_table(results, "R²", self.names, names, "r2"),
            relative_table(results, self.names, names),
            means_table(results, self.methods, names),
            coverage_table(results, names),
        ]
        if self.options.details:
            tables += [
                set_table(results, s, self.names, names, s) for s in ("mae", "crps", "width", "fit_seconds")
            ]
        introduction = (
            f"{self.scope}: half of the rows for training, at most {MOST_TRAINING_ROWS}, and the other half "
            "for testing. Some methods take tables as they are, others after an encoder as in `mixed`. RMSE, "
            "MAE, CRPS and widths are in standard deviations of the target of the test rows."
        )
        return Report(introduction, tables, list(checks(results, names)))


def relative_rmse(results: Results, method: str, name: str) -> float:
    """Return the RMSE of a method relative to that of CatBoost."""
    own, other = (results.mean(PART, m, name, "rmse") for m in (method, "catboost"))
    return own / other


def relative_table(results: Results, methods: list[str], names: list[str]) -> Table:
    rows = []
    values = np.array([[relative_rmse(results, method, name) for method in methods] for name in names])
    for name, line in [*zip(names, values, strict=True), ("median", np.median(values, axis=0))]:
        rows.append((name, *highlight([share(value) for value in line], line, largest=False)))
    return Table("RMSE relative to that of CatBoost", ("data set", *methods), rows)


def means_table(results: Results, methods: list[Method], names: list[str]) -> Table:
    columns = ("r2", "mae", "crps", "coverage", "width", "fit_seconds", "predict_seconds")
    rows = [(m.name, *(cell(results, PART, m.name, names, score) for score in columns)) for m in methods]
    note = (
        f"CRPS: twice the mean pinball loss of {len(LEVELS)} quantiles. Coverage and width: of 90% intervals."
    )
    return Table(f"Means over {len(names)} data sets", ("mean", *columns), rows, [note])


def coverage_table(results: Results, names: list[str]) -> Table:
    fifths = [f"coverage_{number}" for number in range(1, N_FIFTHS + 1)]
    rows = [
        (name, *(cell(results, PART, OURS, name, s) for s in ("coverage", "width", *fifths)))
        for name in names
    ]
    head = ("data set", "coverage", "width", "narrowest", "2", "3", "4", "widest")
    return Table("LANN's 90% intervals, in all and by fifths of their width", head, rows)


def checks(results: Results, names: list[str]) -> Any:
    mean = partial(results.mean, PART)
    yield check("lann: mean R² at least .825", mean(OURS, names, "r2"), least=0.825)
    yield check(
        "lann: mean R² minus that of CatBoost",
        mean(OURS, names, "r2") - mean("catboost", names, "r2"),
        least=0.01,
    )
    better = [max(mean(m, name, "r2") for m in ("forest", "boosting")) for name in names]
    behind = max(other - mean(OURS, name, "r2") for other, name in zip(better, names, strict=True))
    yield check("lann: behind the better of forest and boosting, at most", behind, most=0.01)
    relative = float(np.median([relative_rmse(results, OURS, name) for name in names]))
    yield check("lann: median RMSE relative to CatBoost", relative, most=0.99)
    for what, scores, low, high in (
        ("90% intervals", ["coverage"], 0.88, 0.92),
        ("each fifth of them", [f"coverage_{n}" for n in range(1, N_FIFTHS + 1)], 0.85, 0.95),
    ):
        found = [mean(OURS, name, score) for name in names for score in scores]
        yield check(f"lann: coverage of {what}, least", min(found), least=low)
        yield check(f"lann: coverage of {what}, most", max(found), most=high)
    for other in ("ngboost", "quantile-forest"):
        crps = mean(OURS, names, "crps") - mean(other, names, "crps")
        yield check(f"lann: mean CRPS minus that of {other}", crps, most=0)
    widths = [mean(OURS, name, "width") - mean("quantile-forest", name, "width") for name in names]
    known = not np.isnan(widths).any()
    share_narrower = float(np.mean(np.array(widths) < 0)) if known else np.nan
    yield check("lann: share of sets with narrower intervals than quantile-forest", share_narrower, least=0.5)


BENCHMARK = Regression
