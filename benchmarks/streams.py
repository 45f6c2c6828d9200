"""Accuracy, speed and alarms of SAMKNN and SAMLANN beside river's classifiers and detectors."""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import alarms
from benchmarks.harness import (
    FOLDER,
    NAN,
    Benchmark,
    Check,
    Found,
    Job,
    Report,
    Results,
    Table,
    Values,
    check,
    choose,
    highlight,
    number,
    peak_memory,
    positive,
    share,
    time_in_turns,
)
from benchmarks.paper import lowest
from benchmarks.tabular import FLOOR, find_file, load_sets
from lann._support.types import Floats, Labels

FILES = {
    "keystroke": "streams/keystroke.csv.gz",
    "outdoor": "paper/outdoor-objects.csv.gz",
    "weather": "streams/weather.csv.gz",
    "electricity": "streams/electricity.csv.gz",
    "sea": "streams/sea.csv.gz",
    "rialto": "streams/rialto.csv.gz",
    "moving-squares": "streams/moving-squares.csv.gz",
    "interchanging-rbf": "streams/interchanging-rbf.csv.gz",
    "transient-chessboard": "streams/transient-chessboard.csv.gz",
    "rotating-hyperplane": "streams/rotating-hyperplane.csv.gz",
    "covtype": "streams/covtype.csv.gz",
    "poker-hand": "streams/poker-hand.csv.gz",
}
"""By stream: its file in the folder named by ``LANN_DATA``."""
STREAMS = tuple(FILES)
QUICK_STREAMS = ("keystroke", "outdoor", "electricity")
STREAM, SPEED, MEMORY, _ = PARTS = "streams", "speed", "memory", alarms.PART
MOST_ROWS = 200_000
BASELINE_ROWS, QUICK_BASELINE_ROWS = 20_000, 5_000
REFERENCE_ERRORS = {
    "keystroke": (1_600, 8.75),
    "outdoor": (4_000, 11.75),
    "weather": (18_159, 21.87),
    "electricity": (10_000, 18.74),
    "sea": (10_000, 12.42),
    "moving-squares": (10_000, 2.72),
    "rialto": (15_000, 18.34),
    "interchanging-rbf": (10_000, 2.29),
    "transient-chessboard": (10_000, 8.45),
    "covtype": (10_000, 18.50),
}
"""By stream: a number of first rows, and the error in percent of the authors' program on them."""
MARK_EVERY = 1000
"""Scores are stored for the stream up to every multiple of this number of rows, and up to its end."""
BATCH = 1000
SAM_KNN, SAM_LANN, ARF = "samknn", "samlann", "arf"
SLOWEST_ROWS = 10_000
NAMES = {
    "accuracy": "accuracy",
    "kappa_temporal": "kappa-temporal",
    "log_loss": "log-loss as returned",
    "log_loss_floored": "log-loss",
}


def read_stream(path: Path) -> tuple[Floats, Labels]:
    """Read X and class indices from a file, in the order of its rows."""
    import pandas as pd

    table = pd.read_csv(path, dtype={"target": str})
    y = np.unique(table.pop("target").to_numpy(dtype=str), return_inverse=True)[1].astype(np.int64)
    return np.ascontiguousarray(table.to_numpy(dtype=np.float64)), y


class Record(NamedTuple):
    """
    What a method predicted, row by row, before it learned the row.

    Parameters
    ----------
    predicted
        Class indices (n_rows,); −1 where the method predicted nothing.
    true_probability
        The probability that the method gave to the true class (n_rows,); 0 for a class that it had not seen.
    """

    predicted: Labels
    true_probability: Floats


def score_up_to(record: Record, y: Labels, n_classes: int, n_rows: int) -> dict[str, float]:
    """
    Score the predictions of the first rows, every one counted from the first row on.

    The log-loss is scikit-learn's: a probability of 0 counts as the machine epsilon.
    """
    predicted, truth = record.predicted[:n_rows], y[:n_rows]
    probability = record.true_probability[:n_rows]
    accuracy = float(np.mean(predicted == truth))
    # The classifier that predicts the label before. It has nothing to say about the first row.
    no_change = float(np.sum(truth[1:] == truth[:-1]) / n_rows)
    counts = (np.bincount(rows, minlength=n_classes) / n_rows for rows in (truth, predicted[predicted >= 0]))
    chance = float(np.dot(*counts))
    epsilon = np.finfo(np.float64).eps
    floored = (probability + FLOOR / n_classes) / (1 + FLOOR)
    return {
        "accuracy": accuracy,
        "kappa": _above(accuracy, chance),
        "kappa_temporal": _above(accuracy, no_change),
        "log_loss": float(-np.mean(np.log(np.clip(probability, epsilon, 1 - epsilon)))),
        "log_loss_floored": float(-np.mean(np.log(floored))),
    }


