"""Risk and coverage of LANN, a forest and an SVM in a reject option; rows unlike the training rows."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from benchmarks.harness import NAN, NONE, Check, Report, Results, Table, Values, check, highlight
from benchmarks.methods import Method, make_forest, make_lann
from benchmarks.paper import lowest
from benchmarks.tabular import DataSet, Source, SplitBenchmark, Task, choose_paper_sets, load_sets
from lann._support.types import Floats, Labels
from lann.datasets import PAPER_SETS
from lann.reject import RejectOption, aurc, risk_coverage_curve

PART, OURS, FOREST, SVM = "splits", "lann", "forest", "svm"
OTHER_SETS = (
    "iris", "wine", "ionosphere", "breast-cancer", "image-segmentation", "digits", "robot-navigation",
    "gamma-telescope",
)  # fmt: skip
METHODS = [
    Method(FOREST, make_forest, "300 trees.", "RejectOption around"),
    # Platt's probabilities of pairs of classes order rows better than those of one class against the others.
    Method(
        SVM,
        lambda n, seed: SVC(C=10.0, probability=True, random_state=seed),
        "RBF, C=10.",
        "RejectOption around",
    ),
    Method(OURS, make_lann, "Defaults.", "RejectOption around"),
]
N_FOLDS = 5
CERTAINTIES = ("probability", "margin", "novelty", "combined")
BY = ("global", "class", "local")
REJECTED = 0.1
"""The share of the test rows that is rejected at most, where errors are counted."""
COVERAGES = np.linspace(0.5, 1.0, 26)
"""Targets of thresholds, and coverages at which their risks are compared."""
NOVELTY_SHARES = (0.01, 0.05)
MOST_ROWS = 300
"""Rows of each kind, at most."""
N_DEVIATIONS = 3.0
"""By how many standard deviations values are outside the range."""
STRANGERS = {
    "other": "another data set",
    "matched": "another, standardized",
    "permuted": "features permuted",
    "all_outside": "all values outside",
    "one_outside": "one value outside",
}


def other_rows(other: Floats, n_features: int, rng: np.random.Generator, *, matched: bool) -> Floats:
    """Return rows of another data set with as many features, its columns drawn; `matched`: standardized."""
    X = other[rng.choice(len(other), min(MOST_ROWS, len(other)), replace=False)]
    if matched:
        deviations = other.std(axis=0)
        X = (X - other.mean(axis=0)) / np.where(deviations > 0, deviations, 1.0)
    columns = rng.permutation(X.shape[1])
    more = rng.integers(X.shape[1], size=max(n_features - X.shape[1], 0))
    return X[:, np.concatenate([columns, more])[:n_features]]


def all_outside(X: Floats, X_train: Floats, rng: np.random.Generator) -> Floats:
    """Return rows of which every value is three deviations outside the range of the training rows."""
    deviations = X_train.std(axis=0)
    beyond = N_DEVIATIONS * np.where(deviations > 0, deviations, 1.0)
    is_high = rng.random(X[:MOST_ROWS].shape) < 0.5
    return np.where(is_high, X_train.max(axis=0) + beyond, X_train.min(axis=0) - beyond)


def one_outside(X: Floats, X_train: Floats, rng: np.random.Generator) -> Floats:
    """Return test rows of which one value is outside."""
    rows = X[:MOST_ROWS].copy()
    outside = all_outside(X, X_train, rng)
    chosen = rng.integers(X.shape[1], size=len(rows))
    rows[np.arange(len(rows)), chosen] = outside[np.arange(len(rows)), chosen]
    return rows


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


def _share_far(reject: RejectOption, X: Floats) -> float:
    return float((reject.decision(X) == "far").mean())


def _far(
    fitted: _Fitted, task: Task, unscaled: tuple[Floats, Floats], others: list[Floats], seed: int
) -> Values:
    """Return the shares of test rows, and of rows unlike the training rows, that are rejected as far."""
    rng = np.random.default_rng(seed)
    n_features = task.X_test.shape[1]
    mean, deviation = unscaled
    rows = {
        "other": [(other_rows(o, n_features, rng, matched=False) - mean) / deviation for o in others],
        "matched": [other_rows(o, n_features, rng, matched=True) for o in others],
        "permuted": [np.column_stack([rng.permutation(column) for column in task.X_test.T])[:MOST_ROWS]],
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
                values[f"far_other_lowest_{suffix}"] = min(shares, default=None)
    return values


class Reject(SplitBenchmark):
    main_score = "aurc_combined"
    quick = "small data sets, 1 split."
    available = METHODS

    def load(self) -> dict[str, list[Source]]:
        found, skipped = load_sets(choose_paper_sets(self.options.data, self.options.quick))
        self.skipped.update(skipped)
        self.sets: dict[str, DataSet] = {data.name: data for data in found}
        self.others = {data.name: data.X for data in load_sets(OTHER_SETS)[0]}
        return {PART: [Source(data.name, data.digest, data.task) for data in found]}

    def measure(self, estimator: Any, source: Source, split: int) -> Values:
        seed = self.options.seed
        task, data = source.task(seed, split), self.sets[source.name]
        X = data.X[data.split(split, seed)[0]]
        deviation = X.std(axis=0)
        unscaled = X.mean(axis=0), np.where(deviation > 0, deviation, 1.0)
        others = [X for name, X in self.others.items() if name != source.name]
        limit = nullcontext() if "n_jobs" in estimator.get_params() else threadpool_limits(1)
        with limit, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start = time.perf_counter()
            fitted = _Fitted(estimator, task, seed)
            seconds = time.perf_counter() - start
            values = _certainties(fitted, task) | _learned(fitted, task) | _areas(fitted, task)
            values |= _far(fitted, task, unscaled, others, seed)
        return values | {"seconds": seconds}

    def report(self, results: Results) -> Report:
        names = [source.name for source in self.sources[PART]]
        kinds = [(method, kind) for method in self.names for kind in ("combined", "probability")]
        rows = []
        for title, data in [*((name, name) for name in names), ("mean", names)]:
            cells = [percent(results, m, data, f"aurc_{kind}", 2) for m, kind in kinds]
            means = [100 * results.mean(PART, m, data, f"aurc_{kind}") for m, kind in kinds]
            rows.append((title, *highlight(cells, means, largest=False)))
        head = ("AURC in %", *(f"{method}, {kind}" for method, kind in kinds))
        note = "Area under the risk-coverage curve of the test rows, ± standard deviation over the splits."
        tables = [Table("Area under the risk-coverage curve", head, rows, [note])]
        rows = [
            (m, *(percent(results, m, names, f"aurc_{kind}", 2) for kind in CERTAINTIES)) for m in self.names
        ]
        tables.append(Table("Certainties: mean AURC in %", ("AURC in %", *CERTAINTIES), rows))
        errors = {
            "error": "error",
            "gone": "gone at 10 %",
            "rejected": "rejected",
            "error_accepted": "error of accepted",
            "gone_learned": "gone",
        }
        note = (
            "In %. Gone at 10 %: the share of the errors among the tenth of the test rows with the lowest "
            "certainty. Then thresholds that are learned for a coverage of 90 %: the share of the test "
            "rows that is rejected, the error of the others, and the share of the errors gone."
        )
        tables.append(self._by_set("Errors with a tenth of the rows rejected", results, names, errors, note))
        areas = {f"area_{by}": by for by in (*BY, "local_exact")}
        note = (
            "Mean error in % of the accepted test rows at coverages from 50 % to 100 %, thresholds learned."
        )
        tables.append(self._by_set("One threshold, or several", results, names, areas, note, 3))
        for share in NOVELTY_SHARES:
            s = f"{100 * share:.0f}"
            far = {f"alarms_{s}": "test rows", f"far_other_lowest_{s}": "lowest of other data sets"}
            far |= {f"far_{kind}_{s}": text for kind, text in STRANGERS.items()}
            note = f"In %, with novelty_share={share}. Outside: three deviations beyond the training rows."
            tables.append(self._by_set("Rows rejected as far", results, names, far, note))
        introduction = (
            f"{self.scope}: 25 % of the rows for training, the others for testing, z-scored on the training "
            f"rows. Thresholds are learned on the training rows, by cross-fitting in {N_FOLDS} folds."
        )
        return Report(introduction, tables, self._checks(results, names))

    def _by_set(
        self,
        title: str,
        results: Results,
        names: list[str],
        columns: dict[str, str],
        note: str,
        digits: int = 1,
    ) -> Table:
        rows: list[tuple[str, ...]] = []
        for method in self.names:
            rows.append((method,))
            for name, data in [*((name, name) for name in names), ("mean", names)]:
                rows.append((name, *(percent(results, method, data, score, digits) for score in columns)))
        return Table(title, ("", *columns.values()), rows, [note])

    def _checks(self, results: Results, names: list[str]) -> list[Check]:
        mean = partial(results.mean, PART)

        def half_gone(score: str) -> float:
            known = [value for n in PAPER_SETS if (value := mean(OURS, n, score)) == value]
            return sum(value >= 0.5 for value in known) if len(known) == len(PAPER_SETS) else NAN

        ours = mean(OURS, names, "aurc_combined")
        one = mean(OURS, names, "area_global")
        return [
            check(
                "lann: half of the errors gone with a tenth rejected, on at least 8 sets",
                half_gone("gone"),
                least=8,
            ),
            check(
                "lann: the same by thresholds learned for a coverage of .9",
                half_gone("gone_learned"),
                least=8,
            ),
            *(
                check(f"lann: mean AURC below that of {m}", ours - mean(m, names, "aurc_probability"), most=0)
                for m in (FOREST, SVM)
            ),
            *(
                check(
                    f"lann: risk of thresholds by {by} beyond one",
                    mean(OURS, names, f"area_{by}") - one,
                    most=0,
                )
                for by in ("class", "local")
            ),
            check("lann: .05 of the test rows rejected as far", mean(OURS, names, "alarms_5"), most=0.055),
            *(
                check(
                    f"lann: at least .95 of the rows rejected as far, {kind}",
                    lowest([mean(OURS, name, f"far_{kind}_5") for name in names]),
                    least=0.95,
                )
                for kind in ("other", "all_outside")
            ),
        ]


def percent(results: Results, method: str, data: str | Sequence[str], score: str, digits: int = 1) -> str:
    """Write the mean of a score and its deviation in percent."""
    value, spread = results.mean(PART, method, data, score), results.std(PART, method, data, score)
    if value != value:
        return NONE
    text = f"{100 * value:.{digits}f}"
    return text if spread != spread else f"{text} ± {100 * spread:.{digits}f}"


BENCHMARK = Reject
