"""Time, memory and accuracy from 10 000 to a million rows, beside other searches and boosting."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

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
    number,
    positive,
)
from benchmarks.streams import FILES
from benchmarks.tabular import find_file, load_sets

ROWS, RECALL, COVERTYPE, WIDE, DASK = PARTS = ("rows", "recall", "covertype", "wide", "dask")
SIZES = (10_000, 31_600, 100_000, 316_000, 1_000_000)
QUICK_SIZES = SIZES[:2]
FEATURES = (20, 50)
N_TEST = 10_000
LANN, HNSW, FOREST, BOOSTING = "lann", "faiss-hnsw", "forest", "hist-boosting"
ROWS_METHODS = (LANN, HNSW, "knn-brute", "knn-tree", "faiss-flat", BOOSTING, "lightgbm")
COVERTYPE_METHODS = (
    LANN, BOOSTING, "knn-1", "knn-5", "lightgbm", FOREST, "knn-1-scaled", "knn-5-scaled",
    "hist-boosting-large", "lightgbm-large",
)  # fmt: skip
METHODS = tuple(dict.fromkeys((*ROWS_METHODS, *COVERTYPE_METHODS)))
# Products of training rows and queries at most; slow methods predict fewer rows.
MOST_PAIRS = {"knn-brute": 2e9, "knn-tree": 2e8}
WIDE_SHAPES = ((60, 1_000), (60, 3_000), (60, 10_000), (30, 20_000))
USPS_NAME = "usps 2324 × 256"
COVERTYPE_NAME = "covertype"
DASK_ROWS, DASK_FEATURES, DASK_WORKERS = 400_000, 20, (1, 2)
ONE_PROCESS = "one process"


def run_child(task: Values, minutes: float) -> Any:
    """Run a measurement in a process of its own."""
    threads = dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(task["n_jobs"])
    )
    command = [sys.executable, "-m", "benchmarks.scale.process", json.dumps(task)]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            cwd=FOLDER.parent,
            env=os.environ | threads,
            timeout=60 * minutes,
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"ended after {minutes:g} minutes.") from None
    if done.returncode:
        raise RuntimeError(f"the process failed: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def size_name(n_rows: int, n_features: int) -> str:
    return f"{n_rows} × {n_features}"


def exponent(values: Mapping[int, float]) -> float:
    """
    Return b of the power law c · size^b that is nearest to the values, on logarithmic scales.

    Parameters
    ----------
    values
        By size. None is returned for fewer than two, or if one of them is not positive.
    """
    if len(values) < 2 or min(values.values()) <= 0:
        return NAN
    return float(np.polyfit(np.log(list(values)), np.log(list(values.values())), 1)[0])


class Scale(Benchmark):
    parts = PARTS
    slow_parts = (COVERTYPE, DASK)
    main_score = "fit_seconds"
    quick = f"up to {QUICK_SIZES[-1]} rows, one wide table, and no {COVERTYPE} and {DASK}."

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add("--method", action="append", metavar="NAME", help="Only this method; repeatable.")
        add("--rows", type=positive, help="Largest number of planted training rows.")
        add(
            "--features",
            type=int,
            action="append",
            choices=FEATURES,
            help="Only this number of features; repeatable.",
        )
        add("--covertype-rows", type=positive, help="Use a random sample of this many rows of covertype.")
        add("--seed", type=int, default=0, help="Seed of data and methods.")
        add("--minutes", type=float, default=90, help="A measurement that takes longer is ended, and failed.")
        add("--plot", type=Path, metavar="IMAGE", help="Draw time and memory by the number of rows.")

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__(options)
        names = choose(options.method, METHODS, "method")
        packages = {"faiss": "faiss", "light": "lightgbm"}
        missing = [n for n in names if n[:5] in packages and find_spec(packages[n[:5]]) is None]
        self.skipped.update(dict.fromkeys(missing, "its package is not installed."))
        self.methods = [name for name in names if name not in missing]
        largest = options.rows or (QUICK_SIZES if options.quick else SIZES)[-1]
        self.sizes = [size for size in SIZES if size <= largest]
        self.features = options.features or list(FEATURES)
        self.wide_shapes = WIDE_SHAPES[:1] if options.quick else WIDE_SHAPES

    def jobs(self) -> Iterator[Job]:
        if ROWS in self.chosen or RECALL in self.chosen:
            # The most important figures first: many features, LANN and faiss.
            for n_features in sorted(self.features, reverse=True):
                for method in ROWS_METHODS if ROWS in self.chosen else (LANN,):
                    for n_rows in self.sizes:
                        n_queries = int(min(N_TEST, max(MOST_PAIRS.get(method, 1e99) // n_rows, 50)))
                        task = {"n_rows": n_rows, "n_features": n_features, "n_queries": n_queries}
                        yield from self._jobs(ROWS, method, size_name(n_rows, n_features), task)
        if COVERTYPE in self.chosen:
            _, missing = find_file(FILES["covtype"])
            self.skipped.update({COVERTYPE_NAME: missing} if missing else {})
            for method in () if missing else COVERTYPE_METHODS:
                yield from self._jobs(
                    COVERTYPE, method, COVERTYPE_NAME, {"most_rows": self.options.covertype_rows}
                )
        if WIDE in self.chosen:
            for n_rows, n_features in self.wide_shapes:
                for method in (LANN, FOREST):
                    task = {"n_rows": n_rows, "n_features": n_features}
                    yield from self._jobs(WIDE, method, size_name(n_rows, n_features), task)
            yield from self._usps_jobs()
        if DASK in self.chosen and LANN in self.methods:
            if find_spec("distributed"):
                yield Job(DASK, LANN, size_name(DASK_ROWS, DASK_FEATURES), 0, self._dask, self.options.seed)
            else:
                self.skipped[DASK] = "needs distributed."

    def _jobs(self, part: str, method: str, data: str, task: Values) -> Iterator[Job]:
        if method in self.methods:
            full = {"kind": part, "method": method, **self._common, **task}
            run = partial(self._child, method, full)
            yield Job(part, method, data, 0, run, json.dumps(full))

    @property
    def _common(self) -> Values:
        return {"seed": self.options.seed, "n_jobs": self.options.n_jobs}

    def _child(self, method: str, task: Values) -> Found:
        return {method: run_child(task, self.options.minutes)}

    def _usps_jobs(self) -> Iterator[Job]:
        if {LANN, FOREST} <= set(self.methods):
            sets, skipped = load_sets(["usps"])
            self.skipped.update(skipped)
            for split in range(3 if sets else 0):
                task = {"kind": "usps", "split": split, **self._common}
                run = partial(run_child, task, self.options.minutes)
                yield Job(WIDE, f"{LANN} and {FOREST}", USPS_NAME, split, run, json.dumps(task))

    def _dask(self) -> Found:
        found: Found = {}
        for n_workers in (0, *DASK_WORKERS):
            task = {"kind": "dask", "n_rows": DASK_ROWS, "n_features": DASK_FEATURES, "n_queries": N_TEST}
            task |= {"n_workers": n_workers, **self._common, "n_jobs": 1}
            found[f"{n_workers} workers" if n_workers else ONE_PROCESS] = run_child(
                task, self.options.minutes
            )
        predicted = {name: np.array(values.pop("predicted")) for name, values in found.items()}
        for name, values in found.items():
            values["same"] = float(np.mean(predicted[name] == predicted["1 workers"]))
        return found

    def warm_up(self, jobs: list[Job]) -> None:
        if any(job.method == LANN for job in jobs):  # enough rows for the kernels of a fit on many rows
            task = {"kind": ROWS, "method": LANN, "n_rows": 60_000, "n_features": 12, "n_queries": 2000}
            run_child({**task, "seed": 1000, "n_jobs": self.options.n_jobs}, self.options.minutes)

    def report(self, results: Results) -> Report:
        if self.options.plot is not None:
            self._draw(results)
        tables = []
        if ROWS in self.chosen:
            tables += [self._size_table(results, *spec) for spec in SIZE_TABLES]
        if ROWS in self.chosen or RECALL in self.chosen:
            tables.append(self._lann_table(results))
        tables += [
            self._part_table(results, COVERTYPE, COVERTYPE_COLUMNS),
            self._part_table(results, WIDE, WIDE_COLUMNS),
            self._part_table(results, DASK, DASK_COLUMNS),
            extrapolation_table(results, self.features[-1], self.sizes, self.options.n_jobs),
        ]
        introduction = (
            f"{self.options.n_jobs} threads for every method, seed {self.options.seed}. Every measurement "
            "is made in a process of its own. Planted rows: float32, three classes, nine regions in each "
            "of which other features decide, 5 % noisy labels, so that no accuracy can be above .95."
        )
        return Report(introduction, [table for table in tables if table.rows], self._checks(results))

    def _by_size(self, results: Results, method: str, score: str, n_features: int) -> dict[int, float]:
        values = {n: results.mean(ROWS, method, size_name(n, n_features), score) for n in self.sizes}
        return {size: value for size, value in values.items() if value == value}

    def _size_table(self, results: Results, title: str, score: str, factor: float, growth: bool) -> Table:
        rows: list[tuple[str, ...]] = []
        for n_features in self.features:
            rows.append((f"{n_features} features",))
            for method in (name for name in ROWS_METHODS if name in self.methods):
                values = self._by_size(results, method, score, n_features)
                cells = [number(factor * values.get(size, NAN)) for size in self.sizes]
                times = {n: 1 / v for n, v in values.items()} if score == "rows_per_second" else values
                rows.append((method, *cells, *([number(exponent(times))] if growth else [])))
        return Table(title, ("", *map(str, self.sizes), *(["exponent"] if growth else [])), rows)

    def _lann_table(self, results: Results) -> Table:
        rows: list[tuple[str, ...]] = []
        for n_features in self.features:
            rows.append((f"{n_features} features",))
            for score, (text, factor) in LANN_FIGURES.items():
                values = self._by_size(results, LANN, score, n_features)
                rows.append((text, *(number(factor * values.get(size, NAN), 4) for size in self.sizes)))
            other = [faiss_seconds(results, size, n_features) for size in self.sizes]
            rows.append(("faiss: graph and 50 neighbors of all rows, seconds", *map(number, other)))
        note = (
            "Recall: of the neighbors of 1000 test rows that vote if the candidates come from an exact "
            "search under the same class metrics, the share that `kneighbors` finds."
        )
        return Table("LANN by the number of rows", ("LANN", *map(str, self.sizes)), rows, [note])

    def _part_table(self, results: Results, part: str, columns: dict[str, str]) -> Table:
        rows = []
        for name in results.data_sets(part):
            for method in results.methods(part):
                if values := results.first(part, method, name):
                    cells = [number(values.get(score, NAN), 4) for score in columns]
                    rows.append((f"{name}, {method}", *cells))
        return Table(part, (part, *columns.values()), rows)

    def _checks(self, results: Results) -> list[Check]:
        name = size_name(SIZES[-1], 50)
        value = partial(results.mean, ROWS, LANN, name)
        cover = partial(results.mean, COVERTYPE)
        ours = cover(LANN, COVERTYPE_NAME, "accuracy")
        defaults = [cover(m, COVERTYPE_NAME, "accuracy") for m in (FOREST, BOOSTING, "lightgbm")]
        knn = [cover(m, COVERTYPE_NAME, "accuracy") for m in COVERTYPE_METHODS if m.startswith("knn")]
        times = cover(LANN, COVERTYPE_NAME, "fit_seconds") / cover(BOOSTING, COVERTYPE_NAME, "fit_seconds")
        wide = partial(results.mean, WIDE, LANN, size_name(60, 10_000))
        usps = [min(results.values(WIDE, m, USPS_NAME, "fit_seconds"), default=NAN) for m in (LANN, FOREST)]
        workers = [results.mean(DASK, f"{n} workers", results.data_sets(DASK), "fit_seconds") for n in (1, 2)]
        same = results.mean(DASK, "2 workers", results.data_sets(DASK), "same")
        ratio = value("fit_seconds") / faiss_seconds(results, SIZES[-1], 50)
        growth = [exponent(self._by_size(results, LANN, "fit_seconds", n)) for n in FEATURES]
        grown = max(growth) if len(self.sizes) == len(SIZES) else NAN
        return [
            check(f"{name}: fit at most 3 times as long as faiss' graph and 50 neighbors", ratio, most=3),
            check(f"{name}: peak of the process below 6 GB", value("peak_predict_gb"), most=6),
            check(f"{name}: predict at least 5000 rows/s", value("rows_per_second"), least=5000),
            check(f"{name}: recall of neighbors at least .97", value("recall"), least=0.97),
            check("fit grows at most as m^1.15 from 10k to 1M rows", grown, most=1.15),
            check("covertype: at least as accurate as the best kNN", ours - float(np.max(knn)), least=0),
            check(
                "covertype: within .01 of forest and boosting", ours - float(np.max(defaults)), least=-0.01
            ),
            check(f"covertype: fit at most 5 times as long as {BOOSTING}", times, most=5),
            check("60 × 10000: fit below 20 s", wide("fit_seconds"), most=20),
            check("60 × 10000: explain a first row below 1 s", wide("explain_seconds"), most=1),
            check(f"{USPS_NAME}: fit at most twice as long as a forest", usps[0] / usps[1], most=2),
            check("Dask: two workers 1.6 times as fast as one", workers[0] / workers[1], least=1.6),
            check("Dask: the same predictions with any number of workers", same, least=1),
        ]

    def _draw(self, results: Results) -> None:
        from matplotlib import pyplot as plt

        panels = {"fit, seconds": "fit_seconds", "predict one row, seconds": "one_row_seconds"}
        panels["peak memory of the fit above the data, GB"] = "above_gb"
        shape = len(panels), len(self.features)
        size = (1 + 4.6 * shape[1], 3.7 * shape[0])
        figure, axes = plt.subplots(*shape, figsize=size, sharex=True, squeeze=False, layout="constrained")
        for row, (label, score) in zip(axes, panels.items(), strict=True):
            for ax, n_features in zip(row, self.features, strict=True):
                for method in ROWS_METHODS:
                    values = self._by_size(results, method, score, n_features)
                    if values:
                        text = f"{method}, $m^{{{exponent(values):.2f}}}$"
                        ax.plot(list(values), list(values.values()), "o-", label=text)
                ax.set(
                    xscale="log", yscale="log", ylabel=label, xlabel="rows m", title=f"{n_features} features"
                )
                ax.legend(fontsize=7, frameon=False)
        figure.savefig(self.options.plot, dpi=150)
        plt.close(figure)


SIZE_TABLES = (
    ("Fit, seconds", "fit_seconds", 1.0, True),
    ("Predict, rows per second", "rows_per_second", 1.0, True),
    ("Predict one row, milliseconds", "one_row_seconds", 1e3, True),
    ("Memory, peak of the process in GB during the fit, with the data", "peak_gb", 1.0, False),
    ("Memory, peak of the fit in GB above the data", "above_gb", 1.0, True),
    ("Accuracy", "accuracy", 1.0, False),
)
LANN_FIGURES = {
    "fit_seconds": ("fit, seconds", 1.0),
    "kept_gb": ("kept after the fit, GB above the data", 1.0),
    "rows_per_second_again": ("predict, rows/s, second call", 1.0),
    "n_neighbors": ("neighbors that vote", 1.0),
    "recall": ("recall of these", 1.0),
    "explain_seconds": ("explain the first row, ms", 1e3),
    "explain_again_seconds": ("explain the second row, ms", 1e3),
}
COVERTYPE_COLUMNS = {
    "accuracy": "accuracy",
    "log_loss": "log-loss as returned",
    "log_loss_floored": "log-loss",
    "fit_seconds": "fit s",
    "rows_per_second": "predict rows/s",
    "peak_gb": "peak GB",
}
WIDE_COLUMNS = {
    "fit_seconds": "fit s",
    "explain_seconds": "explain first row s",
    "explain_again_seconds": "second s",
    "peak_gb": "peak GB",
    "accuracy": "accuracy",
}
DASK_COLUMNS = {
    "fit_seconds": "fit s",
    "predict_seconds": "predict 10 000 rows s",
    "accuracy": "accuracy",
    "same": "same as 1 worker",
    "same_gathered": "same gathered",
    "worker_peak_gb": "peak GB of a worker",
}


def faiss_seconds(results: Results, n_rows: int, n_features: int) -> float:
    """Return what faiss needs for its graph and for 50 neighbors of every row."""
    name = size_name(n_rows, n_features)
    return sum(results.mean(ROWS, HNSW, name, score) for score in ("fit_seconds", "list_seconds"))


def extrapolation_table(results: Results, n_features: int, sizes: list[int], n_jobs: int) -> Table:
    """Carry time and memory from the two largest sizes to a billion rows."""
    title, head = "Carried to a billion rows", ("a billion rows", "measured", "carried to 10⁹")
    known = [
        (n, v) for n in sizes if n >= 100_000 and (v := results.first(ROWS, LANN, size_name(n, n_features)))
    ]
    if len(known) < 2 or "n_cells" not in known[-1][1]:
        return Table(title, head, [])
    (small, before), (large, values) = known[-2:]
    slope = n_jobs * (values["fit_seconds"] - before["fit_seconds"]) / (large - small)  # core seconds per row
    billion, growth = 1e9, (1e9 / large) ** 0.5
    assign = n_jobs * values["assign_seconds"]
    model, data = values["kept_gb"] / large, values["data_gb"] / large
    workers = -int(-(model + data) * billion // 32)  # of 16 cores and 64 GB, half of which is used
    hours = (slope + assign * growth) * billion / 3600
    speed = values["rows_per_second_again"] / n_jobs
    rows = [
        (
            "training, tile by tile",
            f"{slope * 1e6:.0f} core s per million rows",
            f"{slope * billion / 3600:.0f} core h",
        ),
        ("cells", f"{values['n_cells']}", f"{values['n_cells'] * growth:.0f}"),
        (
            "finding the cells of all rows",
            f"{1e6 * assign:.1f} µs per row",
            f"{assign * growth * billion / 3600:.0f} core h",
        ),
        ("model", f"{1e9 * model:.0f} bytes per row", f"{model * billion:.0f} GB"),
        ("rows, float32", f"{1e9 * data:.0f} bytes per row", f"{data * billion:.0f} GB"),
        ("workers of 16 cores and 64 GB", "half of the memory used", f"{workers}"),
        ("fit on these", "", f"{hours / (16 * workers):.1f} h"),
        ("predict on these", f"{speed:.0f} rows/s on a core", f"{speed / growth * 16 * workers:.0f} rows/s"),
    ]
    note = (
        "Assumptions: tiles stay as large as they are; cells grow as √m in number and in size; the rows "
        "are already on the workers; a core is as fast as one of this machine."
    )
    return Table(title, head, rows, [note])


BENCHMARK = Scale