def _above(accuracy: float, other: float) -> float:
    return (accuracy - other) / (1 - other) if other < 1 else 0.0


def run_river(model: Any, X: Floats, y: Labels) -> Record:
    """Predict and learn row by row through river's interface; the label is that of `predict_one`."""
    names = [f"f{i}" for i in range(X.shape[1])]
    labels = y.tolist()
    predicted = np.full(len(labels), -1)
    probability = np.zeros(len(labels))
    for i, label in enumerate(labels):
        row = dict(zip(names, X[i].tolist(), strict=True))
        shares = model.predict_proba_one(row)
        shares.pop(None, None)  # "no label yet" of earlier versions of river
        if shares:
            predicted[i] = max(shares, key=shares.get)  # what `predict_one` does, without a second search
            probability[i] = shares.get(label, 0.0)
        model.learn_one(row, label)
    return Record(predicted, probability)


def run_own(model: Any, X: Floats, y: Labels) -> Record:
    """Predict and learn with an estimator of lann; the first row is not predicted, as by river's."""
    predicted = np.full(len(y), -1)
    probability = np.zeros(len(y))
    for start in range(0, len(y), BATCH):
        rows = slice(start, min(start + BATCH, len(y)))
        shares = model.test_then_train(X[rows], y[rows])
        known = shares.sum(axis=1) > 0
        predicted[rows][known] = model.classes_[shares[known].argmax(axis=1)]
        columns = np.searchsorted(model.classes_, y[rows])
        probability[rows] = shares[np.arange(len(shares)), columns]
    predicted[0], probability[0] = -1, 0.0
    return Record(predicted, probability)


def measure_stream(model: Any, X: Floats, y: Labels, n_classes: int, run: Callable[..., Record]) -> Values:
    """Predict and learn every row; scores are those up to every thousandth row, and to the end."""
    start = time.process_time()
    record = run(model, X, y)
    seconds = time.process_time() - start
    n_rows = len(y)
    marks = sorted({*range(MARK_EVERY, n_rows, MARK_EVERY), n_rows})
    at = {str(mark): score_up_to(record, y, n_classes, mark) for mark in marks}
    speed = n_rows / seconds
    return {"n_rows": n_rows, **at[str(n_rows)], "seconds": seconds, "rows_per_second": speed, "at": at}


@dataclass(frozen=True)
class Method:
    """A classifier of streams; `make` is None for ours, whose label is the name of the class."""

    name: str
    label: str
    make: Callable[[], Any]
    is_slow: bool = True
    is_ours: bool = False
    most_rows: int = MOST_ROWS

    @property
    def run(self) -> Callable[..., Record]:
        return run_own if self.is_ours else run_river


def _river(module: str, name: str, **parameters: Any) -> Any:
    return getattr(import_module(f"river.{module}"), name)(**parameters)


def _neighbors(window: int) -> Any:
    return _river("neighbors", "KNNClassifier", engine=_river("neighbors", "LazySearch", window_size=window))


def _neighbors_adwin() -> Any:
    return _river(
        "drift",
        "DriftRetrainingClassifier",
        model=_neighbors(1000),
        drift_detector=_river("drift", "ADWIN"),
        train_in_background=False,  # ADWIN has no warnings; at a drift the window is emptied
    )


def _scaled_neighbors() -> Any:
    return _river("preprocessing", "StandardScaler") | _neighbors(5000)


def _ours(name: str, **parameters: Any) -> Any:
    return getattr(import_module("lann.streams"), name)(random_state=0, **parameters)


