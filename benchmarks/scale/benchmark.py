"""Scale: every method on every size in a process of its own, which measures its time, memory and accuracy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from benchmarks.common.datasets import load_sets
from benchmarks.engine import Benchmark, Found, Job, Options, Report, Results, choose, fingerprint, option
from benchmarks.engine.fingerprint import code_digest
from benchmarks.scale.checks import make_checks
from benchmarks.scale.child import run_child
from benchmarks.scale.covertype import NAME as COVERTYPE_FILE
from benchmarks.scale.dask import PACKAGES as DASK_PACKAGES
from benchmarks.scale.dask import measure_dask
from benchmarks.scale.extrapolation import extrapolation_table
from benchmarks.scale.methods import FOREST, LANN, METHODS, Method
from benchmarks.scale.plan import (
    COVERTYPE,
    COVERTYPE_METHODS,
    COVERTYPE_NAME,
    DASK,
    DASK_FEATURES,
    DASK_ROWS,
    FEATURES,
    N_TEST,
    N_USPS_SPLITS,
    PARTS,
    QUICK_SIZES,
    QUICK_WIDE_SHAPES,
    RECALL,
    ROWS,
    SIZES,
    USPS_METHODS,
    USPS_NAME,
    USPS_TURNS,
    WIDE,
    WIDE_METHODS,
    WIDE_SHAPES,
    Plan,
    size_name,
)
from benchmarks.scale.process import load_module
from benchmarks.scale.tables import covertype_table, dask_table, own_table, rows_tables, wide_table
from benchmarks.scale.wide_process import USPS
from benchmarks.streams.data import file_digest, find_streams

PROCESS, WIDE_PROCESS, DASK_PROCESS = (
    "benchmarks.scale.process",
    "benchmarks.scale.wide_process",
    "benchmarks.scale.dask_process",
)
DISTRIBUTIONS = {"faiss": "faiss-cpu"}
"""Names of packages on the index that are not those by which they are imported."""
COVERTYPE_VALUES = 581_012 * 54
N_FOR_KERNELS = 60_000
"""Training rows of the warm-up: enough for the kernels that a fit on many rows uses."""


@dataclass(frozen=True)
class ScaleOptions(Options):
    """The options of the benchmark."""

    method: tuple[str, ...] = option((), "Measure only this method. May be given repeatedly.", metavar="NAME")
    rows: int | None = option(
        None,
        f"Largest number of planted training rows. Default: {SIZES[-1]}, with --quick {QUICK_SIZES[-1]}.",
        kind=int,
        bounds=(SIZES[0], float("inf")),
    )
    features: tuple[int, ...] = option(
        (), "Only this number of features of the planted rows. May be given repeatedly.", kind=int
    )
    covertype_rows: int | None = option(
        None,
        "Use so many rows of covertype, drawn at random. Default: all.",
        kind=int,
        bounds=(1000, float("inf")),
    )
    seed: int = option(
        0, "Seed of data and methods. 0 is for figures that are reported; for tuning, use 1000 and above.",
        bounds=(0, 2**32 - 1),
    )  # fmt: skip
    minutes: int = option(
        90, "A measurement that takes longer is ended, and counts as failed.", bounds=(1, float("inf"))
    )


class Scale(Benchmark[ScaleOptions]):
    """Every method on every size."""

    name = "scale"
    Options = ScaleOptions
    parts = PARTS
    slow_parts = (COVERTYPE, DASK)
    main_scores = {
        ROWS: "fit_seconds",
        RECALL: "recall",
        COVERTYPE: "accuracy",
        WIDE: "fit_seconds",
        DASK: "fit_seconds",
    }
    quick = f"up to {QUICK_SIZES[-1]} rows, one wide table, and no {COVERTYPE} and {DASK}."

    def __init__(self, options: ScaleOptions) -> None:
        super().__init__(options)
        names = choose(options.method, METHODS, "method")
        reasons = {name: METHODS[name].missing for name in names}
        self.skipped.update({name: reason for name, reason in reasons.items() if reason is not None})
        largest = options.rows or (QUICK_SIZES if options.quick else SIZES)[-1]
        chosen = choose([str(n) for n in options.features], [str(n) for n in FEATURES], "feature count")
        self.plan = Plan(
            [name for name in names if reasons[name] is None],
            tuple(size for size in SIZES if size <= largest),
            tuple(map(int, chosen)),
            QUICK_WIDE_SHAPES if options.quick else WIDE_SHAPES,
        )

    @property
    def variant(self) -> str:
        """All runs with the same seed share their measurements."""
        return f"seed-{self.options.seed}"

    def jobs(self) -> Iterator[Job]:
        yield from self._planted_jobs(self.plan.first_planted())
        if COVERTYPE in self.chosen:
            yield from self._covertype_jobs()
        if WIDE in self.chosen:
            yield from self._wide_jobs()
        if DASK in self.chosen and LANN in self.plan.methods:
            yield from self._dask_jobs()
        yield from self._planted_jobs(self.plan.other_planted())

    def _planted_jobs(self, sizes: Iterator[tuple[str, int, int]]) -> Iterator[Job]:
        for name, n_rows, n_features in sizes:
            # The recall is measured with the rest of what LANN does.
            if ROWS in self.chosen or (RECALL in self.chosen and name == LANN):
                method = METHODS[name]
                task = {
                    "n_rows": n_rows,
                    "n_features": n_features,
                    "n_queries": method.n_queries(n_rows, N_TEST),
                }
                size = n_rows * n_features
                yield self._job(ROWS, method, size_name(n_rows, n_features), task, size=size)

    def _covertype_jobs(self) -> Iterator[Job]:
        files, skipped = find_streams([COVERTYPE_FILE])
        self.skipped.update(skipped)
        for path in files.values():
            digest = file_digest(path)
            for method in self.plan.chosen(COVERTYPE_METHODS):
                task = {"most_rows": self.options.covertype_rows}
                yield self._job(COVERTYPE, method, COVERTYPE_NAME, task, size=COVERTYPE_VALUES, data=digest)

    def _wide_jobs(self) -> Iterator[Job]:
        for n_rows, n_features in self.plan.wide_shapes:
            for method in self.plan.chosen(WIDE_METHODS):
                shape = {"n_rows": n_rows, "n_features": n_features}
                name = size_name(n_rows, n_features)
                yield self._job(WIDE, method, name, shape, size=n_rows * n_features, process=WIDE_PROCESS)
        methods = self.plan.chosen(USPS_METHODS)
        sets, skipped = load_sets([USPS]) if len(methods) == len(USPS_METHODS) else ([], {})
        self.skipped.update(skipped)
        for data in sets:
            for split in range(N_USPS_SPLITS):
                task = {
                    "kind": USPS,
                    "methods": {method.name: method.module for method in methods},
                    "split": split,
                    "turns": USPS_TURNS,
                    "seed": self.options.seed,
                    "n_jobs": self.options.n_jobs,
                }
                yield Job(
                    WIDE,
                    f"{LANN} and {FOREST}",
                    USPS_NAME,
                    split,
                    partial(run_child, WIDE_PROCESS, task, self.options.minutes),
                    fingerprint=self._fingerprint(WIDE_PROCESS, methods, task, data=data.digest),
                    expected=60.0,
                )

    def _dask_jobs(self) -> Iterator[Job]:
        missing = [name for name in (*DASK_PACKAGES, "lann.distributed") if find_spec(name) is None]
        if missing:
            self.skipped[DASK] = f"needs {' and '.join(missing)}."
            return
        task = {"n_rows": DASK_ROWS, "seed": self.options.seed, "dask": version("dask")}
        yield Job(
            DASK,
            LANN,
            size_name(DASK_ROWS, DASK_FEATURES),
            0,
            partial(measure_dask, self.options.seed, self.options.minutes),
            label=f"1 and 2 workers, {size_name(DASK_ROWS, DASK_FEATURES)}",
            fingerprint=self._fingerprint(DASK_PROCESS, [METHODS[LANN]], task),
            expected=900.0,
        )

    def _job(
        self,
        part: str,
        method: Method,
        data_set: str,
        task: dict[str, Any],
        *,
        size: float,
        process: str = PROCESS,
        data: str = "",
    ) -> Job:
        full = {
            "kind": part,
            "method": method.name,
            "module": method.module,
            "seed": self.options.seed,
            "n_jobs": self.options.n_jobs,
            **task,
        }
        return Job(
            part,
            method.name,
            data_set,
            0,
            partial(self._measure, process, full),
            fingerprint=self._fingerprint(process, [method], full, data=data),
            size=size,
            expected=10 + method.rate * size / 1e6,
        )

    def _measure(self, process: str, task: dict[str, Any]) -> Found:
        return {task["method"]: run_child(process, task, self.options.minutes)}

    def _fingerprint(
        self, process: str, methods: list[Method], task: dict[str, Any], **more: Any
    ) -> dict[str, Any]:
        modules = [f"benchmarks.scale.methods.{method.module}" for method in methods]
        estimators = [
            load_module(method.module).make(method.name, self.options.n_jobs, self.options.seed)
            for method in methods
        ]
        packages = sorted({method.needs for method in methods if method.needs})
        return fingerprint(
            process,
            *estimators,
            task=task,
            methods=[code_digest(module) for module in modules],
            packages={name: version(DISTRIBUTIONS.get(name, name)) for name in packages},
            **more,
        )

    def warm_ups(self, jobs: list[Job]) -> dict[str, Callable[[], object]]:
        """Compile the kernels of LANN, which later processes load from the disk."""
        if all(job.method != LANN for job in jobs):
            return {}
        task = {
            "kind": ROWS,
            "method": LANN,
            "module": METHODS[LANN].module,
            "n_rows": N_FOR_KERNELS,
            "n_features": 12,
            "n_queries": 2000,
            "seed": 1000,
            "n_jobs": self.options.n_jobs,
        }
        return {"kernels": partial(run_child, PROCESS, task, self.options.minutes)}

    def describe(self, job: Job, found: Found) -> str:
        parts = []
        for name, values in found.items():
            texts = [f"fit {values['fit_seconds']:.1f} s"]
            texts += [f"{values[key]:.2f} GB" for key in ("peak_gb",) if key in values]
            texts += [f"{values[key]:.0f} rows/s" for key in ("rows_per_second",) if key in values]
            texts += [f"recall {values[key]:.4f}" for key in ("recall",) if key in values]
            texts.append(f"accuracy {values['accuracy']:.4f}")
            parts.append(", ".join(texts) if name == job.method else f"{name}: {', '.join(texts)}")
        return "; ".join(parts)

    def report(self, results: Results) -> Report:
        plan, tables = self.plan, []
        if ROWS in self.chosen:
            tables += rows_tables(results, plan)
        elif RECALL in self.chosen:
            tables.append(own_table(results, plan))
        if COVERTYPE in self.chosen:
            tables.append(covertype_table(results, plan))
        if WIDE in self.chosen:
            tables.append(wide_table(results, plan))
        if DASK in self.chosen:
            tables.append(dask_table(results))
        if ROWS in self.chosen:
            tables.append(extrapolation_table(results, plan, self.options.n_jobs))
        tables = [table for table in tables if table.rows]
        notes = results.notes()
        if not results.is_complete:
            notes.append("Not all has been measured yet.")
        introduction = (
            f"{self.options.n_jobs} threads for every method, seed {self.options.seed}. Every measurement is "
            "made in a process of its own. Planted rows: float32, three classes, nine regions in each of "
            "which other features decide, 5 % noisy labels."
        )
        return Report(
            "Scale",
            " ".join([introduction, *notes]),
            tables,
            make_checks(results, self.chosen),
            legend=[(METHODS[name].label, name, METHODS[name].description) for name in plan.methods],
        )


BENCHMARK = Scale
