"""Streams: every method predicts each row before it learns it, in the order of time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.datasets import load_sets
from benchmarks.engine import Benchmark, Found, Job, Options, Report, Results, choose, fingerprint, option
from benchmarks.engine.fingerprint import code_digest
from benchmarks.streams import memory, speed
from benchmarks.streams.checks import make_checks
from benchmarks.streams.data import QUICK_STREAMS, STREAMS, Stream, file_digest, find_streams, read_stream
from benchmarks.streams.measure import MARK_EVERY, measure_stream
from benchmarks.streams.methods import METHODS, SAM_KNN, SLOWEST_ROWS, Method
from benchmarks.streams.plan import (
    BASELINE_ROWS,
    MEMORY,
    MOST_ROWS,
    PARTS,
    QUICK_BASELINE_ROWS,
    SPEED,
    STREAM,
    Plan,
)
from benchmarks.streams.tables import NAMES, means_table, reference_table, score_table, speed_table

SPEED_REPEATS = 3


@dataclass(frozen=True)
class StreamsOptions(Options):
    """The options of the benchmark."""

    method: tuple[str, ...] = option((), "Measure only this method. May be given repeatedly.", metavar="NAME")
    data: tuple[str, ...] = option((), "Measure only this stream. May be given repeatedly.", metavar="NAME")
    rows: int | None = option(
        None,
        f"Largest number of rows of a stream. Default: {MOST_ROWS}.",
        kind=int,
        bounds=(100, float("inf")),
    )
    baseline_rows: int | None = option(
        None,
        "Largest number of rows for river's slower classifiers; all methods are compared on these. "
        f"Default: {BASELINE_ROWS}, with --quick {QUICK_BASELINE_ROWS}.",
        kind=int,
        bounds=(MARK_EVERY, float("inf")),
    )


class Streams(Benchmark[StreamsOptions]):
    """Every method on twelve streams."""

    name = "streams"
    Options = StreamsOptions
    parts = PARTS
    slow_parts = (MEMORY,)
    main_scores = {STREAM: "accuracy", SPEED: "rows_per_second", MEMORY: "megabytes"}
    quick = f"{', '.join(QUICK_STREAMS)} only, and no {MEMORY}."

    def __init__(self, options: StreamsOptions) -> None:
        super().__init__(options)
        if options.baseline_rows is not None and options.baseline_rows % MARK_EVERY:
            raise ValueError(
                f"--baseline-rows must be a multiple of {MARK_EVERY}; got {options.baseline_rows}."
            )
        names = choose(options.method, [method.name for method in METHODS], "method")
        chosen = [method for method in METHODS if method.name in names]
        reasons = {method.name: method.missing for method in chosen}
        self.skipped.update({name: reason for name, reason in reasons.items() if reason is not None})
        streams = choose(options.data or (QUICK_STREAMS if options.quick else ()), STREAMS, "stream")
        self.files, skipped = find_streams(streams)
        self.skipped.update(skipped)
        self._loaded: dict[str, Stream] = {}
        self.plan = Plan(
            [method for method in chosen if reasons[method.name] is None],
            list(self.files),
            options.baseline_rows or (QUICK_BASELINE_ROWS if options.quick else BASELINE_ROWS),
            options.rows or MOST_ROWS,
        )

    def jobs(self) -> Iterator[Job]:
        if STREAM in self.chosen:
            yield from self._stream_jobs()
        if SAM_KNN not in self.plan.method_names:
            return
        if SPEED in self.chosen and find_spec("river"):
            sets, skipped = load_sets([speed.SET])
            self.skipped.update(skipped)
            for data in sets:
                run = partial(speed.time_small_window, data, SPEED_REPEATS)
                yield Job(SPEED, SAM_KNN, speed.data_name(), 0, run)
        if MEMORY in self.chosen:
            for n_rows in memory.N_ROWS:
                run = partial(memory.measure_memory, n_rows)
                yield Job(MEMORY, SAM_KNN, memory.data_name(n_rows), 0, run)

    def _stream_jobs(self) -> Iterator[Job]:
        digests = {name: file_digest(path) for name, path in self.files.items()}
        for method in self.plan.methods:
            rows = self._most_rows(method)
            for name, path in self.files.items():
                yield Job(
                    STREAM,
                    method.name,
                    name,
                    0,
                    partial(self._measure, method, name, path),
                    fingerprint=self._fingerprint(method, digests[name], rows),
                )

    def warm_ups(self, jobs: list[Job]) -> dict[str, Callable[[], object]]:
        """Compile the kernels of our estimators."""
        waiting = {job.method for job in jobs}
        X, y = np.random.default_rng(0).normal(size=(300, 3)), np.arange(300) % 2
        return {
            method.name: partial(method.run, method.make(), X, y)
            for method in self.plan.methods
            if method.is_ours and method.name in waiting
        }

    def _most_rows(self, method: Method) -> int:
        rows = self.plan.most_rows
        if not method.is_slow:
            return rows
        return min(rows, self.plan.baseline_rows, method.most_rows or rows)

    def _fingerprint(self, method: Method, digest: str, rows: int) -> dict[str, Any]:
        model = method.make()
        if method.is_ours:
            return fingerprint("benchmarks.streams.own_run", model, data=digest, rows=rows)
        return {
            "river": version("river"),
            "measured by": code_digest("benchmarks.streams.measure"),
            "model": f"{type(model).__name__}: {model._get_params()}",
            "data": digest,
            "rows": rows,
        }

    def _measure(self, method: Method, name: str, path: Path) -> Found:
        if name not in self._loaded:
            self._loaded[name] = read_stream(name, path).first(self.plan.most_rows)
        stream = self._loaded[name].first(self._most_rows(method))
        return {method.name: measure_stream(method.make(), stream, method.run)}

    def describe(self, job: Job, found: Found) -> str:
        values = found[job.method]
        if job.part == SPEED:
            return f"{values['rows_per_second']:.0f} rows/s, {values['note']}"
        if job.part == MEMORY:
            return f"{values['megabytes']:.1f} MB, {values['note']}"
        return (
            f"accuracy {values['accuracy']:.4f}, kappa-temporal {values['kappa_temporal']:.3f}, "
            f"log-loss {values['log_loss']:.3f}, {values['rows_per_second']:.0f} rows/s"
        )

    def report(self, results: Results) -> Report:
        plan, found = self.plan, results.part(STREAM, "accuracy")
        rows = plan.baseline_rows
        tables = []
        if STREAM in self.chosen:
            first = [score_table(found, plan, score, rows) for score in NAMES]
            whole = [score_table(found, plan, score, None) for score in NAMES] if plan.whole else []
            tables += [*first, means_table(found, plan, rows)]
            if rows > SLOWEST_ROWS:
                tables.append(means_table(found, plan, SLOWEST_ROWS))
            tables += [*whole, means_table(found, plan, None)] if whole else []
            tables.append(reference_table(found, plan))
        tables.append(speed_table(results))
        return Report(
            "Streams",
            "Every row is predicted before it is learned, in the order of the file; every prediction counts. "
            f"At most {self.plan.most_rows} rows of a stream; river's slower classifiers have the "
            f"first {rows}, on which all methods are compared. Parameters are the defaults; random states "
            "are 0. Features are as they are in the file.",
            [table for table in tables if table.rows],
            make_checks(results, plan),
            legend=[(method.label, method.name, method.description) for method in plan.methods],
        )


BENCHMARK = Streams
