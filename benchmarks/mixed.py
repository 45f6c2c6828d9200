"""Accuracy and probabilities on eleven tables with categories and missing values, as they are or encoded."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from benchmarks.harness import Report, Results, Table, check, number
from benchmarks.methods import (
    CatBoostTable,
    Method,
    TableEncoder,
    make_boosting,
    make_forest,
    make_lann,
    make_lightgbm,
)
from benchmarks.tabular import (
    SCORES,
    Source,
    SplitBenchmark,
    TableSet,
    Task,
    load_tables,
    means_table,
    set_table,
)

PART, OURS = "splits", "lann"
SETS = (
    "adult", "bank-marketing", "crx", "dermatology", "eucalyptus", "heart-disease", "house-votes-84",
    "kr-vs-kp", "mushroom", "tic-tac-toe", "titanic",
)  # fmt: skip
LARGE_SETS = ("adult", "bank-marketing", "kr-vs-kp", "mushroom")
FILES = dict.fromkeys(SETS, "mixed")
MOST_TRAINING_ROWS = 5000
NATIVE, ENCODED = "the table as it is", "the table, encoded"


def make_encoded(make: Callable[[int, int], Any], n_jobs: int, seed: int) -> Any:
    """Return an estimator behind the encoder of tables."""
    return make_pipeline(TableEncoder(), make(n_jobs, seed))


METHODS = [
    Method(
        "knn",
        lambda n_jobs, seed: make_pipeline(
            TableEncoder(), KNeighborsClassifier(5, weights="distance", n_jobs=n_jobs)
        ),
        "Five neighbors, weighted by 1 / distance.",
        ENCODED,
    ),
    *(
        Method(name, partial(make_encoded, make), text, ENCODED)
        for name, make, text in (
            ("forest", make_forest, "300 trees."),
            ("lann-onehot", make_lann, "Defaults."),
        )
    ),
    Method("boosting", make_boosting, "Gradient boosting over histograms.", NATIVE),
    Method("catboost", CatBoostTable, "Defaults; a missing category is a level.", NATIVE, needs="catboost"),
    Method("lightgbm", make_lightgbm, "Defaults, deterministic.", NATIVE, needs="lightgbm"),
    Method(OURS, make_lann, "Defaults.", NATIVE),
]


def make_task(data: TableSet, seed: int, number: int) -> Task:
    train, test = data.split(seed, number, MOST_TRAINING_ROWS)
    return Task(data.table.iloc[train], data.y[train], data.table.iloc[test], data.y[test])


class Mixed(SplitBenchmark):
    quick = "small data sets, 1 split."
    splits = (5, 1)
    available = METHODS

    def load(self) -> dict[str, list[Source]]:
        quick = [name for name in SETS if name not in LARGE_SETS]
        found = self.load_chosen(partial(load_tables, FILES), SETS, quick)
        return {PART: [Source(data.name, data.digest, partial(make_task, data)) for data in found]}

    def warm_up(self, jobs: object) -> None:
        """Fit nothing: the encoders need tables."""

    def report(self, results: Results) -> Report:
        names = [source.name for source in self.sources[PART]]
        columns = {"accuracy": "accuracy", "balanced_accuracy": "balanced", "roc_auc": "ROC AUC", **SCORES}
        tables = [
            set_table(results, "Accuracy", self.names, names, "accuracy"),
            set_table(results, "Log-loss as returned", self.names, names, "log_loss"),
            means_table(results, self.methods, names, columns),
            ranks(results, PART, self.names, names)[0],
        ]
        if self.options.details:
            scores = ("balanced_accuracy", "roc_auc", "log_loss_floored", "brier", "ece", "fit_seconds")
            tables += [set_table(results, score, self.names, names, score) for score in scores]
        introduction = (
            f"{self.scope}: half of the rows for training, at most {MOST_TRAINING_ROWS}, and the other half "
            "for testing. Tables with numbers, categories and missing values. Some methods take them as "
            "they are, others after an encoder: median for missing numbers, z-scores; one-hot categories "
            "with a level for missing ones."
        )
        mean = partial(results.mean, PART)
        accuracy, loss = (mean(OURS, SETS, score) for score in ("accuracy", "log_loss"))
        checks = [
            *(
                check(
                    f"lann: mean accuracy ahead of {other}",
                    accuracy - mean(other, SETS, "accuracy"),
                    least=1e-8,
                )
                for other in ("lann-onehot", "forest", "boosting")
            ),
            check(
                "lann: mean log-loss below that of forest", loss - mean("forest", SETS, "log_loss"), most=0
            ),
            check("lann: mean accuracy at least .895 (the aim)", accuracy, least=0.895),
            check("lann: mean log-loss as returned at most .28 (the aim)", loss, most=0.28),
        ]
        return Report(introduction, tables, checks)


def ranks(
    results: Results, part: str, methods: list[str], names: list[str]
) -> tuple[Table, dict[str, dict[str, float]]]:
    """Return a table of mean ranks over data sets, and the ranks by score and method."""
    from scipy.stats import rankdata

    found, values = {}, {}
    for score, sign in (("accuracy", -1), ("log_loss", 1)):
        values[score] = np.array([[results.mean(part, m, n, score) for m in methods] for n in names]).round(3)
        placed = rankdata(sign * values[score], axis=1, nan_policy="propagate").mean(axis=0)
        found[score] = dict(zip(methods, placed.tolist(), strict=True))
    accuracy, rows = values["accuracy"], []
    for i, name in enumerate(methods):
        best = int((accuracy[:, i] == accuracy.max(axis=1)).sum())
        row = [name, number(found["accuracy"][name]), number(found["log_loss"][name]), str(best), "", "", ""]
        if OURS in methods and name != OURS:
            margins = accuracy[:, methods.index(OURS)] - accuracy[:, i]
            row[4:] = [str(int(count.sum())) for count in (margins > 0, margins == 0, margins < 0)]
        rows.append(tuple(row))
    note = "Mean ranks; the best is 1. Best: data sets without a higher accuracy. Then where lann is ahead."
    header = ("ranks", "accuracy", "log-loss", "best", "ahead", "level", "behind")
    return Table(f"Ranks over {len(names)} data sets", header, rows, [note]), found


BENCHMARK = Mixed