METHODS = [
    Method("no-change", "no change", lambda: _river("dummy", "NoChangeClassifier"), is_slow=False),
    Method("majority", "majority", lambda: _river("dummy", "PriorClassifier"), is_slow=False),
    Method(ARF, "ARF", lambda: _river("forest", "ARFClassifier", seed=0)),
    Method("hat", "HAT", lambda: _river("tree", "HoeffdingAdaptiveTreeClassifier", seed=0)),
    Method("knn-1000", "kNN 1000", lambda: _neighbors(1000)),
    Method("knn-adwin", "kNN ADWIN", _neighbors_adwin),
    Method("knn-5000", "kNN 5000", lambda: _neighbors(5000)),
    Method("knn-5000-scaled", "kNN 5000 scaled", _scaled_neighbors),
    Method("srp", "SRP", lambda: _river("ensemble", "SRPClassifier", seed=0), most_rows=SLOWEST_ROWS),
    Method(SAM_KNN, "SAMKNN", lambda: _ours("SAMKNN"), is_slow=False, is_ours=True),
    Method(SAM_LANN, "SAMLANN", lambda: _ours("SAMLANN"), is_slow=False, is_ours=True),
]

SPEED_DATA = "window 500 × 18 features, 23100 rows"


def time_small_window() -> Found:
    """Time SAMKNN with a small window beside river's kNN, on image segmentation ten times."""
    data = load_sets(["image-segmentation"])[0][0]
    order = np.random.default_rng(0).permutation(len(data.y))
    X = np.tile(np.delete(data.X, 2, axis=1)[order], (10, 1))  # the third feature is constant
    y = np.tile(data.y[order], 10)
    ours = lambda: run_own(_ours("SAMKNN", window_size=500), X, y)  # noqa: E731
    ours()
    times = time_in_turns(ours, lambda: run_river(_neighbors(500), X, y), repeats=3, warm_up=False)
    own, other = map(min, times)
    note = f"{other / own:.1f} times river's kNN"
    river = {"rows_per_second": len(y) / other, "note": "LazySearch"}
    return {SAM_KNN: {"rows_per_second": len(y) / own, "note": note}, "river's KNNClassifier": river}


def measure_memory(n_rows: int) -> Found:
    """Run SAMKNN over generated rows in a process of its own."""
    command = [
        sys.executable,
        "-c",
        f"from benchmarks.streams import memory_process; memory_process({n_rows})",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=FOLDER.parent)
    found = json.loads(done.stdout)
    note = f"peak of the process; accuracy {found['accuracy']:.3f}, {found['rows_per_second']:.0f} rows/s"
    return {SAM_KNN: {"megabytes": found["megabytes"], "note": note}}


def memory_process(n_rows: int) -> None:
    """Learn rows of drifting clusters, and print the peak of memory."""
    from lann.streams import SAMKNN, prequential

    def batches() -> Iterator[tuple[Floats, Labels]]:
        rng = np.random.default_rng(0)
        for start in range(0, n_rows, BATCH):
            if start % 20_000 == 0:
                centers = rng.normal(size=(8, 8))
            which = rng.integers(8, size=min(BATCH, n_rows - start))
            yield centers[which] + 0.5 * rng.normal(size=(len(which), 8)), which % 4

    start = time.perf_counter()
    accuracy = prequential(SAMKNN(random_state=0), batches()).scores.accuracy
    speed = n_rows / (time.perf_counter() - start)
    print(json.dumps({"megabytes": peak_memory() / 1e6, "accuracy": accuracy, "rows_per_second": speed}))


