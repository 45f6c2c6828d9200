"""Accuracy with a fifth of the cells emptied at random, and with gaps that depend on the class."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from benchmarks import mixed
from benchmarks.harness import Report, Results, Table, check, share
from benchmarks.methods import Method, TableEncoder, TableImputer, make_boosting, make_forest, make_lann
from benchmarks.paper import lowest
from benchmarks.tabular import (
    PUBLISHED,
    QUICK_SETS,
    DataSet,
    Source,
    SplitBenchmark,
    Task,
    cell,
    load_sets,
    load_tables,
    means_table,
    scale,
    set_table,
)
from lann._support.types import Floats, Labels

RANDOM, COMPLETE, INFORMATIVE = "random", "complete", "informative"
OURS, IMPUTED = "lann", "lann-median"
SETS = list(PUBLISHED)
VOTES, PLANTED = "house-votes-84", "planted-gaps"
SHARE = 0.2
MOST_TRAINING_ROWS, MOST_TEST_ROWS = 1000, 2000
N_PLANTED = 1000
SHIFT = 1.0
GAPS_BY_CLASS = (0.1, 0.7)
"""Planted gaps: the probability that a cell is empty, by class."""
ZEROS = 0.8
"""The probability that a cell of that feature is 0 if it is not empty."""


def make_methods(imputer: Any, *encoders: Any) -> list[Method]:
    """Return the methods; those that need complete values have an imputer before them."""
    steps = (imputer, *encoders)
    return [
        Method(
            "forest",
            lambda n, seed: make_pipeline(*map(clone, steps), make_forest(n, seed)),
            "300 trees.",
            "imputed",
        ),
        Method(
            IMPUTED, lambda n, seed: make_pipeline(clone(imputer), make_lann(n, seed)), "Defaults.", "imputed"
        ),
        Method("boosting", make_boosting, "Gradient boosting over histograms.", "gaps as they are"),
        Method(OURS, make_lann, "Defaults.", "gaps as they are"),
    ]


METHODS = make_methods(SimpleImputer(strategy="median", keep_empty_features=True))
TABLE_METHODS = {method.name: method for method in make_methods(TableImputer(), TableEncoder())}


def random_task(data: DataSet, gaps: bool, seed: int, number: int) -> Task:
    """Return a split of the paper, with a fifth of the cells emptied completely at random."""
    train, test = data.split(number, seed)
    train, test = train[:MOST_TRAINING_ROWS], test[:MOST_TEST_ROWS]
    rng = np.random.default_rng([seed, number])
    X = np.where(rng.random(data.X.shape) < SHARE, np.nan, data.X) if gaps else data.X
    X_train, X_test = scale(X, train, test)
    return Task(X_train, data.y[train], X_test, data.y[test])


def planted_task(seed: int, number: int) -> Task:
    """Return 1000 training rows and 1000 test rows of `make_informative_gaps`."""
    X, y = make_informative_gaps(2 * N_PLANTED, np.random.default_rng([seed, number]))
    return Task(X[:N_PLANTED], y[:N_PLANTED], X[N_PLANTED:], y[N_PLANTED:])


def make_informative_gaps(n_samples: int, rng: np.random.Generator) -> tuple[Floats, Labels]:
    """
    Generate data in which a value is missing more often in one class than in the other.

    There are two equally frequent classes and five features:

    - 0: Gaussian; its mean differs between the classes by one standard deviation.
    - 1: a count, 0 in four fifths of the rows and otherwise from 1 to 4, whatever the class. It is missing in
      a tenth of the rows of class 0 and in seven tenths of those of class 1. Imputed by the median, 0, the
      gaps are hidden among equal values.
    - 2: Gaussian noise, missing in three tenths of the rows whatever the class.
    - 3, 4: Gaussian noise.

    Parameters
    ----------
    n_samples
        Number of rows.
    rng
        Generator of random numbers.

    Returns
    -------
    X : (n_samples, 5)
    y : (n_samples,)
        0 or 1.
    """
    y = rng.integers(2, size=n_samples)
    X = rng.standard_normal((n_samples, 5))
    X[:, 0] += SHIFT * y
    X[:, 1] = np.where(rng.random(n_samples) < ZEROS, 0, rng.integers(1, 5, size=n_samples))
    X[rng.random(n_samples) < np.array(GAPS_BY_CLASS)[y], 1] = np.nan
    X[rng.random(n_samples) < 0.3, 2] = np.nan
    return X, y.astype(np.int64)


def best_accuracy(*, imputed: bool = False) -> float:
    """
    Return the accuracy of the best classifier of `make_informative_gaps`.

    Parameters
    ----------
    imputed
        Whether missing values are replaced by the median, so that it does not know which are missing.
    """
    from scipy.stats import norm

    # Feature 1 tells only whether it is missing or, if it is imputed, whether it is 0.
    found = [gap + (1 - gap) * ZEROS if imputed else gap for gap in GAPS_BY_CLASS]
    correct = 0.0
    for p0, p1 in (found, [1 - p for p in found]):
        # Class 1 above the value of feature 0 at which both classes are equally probable.
        threshold = SHIFT / 2 - np.log(p1 / p0) / SHIFT
        correct += (p0 * norm.cdf(threshold) + p1 * norm.sf(threshold - SHIFT)) / 2
    return float(correct)


class Missing(SplitBenchmark):
    parts = (RANDOM, INFORMATIVE)
    quick = "small data sets, 1 split."
    available = METHODS

    def load(self) -> dict[str, list[Source]]:
        found = self.load_chosen(
            lambda names: load_sets([name for name in names if name in PUBLISHED and RANDOM in self.chosen]),
            [*SETS, VOTES, PLANTED],
            [*(name for name in QUICK_SETS if name in PUBLISHED), VOTES, PLANTED],
        )
        sources = {
            part: [Source(d.name, d.digest, partial(random_task, d, part == RANDOM)) for d in found]
            for part in (RANDOM, COMPLETE)
        }
        asked = [
            n for n in (VOTES, PLANTED) if INFORMATIVE in self.chosen and n in (self.options.data or (n,))
        ]
        votes, skipped = load_tables(mixed.FILES, [VOTES] if VOTES in asked else [])
        self.skipped.update(skipped)
        sources[INFORMATIVE] = [Source(d.name, d.digest, partial(mixed.make_task, d)) for d in votes]
        sources[INFORMATIVE] += [Source(PLANTED, "", planted_task)] if PLANTED in asked else []
        return sources

    def method_for(self, part: str, source: Source, method: Method) -> Method | None:
        if part == COMPLETE and method.name == IMPUTED:
            return None
        return TABLE_METHODS[method.name] if source.name == VOTES else method

    def report(self, results: Results) -> Report:
        names, others = ([source.name for source in self.sources[part]] for part in (RANDOM, INFORMATIVE))
        columns = {"accuracy": "accuracy", "log_loss": "log-loss as returned", "ece": "ECE"}
        tables = []
        if names:
            complete = [method for method in self.methods if method.name != IMPUTED]
            complete_names = [method.name for method in complete]
            with_gaps = means_table(results, self.methods, names, columns, RANDOM)
            tables += [
                set_table(
                    results, "Accuracy with 20 % of the cells missing", self.names, names, "accuracy", RANDOM
                ),
                set_table(
                    results, "Accuracy on the complete data", complete_names, names, "accuracy", COMPLETE
                ),
                replace(with_gaps, title=f"{with_gaps.title}, 20 % missing"),
                replace(means_table(results, complete, names, columns, COMPLETE), title="Means, complete"),
            ]
        if others:
            rows: list[tuple[str, ...]] = []
            for score in ("accuracy", "log_loss"):
                rows.append((score.replace("_", "-"),))
                rows += [
                    (m, *(cell(results, INFORMATIVE, m, name, score) for name in others)) for m in self.names
                ]
            best = share(best_accuracy()), share(best_accuracy(imputed=True))
            note = (
                f"Best possible accuracy on {PLANTED}: {best[0]}; after imputation by the median, {best[1]}."
            )
            tables.append(Table("Informative gaps", ("informative gaps", *others), rows, [note]))
        introduction = (
            f"{self.scope}. At random: the paper's data sets, 25 % of the rows for training, at most "
            f"{MOST_TRAINING_ROWS}, and at most {MOST_TEST_ROWS} others for testing, z-scored on the "
            "training rows; 20 % of the cells of all of these are emptied completely at random. "
            "Informative: in house-votes-84 and in generated data, which values are missing depends on the "
            "class."
        )
        return Report(introduction, tables, self._checks(results))

    def _checks(self, results: Results) -> list[Any]:
        def margin(part: str, other: str, data: str | list[str]) -> float:
            return results.mean(part, OURS, data, "accuracy") - results.mean(part, other, data, "accuracy")

        informative = [margin(INFORMATIVE, IMPUTED, name) for name in (VOTES, PLANTED)]
        planted = results.mean(INFORMATIVE, OURS, PLANTED, "accuracy") - best_accuracy()
        return [
            *(
                check(
                    f"lann: gaps at random, mean accuracy ahead of {other}",
                    margin(RANDOM, other, SETS),
                    least=1e-8,
                )
                for other in (IMPUTED, "boosting", "forest")
            ),
            check(f"lann: informative gaps, at least as accurate as {IMPUTED}", lowest(informative), least=0),
            check(f"lann: on {PLANTED} within .03 of the best possible accuracy", planted, least=-0.03),
        ]


BENCHMARK = Missing
