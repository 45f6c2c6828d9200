"""What benchmarks of classifiers on data sets share: data, splits, scores, the jobs and their tables."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn import metrics
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.harness import Benchmark, Found, Job, Results, Table, Values, choose, highlight, share
from benchmarks.methods import METHODS, Method, choose_methods
from lann.datasets import PAPER_SETS, canonical_name, load

QUICK_SETS = (
    "artificial-classification", "breast-cancer", "image-segmentation", "ionosphere", "iris", "wine"
)  # fmt: skip
PUBLISHED_COLUMNS = ("kNN", "LMNN", "LGMLVQ", "LANN")
# Accuracies of the paper by data set, and the standard deviation of LANN. The adrenal data is not public.
PUBLISHED = {
    "artificial-classification": (0.95, 0.97, 0.99, 0.99, 0.0018),
    "breast-cancer": (0.95, 0.95, 0.92, 0.94, 0.0077),
    "digits": (0.94, 0.96, 0.87, 0.96, 0.0054),
    "gamma-telescope": (0.82, 0.82, 0.84, 0.83, 0.0027),
    "image-segmentation": (0.93, 0.95, 0.94, 0.95, 0.0041),
    "ionosphere": (0.77, 0.79, 0.76, 0.9, 0.0306),
    "iris": (0.93, 0.95, 0.93, 0.96, 0.012),
    "letter-recognition": (0.88, 0.91, 0.87, 0.91, 0.0025),
    "outdoor-objects": (0.8, 0.83, 0.83, 0.87, 0.0085),
    "pen-digits": (0.98, 0.99, 0.99, 0.99, 0.0011),
    "robot-navigation": (0.79, 0.8, 0.79, 0.83, 0.0088),
    "usps": (0.94, 0.95, 0.95, 0.95, 0.0024),
    "wine": (0.95, 0.96, 0.63, 0.96, 0.0153),
}
N_SPLITS = 10
FLOOR = 0.02
Split = tuple[Any, Any]
"""The training rows and the test rows."""


@dataclass(frozen=True)
class Task:
    """Training and test rows of one split, as all methods get them."""

    X_train: Any
    y_train: Any
    X_test: Any
    y_test: Any


@dataclass(frozen=True)
class DataSet:
    """X (n_samples, n_features), y (n_samples,) with class indices, and a digest of both."""

    name: str
    X: Any
    y: Any
    digest: str

    def split(self, number: int, seed: int = 0, protocol: str = "paper") -> Split:
        """Return a split: a quarter for training ("paper"), or a fold of a cross-validation ("cv")."""
        splitter: Any = StratifiedShuffleSplit(N_SPLITS, train_size=0.25, random_state=seed)
        if protocol == "cv":
            splitter = StratifiedKFold(N_SPLITS, shuffle=True, random_state=seed)
        return list(splitter.split(self.X, self.y))[number]

    def task(self, seed: int, number: int, protocol: str = "paper") -> Task:
        """Return the rows of a split, z-scored on the training rows."""
        train, test = self.split(number, seed, protocol)
        return Task(
            *scale(self.X, train, test)[:1], self.y[train], scale(self.X, train, test)[1], self.y[test]
        )


def scale(X: Any, train: Any, test: Any) -> tuple[Any, Any]:
    """Return training and test rows, z-scored by the training rows."""
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), scaler.transform(X[test])


def load_sets(names: Iterable[str]) -> tuple[list[DataSet], dict[str, str]]:
    """Return the data sets of the paper that can be loaded, and the reasons why the others cannot."""
    found, skipped = [], {}
    for name in names:
        try:
            X, labels = load(name, return_X_y=True)
        except (OSError, ValueError) as error:
            # The rest of the message names folders of this machine.
            skipped[name] = str(error).partition("\n")[0].partition(". ")[0].rstrip(".:") + "."
            continue
        y = np.unique(labels, return_inverse=True)[1].astype(np.int64)
        X = np.ascontiguousarray(X, dtype=np.float64)
        found.append(DataSet(name, X, y, hashlib.sha256(X.tobytes() + y.tobytes()).hexdigest()))
    return found, skipped


def load_set(name: str) -> DataSet:
    """Return one data set; raise ValueError if it cannot be loaded."""
    found, skipped = load_sets([name])
    if not found:
        raise ValueError(skipped[name])
    return found[0]


def choose_paper_sets(names: Sequence[str] | None, quick: bool) -> list[str]:
    chosen = {canonical_name(name) for name in names or (QUICK_SETS if quick else PAPER_SETS)}
    return [name for name in PAPER_SETS if name in chosen]


def find_file(path: str) -> tuple[Path, str | None]:
    """Return a file in the folder named by LANN_DATA, and why it cannot be used if there is none."""
    root = os.environ.get("LANN_DATA")
    file = Path(root or ".").expanduser() / path
    missing = root is None or not file.is_file()
    return file, f"needs {path} in the folder named by LANN_DATA." if missing else None


@dataclass(frozen=True)
class TableSet:
    """A data frame with numbers, categories and missing values, and class indices."""

    name: str
    table: Any
    y: Any
    digest: str

    def split(self, seed: int, number: int, most_train: int, most_test: int | None = None) -> Split:
        """Return half of the rows for training and half for testing, at most `most_train` and `most_test`."""
        n = len(self.y)
        n_test = min(n - n // 2, most_test or n)
        splitter = StratifiedShuffleSplit(
            N_SPLITS, train_size=min(n // 2, most_train), test_size=n_test, random_state=seed
        )
        return list(splitter.split(self.y, self.y))[number]


def load_tables(
    files: dict[str, str], names: Iterable[str], *, target: type = str
) -> tuple[list[TableSet], dict[str, str]]:
    """
    Return the tables that can be read, and the reasons why the others cannot; targets are labels, or float.

    `files` has, by name, the folder of ``NAME.csv.gz``. The last column is ``target``, an empty cell is
    missing; a file ``columns.json`` in the folder names the categorical columns, otherwise all are numeric.
    """
    import pandas as pd

    found, skipped = [], {}
    for name in names:
        path, missing = find_file(f"{files[name]}/{name}.csv.gz")
        if missing:
            skipped[name] = missing
            continue
        columns_file = path.with_name("columns.json")
        columns = json.loads(columns_file.read_text("utf-8"))[name] if columns_file.is_file() else {}
        texts = columns.get("categorical", [])
        types = dict.fromkeys(texts, str) | {"target": target}
        table = pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=types)
        y = table.pop("target").to_numpy(dtype=target)
        if target is str:
            y = np.unique(y, return_inverse=True)[1].astype(np.int64)
        kinds = {column: "category" if column in texts else float for column in table.columns}
        digest = hashlib.sha256(path.read_bytes() + repr(kinds).encode()).hexdigest()
        found.append(TableSet(name, table.astype(kinds), y, digest))
    return found, skipped


SCORES = {
    "log_loss_floored": "log-loss",
    "log_loss": "as returned",
    "brier_floored": "Brier",
    "ece": "ECE",
}
"""Scores of probabilities and the names of their columns."""

SCORE_NOTE = (
    "Log-loss and Brier score: probabilities with the same floor for every method, (P + η/C) / (1 + η) "
    f"with η = {FLOOR:g} and C classes. As returned: the log-loss without it. The Brier score is halved for "
    "any number of classes. ECE: expected calibration error as returned, 15 bins. ±: standard deviation "
    "over the splits. fail: scikit-learn's metric raised an error on what the method returned."
)


def measure_task(estimator: Any, task: Task, n_jobs: int) -> Values:
    """
    Fit on the training rows and score on the test rows.

    Scores of probabilities that cannot be computed are missing, and ``errors`` has the message.
    """
    limit = nullcontext() if "n_jobs" in estimator.get_params() else threadpool_limits(n_jobs)
    with limit, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        estimator.fit(task.X_train, task.y_train)
        fitted = time.perf_counter()
        # CatBoost returns a column if there are more than two classes.
        predicted = np.asarray(estimator.predict(task.X_test)).reshape(len(task.y_test))
        done = time.perf_counter()
        scores = _score_probabilities(estimator, task)
    y = task.y_test
    return {
        "accuracy": float(np.mean(y == predicted)),
        "balanced_accuracy": float(np.mean([np.mean(predicted[y == c] == c) for c in np.unique(y)])),
        **scores,
        "fit_seconds": fitted - start,
        "predict_seconds": done - fitted,
        "n_train": len(task.y_train),
        "n_test": len(y),
    }


def _score_probabilities(estimator: Any, task: Task) -> Values:
    if not hasattr(estimator, "predict_proba"):
        return {}
    errors: dict[str, str] = {}
    y = task.y_test
    values: Values = {"errors": errors}
    try:
        returned = estimator.predict_proba(task.X_test)
    except Exception as error:
        return {"errors": dict.fromkeys(SCORES, f"{type(error).__name__}: {error}")}
    classes = estimator.classes_
    scores: dict[str, Callable[[], float]] = {
        "log_loss_floored": lambda: log_loss(y, add_floor(returned), classes),
        "log_loss": lambda: log_loss(y, returned, classes),
        "brier_floored": lambda: brier_score(y, add_floor(returned), classes),
        "brier": lambda: brier_score(y, returned, classes),
        "ece": lambda: calibration_error(y, returned, classes),
        "roc_auc": lambda: roc_auc(y, returned, classes),
    }
    for name, score in scores.items():
        try:
            values[name] = score()
        except Exception as error:
            errors[name] = f"{type(error).__name__}: {' '.join(str(error).split())}"
    confident = returned.max(axis=1) >= 0.99
    correct = classes[returned.argmax(axis=1)] == y
    return values | {
        "n_confident": int(confident.sum()),
        "n_confident_correct": int(correct[confident].sum()),
    }


def add_floor(probabilities: Any) -> Any:
    """Return (P + η/C) / (1 + η), with the same η for every method."""
    return (probabilities + FLOOR / probabilities.shape[1]) / (1 + FLOOR)


def log_loss(y: Any, probabilities: Any, classes: Any) -> float:
    return float(metrics.log_loss(y, probabilities, labels=classes))


def brier_score(y: Any, probabilities: Any, classes: Any) -> float:
    return float(metrics.brier_score_loss(y, probabilities, labels=classes, scale_by_half=True))


def calibration_error(y: Any, probabilities: Any, classes: Any, n_bins: int = 15) -> float:
    """Return the expected calibration error of the most probable labels."""
    if not np.isfinite(probabilities).all():
        raise ValueError("The probabilities are not all finite.")
    confidence = probabilities.max(axis=1)
    correct = classes[probabilities.argmax(axis=1)] == y
    bins = np.clip(np.ceil(confidence * n_bins).astype(np.int64) - 1, 0, n_bins - 1)
    return float(np.abs(np.bincount(bins, weights=correct - confidence, minlength=n_bins)).sum() / len(y))


def roc_auc(y: Any, probabilities: Any, classes: Any) -> float:
    if len(classes) == 2:
        return float(metrics.roc_auc_score(y == classes[1], probabilities[:, 1]))
    return float(metrics.roc_auc_score(y, probabilities, multi_class="ovr", labels=classes))


@dataclass(frozen=True)
class Source:
    """A data set of a benchmark; `task` goes from a seed and the number of a split to rows."""

    name: str
    digest: str
    task: Callable[[int, int], Task]


class SplitBenchmark(Benchmark):
    """A benchmark that measures methods on splits of data sets; by default all jobs are of one part."""

    parts: ClassVar[tuple[str, ...]] = ("splits",)
    splits: ClassVar[tuple[int, int]] = (3, 1)
    """The number of splits by default, and with ``--quick``."""
    available: ClassVar[list[Method]] = METHODS

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--method", action="append", metavar="NAME", help="Only this method; repeatable.")
        parser.add_argument("--data", action="append", metavar="NAME", help="Only this data set; repeatable.")
        parser.add_argument("--splits", type=int, choices=range(1, N_SPLITS + 1), help="Number of splits.")
        text = "Seed of splits and methods: 0 for figures that are reported, 1000 and above for tuning."
        parser.add_argument("--seed", type=int, default=0, help=text)
        parser.add_argument("--details", action="store_true", help="Also print a table per score.")

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__(options)
        self.n_splits = options.splits or self.splits[options.quick]
        self.methods, self.skipped = choose_methods(options.method, self.available, quick=options.quick)
        self.sources = self.load()
        if not any(self.sources.values()):
            raise ValueError(f"No data set could be loaded. {' '.join(self.skipped.values())}")

    def load(self) -> dict[str, list[Source]]:
        """Return the data sets by part, and add those that are missing to `skipped`."""
        raise NotImplementedError

    def load_chosen(
        self, load: Callable[[list[str]], Any], sets: Sequence[str], quick: Sequence[str]
    ) -> list[Any]:
        """Load the data sets of ``--data`` or, by default, all or the quick ones."""
        names = choose(self.options.data, sets, "data set")
        if self.options.quick and not self.options.data:
            names = list(quick)
        found, skipped = load(names)
        self.skipped.update(skipped)
        return found

    def method_for(self, part: str, source: Source, method: Method) -> Method | None:
        """Return the method that is measured, None to leave it out."""
        return method

    def jobs(self) -> Iterator[Job]:
        seed, n_jobs = self.options.seed, self.options.n_jobs
        for part, sources in self.sources.items():
            for quick in (True, False):
                for split in range(self.n_splits):
                    for source in sources:
                        for method in self.methods:
                            used = self.method_for(part, source, method)
                            if used is not None and used.quick == quick:
                                run = partial(self._run, used, source, split)
                                key = (source.digest, seed, *used.key(n_jobs, seed))
                                yield Job(part, used.name, source.name, split, run, key)

    def _run(self, method: Method, source: Source, split: int) -> Found:
        estimator = method.make(self.options.n_jobs, self.options.seed)
        return {method.name: self.measure(estimator, source, split)}

    def measure(self, estimator: Any, source: Source, split: int) -> Values:
        return measure_task(estimator, source.task(self.options.seed, split), self.options.n_jobs)

    def warm_up(self, jobs: list[Job]) -> None:
        X, y = load_iris(return_X_y=True)
        waiting = {job.method for job in jobs}
        for method in self.methods:
            if method.name in waiting and method.needs is None:
                try:
                    measure_task(method.make(self.options.n_jobs, 0), Task(X, y, X, y), self.options.n_jobs)
                except Exception:
                    continue  # the measurement fails with the same error, and reports it

    @property
    def names(self) -> list[str]:
        return [method.name for method in self.methods]

    @property
    def scope(self) -> str:
        return f"{self.n_splits} splits, seed {self.options.seed}"


def cell(results: Results, part: str, method: str, data: str | Sequence[str], score: str) -> str:
    """Write the mean of a score with its deviation; "fail" if it could not be computed."""
    names = [data] if isinstance(data, str) else data
    values = [v for name in names for v in results.cell(part, method, name).values()]
    failed = any((part, method, name) in results.failures for name in names)
    if failed or any(score in v.get("errors", ()) for v in values):
        return "fail"
    return share(results.mean(part, method, data, score), 3, results.std(part, method, data, score))


def set_table(
    results: Results, title: str, methods: list[str], names: list[str], score: str, part: str = "splits"
) -> Table:
    """Make a table of one score: data sets by methods, and the means."""
    largest = score in ("accuracy", "balanced_accuracy", "roc_auc", "r2")
    rows = []
    for name, data in [*((name, name) for name in names), ("mean", names)]:
        cells = [cell(results, part, method, data, score) for method in methods]
        means = [results.mean(part, method, data, score) for method in methods]
        rows.append((name, *highlight(cells, means, largest=largest)))
    return Table(title, (score.replace("_", " "), *methods), rows)


def means_table(
    results: Results,
    methods: Sequence[Method],
    names: list[str],
    columns: dict[str, str],
    part: str = "splits",
) -> Table:
    """Make a table of the means over data sets: methods in their groups by scores."""
    rows: list[tuple[str, ...]] = []
    for group in dict.fromkeys(method.group for method in methods):
        rows.append((group,))
        for method in methods:
            if method.group == group:
                rows.append((method.name, *(cell(results, part, method.name, names, s) for s in columns)))
    notes = [SCORE_NOTE, *score_failures(results, part)]
    return Table(f"Means over {len(names)} data sets", ("mean", *columns.values()), rows, notes)


def score_failures(results: Results, part: str) -> list[str]:
    """Describe the scores that could not be computed: a sentence by method and score."""
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for (name, method, data), repeats in results.cells.items():
        for values in repeats.values() if name == part else ():
            for score, reason in values.get("errors", {}).items():
                found.setdefault((method, score), []).append((data, reason))
    return [
        f"{method}: {score} failed in {len(these)} splits of {', '.join(dict(these))}: {these[0][1]}"
        for (method, score), these in found.items()
    ]