class Streams(Benchmark):
    parts = PARTS
    slow_parts = (MEMORY,)
    quick = f"{', '.join(QUICK_STREAMS)} only, and no {MEMORY}."

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--method", action="append", metavar="NAME", help="Only this method; repeatable.")
        parser.add_argument("--data", action="append", metavar="NAME", help="Only this stream; repeatable.")
        parser.add_argument(
            "--rows", type=positive, default=MOST_ROWS, help="Largest number of rows of a stream."
        )
        text = (
            f"Rows for river's slower methods. Default: {BASELINE_ROWS}, with --quick {QUICK_BASELINE_ROWS}."
        )
        parser.add_argument("--baseline-rows", type=positive, help=text)

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__(options)
        self.baseline_rows = options.baseline_rows or (
            QUICK_BASELINE_ROWS if options.quick else BASELINE_ROWS
        )
        if self.baseline_rows % MARK_EVERY:
            raise ValueError(f"--baseline-rows must be a multiple of {MARK_EVERY}; got {self.baseline_rows}.")
        names = choose(options.method, [method.name for method in METHODS], "method")
        has_river = find_spec("river") is not None
        self.methods = [m for m in METHODS if m.name in names and (m.is_ours or has_river)]
        if not has_river:
            self.skipped["river's classifiers"] = "pip install 'lann[streams]'."
        self.files: dict[str, Path] = {}
        for name in choose(options.data or (QUICK_STREAMS if options.quick else ()), STREAMS, "stream"):
            path, missing = find_file(FILES[name])
            if missing:
                self.skipped[name] = missing
            else:
                self.files[name] = path

    def jobs(self) -> Iterator[Job]:
        if alarms.PART in self.chosen and find_spec("river"):
            readers = {name: partial(read_stream, path) for name, path in self.files.items()}
            yield from alarms.jobs(readers, quick=self.options.quick)
        for method in self.methods if STREAM in self.chosen else ():
            rows = self.options.rows
            rows = min(rows, self.baseline_rows, method.most_rows) if method.is_slow else rows
            model = method.make()
            parameters = repr(model) if method.is_ours else f"{type(model).__name__} {model._get_params()}"
            for name, path in self.files.items():
                key = (parameters, rows, hashlib.sha256(path.read_bytes()).hexdigest())
                yield Job(STREAM, method.name, name, 0, partial(self._measure, method, path, rows), key)
        if SAM_KNN in [method.name for method in self.methods]:
            if SPEED in self.chosen and find_spec("river"):
                sets, skipped = load_sets(["image-segmentation"])
                self.skipped.update(skipped)
                if sets:
                    yield Job(SPEED, SAM_KNN, SPEED_DATA, 0, time_small_window)
            for n_rows in (100_000, 1_000_000) if MEMORY in self.chosen else ():
                yield Job(MEMORY, SAM_KNN, f"{n_rows} rows × 8 features", 0, partial(measure_memory, n_rows))

    def _measure(self, method: Method, path: Path, rows: int) -> Found:
        X, y = read_stream(path)
        n_classes = int(y.max()) + 1
        return {method.name: measure_stream(method.make(), X[:rows].copy(), y[:rows], n_classes, method.run)}

    def warm_up(self, jobs: list[Job]) -> None:
        X, y = np.random.default_rng(0).normal(size=(300, 3)), np.arange(300) % 2
        for method in self.methods:
            if method.is_ours and any(job.method == method.name for job in jobs):
                run_own(method.make(), X, y)

    def report(self, results: Results) -> Report:
        rows, streams = self.baseline_rows, list(self.files)
        tables: list[Table] = []
        if STREAM in self.chosen:
            for n_rows in (rows, *([SLOWEST_ROWS] if rows > SLOWEST_ROWS else []), None):
                methods = [m.name for m in self.methods if n_rows is not None or not m.is_slow]
                tables += stream_tables(results, methods, streams, n_rows, short=n_rows == SLOWEST_ROWS)
            tables.append(self._reference_table(results, streams))
        parts = [
            (
                f"{method}, {name}",
                number(values.get("rows_per_second", values.get("megabytes"))),
                unit,
                values["note"],
            )
            for part, unit in ((SPEED, "rows/s"), (MEMORY, "MB"))
            for name in results.data_sets(part)
            for method in results.methods(part)
            if (values := results.first(part, method, name))
        ]
        tables += [Table("Speed and memory", ("", "measured", "", ""), parts)] if parts else []
        tables += alarms.tables(results) if results.methods(alarms.PART) else []
        introduction = (
            "Every row is predicted before it is learned, in the order of the file; every prediction "
            f"counts. At most {self.options.rows} rows of a stream; river's slower classifiers have the "
            f"first {rows}, on which all methods are compared. Parameters are the defaults; random states "
            "are 0. Features are as they are in the file."
        )
        return Report(introduction, tables, self._checks(results))

    def _reference_table(self, results: Results, streams: list[str]) -> Table:
        errors = {name: reference_error(results, name) for name in REFERENCE_ERRORS if name in streams}
        rows = [
            (
                name,
                str(n_rows),
                f"{reference:.2f}",
                number(errors[name], 4),
                number(errors[name] - reference, 2),
            )
            for name, (n_rows, reference) in REFERENCE_ERRORS.items()
            if name in streams
        ]
        note = "Both have the features as they are, 5 neighbors and 5000 rows; every prediction counts."
        head = ("error in %", "first rows", "authors", "SAMKNN", "difference")
        return Table("SAMKNN beside the authors' program", head, rows, [note])

    def _checks(self, results: Results) -> list[Check]:
        def mean(score: str, n_rows: int | None, method: str) -> float:
            return mean_of(results, method, list(STREAMS), score, n_rows)

        rows = self.baseline_rows
        away = [
            -abs(reference_error(results, n) - reference) for n, (_, reference) in REFERENCE_ERRORS.items()
        ]
        speeds = [results.mean(STREAM, SAM_KNN, name, "rows_per_second") for name in STREAMS]
        margins = [
            score_of(results, SAM_LANN, n, "accuracy", None) - score_of(results, SAM_KNN, n, "accuracy", None)
            for n in STREAMS
        ]
        n_ahead = NAN if sum(margins) != sum(margins) else sum(margin > 0 for margin in margins)
        memory = [results.mean(MEMORY, SAM_KNN, name, "megabytes") for name in results.data_sets(MEMORY)]
        growth = memory[1] - memory[0] if len(memory) == 2 else NAN
        small = results.mean(SPEED, SAM_KNN, SPEED_DATA, "rows_per_second")
        lead = mean("accuracy", None, SAM_LANN) - mean("accuracy", None, SAM_KNN)
        loss = mean("log_loss", rows, SAM_LANN) - mean("log_loss", rows, ARF)
        return [
            check("samknn: error within .5 points of the authors' program", lowest(away), least=-0.5),
            check("samknn: at least 2000 rows/s on every stream", lowest(speeds), least=2000),
            check("samlann: more accurate than samknn on at least 8 streams", n_ahead, least=8),
            check("samlann: more accurate than samknn on the mean", lead, least=1e-8),
            check(
                f"samlann: lower mean log-loss than {ARF}, first {rows} rows, as returned", loss, most=-1e-8
            ),
            check("samknn: at least 10000 rows/s with a small window", small, least=10_000),
            check("samknn: memory grows by at most 5 MB from 100 000 to a million rows", growth, most=5),
            *alarms.checks(results),
        ]


