"""Accuracy and probabilities of LANN and other learners on ten data sets with noisy labels."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.harness import NAN, Report, Results, Table, Values, check, share
from benchmarks.methods import METHODS, TableEncoder
from benchmarks.paper import lowest
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

PART, OURS, KNN = "splits", "lann", "knn-cv"
COMPARED = (KNN, "forest", "boosting", "catboost", "lightgbm", "ebm", OURS)
FILES = {
    **dict.fromkeys(("adult", "bank-marketing", "titanic", "crx", "heart-disease", "eucalyptus"), "mixed"),
    **dict.fromkeys(("weather", "electricity", "sea", "rialto"), "streams"),
}
SETS = list(FILES)
MOST_ROWS = 4000


def make_task(data: TableSet, seed: int, number: int) -> Task:
    train, test = data.split(seed, number, MOST_ROWS, MOST_ROWS)
    encoder = TableEncoder().fit(data.table.iloc[train])
    X_train, X_test = (encoder.transform(data.table.iloc[rows]) for rows in (train, test))
    return Task(X_train, data.y[train], X_test, data.y[test])


def describe_vote(estimator: Any) -> str:
    """Describe the vote that a fitted estimator has chosen."""
    chosen = getattr(estimator, "best_params_", {})
    vote = getattr(estimator, "vote_", None)
    parts = {
        "k": chosen.get("n_neighbors", getattr(estimator, "n_neighbors_", None)),
        "weights": chosen.get("weights"),
        "power": getattr(estimator, "power_", None),
        "floor": getattr(estimator, "floor_", getattr(vote, "floor", None)),
    }
    return ", ".join(
        f"{k}={v if isinstance(v, str) else f'{v:g}'}" for k, v in parts.items() if v is not None
    )


NOISY_METHODS = [method for method in METHODS if method.name in COMPARED]


class Noisy(SplitBenchmark):
    quick = "small data sets, 1 split, and no slow methods."
    available = NOISY_METHODS

    def load(self) -> dict[str, list[Source]]:
        quick = ("titanic", "crx", "heart-disease", "eucalyptus")
        found = self.load_chosen(partial(load_tables, FILES), SETS, quick)
        return {PART: [Source(data.name, data.digest, partial(make_task, data)) for data in found]}

    def measure(self, estimator: Any, source: Source, split: int) -> Values:
        values = super().measure(estimator, source, split)
        return values | {"vote": describe_vote(estimator)}

    def report(self, results: Results) -> Report:
        names = [source.name for source in self.sources[PART]]
        tables = [
            set_table(results, "Accuracy", self.names, names, "accuracy"),
            set_table(results, "Log-loss with a floor", self.names, names, "log_loss_floored"),
            means_table(results, self.methods, names, {"accuracy": "accuracy", **SCORES}),
            self._votes(results, names),
            self._confident(results, names),
        ]
        if self.options.details:
            scores = ("log_loss", "brier_floored", "brier", "ece", "fit_seconds")
            tables += [set_table(results, score, self.names, names, score) for score in scores]
        introduction = (
            f"{self.scope}: half for training and half for testing, at most {MOST_ROWS} rows each. All "
            "methods have the same rows, encoded by the training rows: numbers imputed by the median and "
            "z-scored, categories one-hot encoded with a level for missing values."
        )
        mean = partial(results.mean, PART)
        below = [mean(OURS, name, "accuracy") - mean(KNN, name, "accuracy") for name in SETS]
        n_confident, n_correct = (
            count(results, OURS, SETS, s) for s in ("n_confident", "n_confident_correct")
        )
        checks = [
            check("lann: mean accuracy at least .812", mean(OURS, SETS, "accuracy"), least=0.812),
            check("lann: mean log-loss as returned at most .46", mean(OURS, SETS, "log_loss"), most=0.46),
            check(f"lann: on no set below {KNN} by more than .01", lowest(below), least=-0.01),
            check(
                "lann: at least .97 of the predictions with P ≥ .99 are correct",
                n_correct / n_confident,
                least=0.97,
            ),
        ]
        return Report(introduction, tables, checks)

    def _votes(self, results: Results, names: list[str]) -> Table:
        methods = [method for method in (KNN, OURS) if method in self.names]
        rows = [
            (n, *("; ".join(dict.fromkeys(map(str, results.values(PART, m, n, "vote")))) for m in methods))
            for n in names
        ]
        return Table("Votes", ("vote of each split", *methods), rows)

    def _confident(self, results: Results, names: list[str]) -> Table:
        rows: list[tuple[str, ...]] = []
        ours = [(name, OURS, [name]) for name in names] if OURS in self.names else []
        for title, method, sets in [*((name, name, names) for name in self.names), (OURS, "", []), *ours]:
            n, confident, correct = (
                count(results, method, sets, s) for s in ("n_test", "n_confident", "n_confident_correct")
            )
            row = (
                title,
                f"{n:.0f}",
                f"{confident:.0f}",
                share(confident / n),
                share(correct / (confident or NAN)),
            )
            rows.append(row if method else (title,))
        note = "Confident: predictions whose label has a probability of at least .99; all splits together."
        return Table(
            "Confident predictions", ("P ≥ .99", "predictions", "confident", "share", "correct"), rows, [note]
        )


def count(results: Results, method: str, names: list[str], score: str) -> float:
    """Return the sum of a number over data sets and splits; NaN if one is missing."""
    values = [results.values(PART, method, name, score) for name in names]
    return sum(map(sum, values)) if values and all(values) else NAN


BENCHMARK = Noisy