def score_of(results: Results, method: str, stream: str, score: str, n_rows: int | None) -> float:
    """Return a score of the first rows of a stream, None for all; NaN if a method has not seen as many."""
    values = results.first(STREAM, method, stream)
    if values is None:
        return NAN
    seen = [one["n_rows"] for m in results.methods(STREAM) if (one := results.first(STREAM, m, stream))]
    if n_rows is None or n_rows >= max(seen):
        return values[score] if n_rows is None or values["n_rows"] == max(seen) else NAN
    return values["at"][str(n_rows)][score] if str(n_rows) in values["at"] else NAN


def mean_of(results: Results, method: str, streams: list[str], score: str, n_rows: int | None) -> float:
    values = [score_of(results, method, stream, score, n_rows) for stream in streams]
    return statistics.fmean(values) if values else NAN


def reference_error(results: Results, name: str) -> float:
    """Return the error in percent on as many rows as of the authors' program."""
    return 100 * (1 - score_of(results, SAM_KNN, name, "accuracy", REFERENCE_ERRORS[name][0]))


def stream_tables(
    results: Results, methods: list[str], streams: list[str], n_rows: int | None, *, short: bool
) -> Iterator[Table]:
    """Make a table of every score by stream, and one of the means."""
    scope = "whole streams" if n_rows is None else f"first {n_rows} rows"
    means = {}
    for score, name in NAMES.items():
        largest = score in ("accuracy", "kappa_temporal")
        means[score] = [mean_of(results, method, streams, score, n_rows) for method in methods]
        rows = []
        for stream in streams:
            values = [score_of(results, method, stream, score, n_rows) for method in methods]
            rows.append((stream, *highlight([share(value) for value in values], values, largest=largest)))
        rows.append(("mean", *highlight([share(v) for v in means[score]], means[score], largest=largest)))
        if not short:
            yield Table(f"{name}, {scope}", (name, *methods), rows)
    rows = []
    for i, method in enumerate(methods):
        speeds = [s for name in streams for s in results.values(STREAM, method, name, "rows_per_second")]
        speed = f"{min(speeds):.0f} to {max(speeds):.0f}" if speeds else ""
        rows.append((method, *(share(values[i]) for values in means.values()), speed))
    note = (
        "A probability of 0 for the true label counts as the machine epsilon in the log-loss as returned; "
        "the log-loss is that of (P + η/C) / (1 + η) with η = .02 and C classes. Rows/s: lowest and "
        "highest over the streams, predicted and learned one by one, per second of processor time."
    )
    yield Table(
        f"Means over {len(streams)} streams, {scope}", ("mean", *NAMES.values(), "rows/s"), rows, [note]
    )


BENCHMARK = Streams
