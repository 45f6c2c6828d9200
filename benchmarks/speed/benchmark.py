"""Speed and memory: both sides run in one process, in turns, and their ratio is compared to a target."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from benchmarks.common.datasets import DataSet, load_sets
from benchmarks.engine import Benchmark, Found, Job, Options, Report, Results, option
from benchmarks.speed import fit, growth, search, startup, update
from benchmarks.speed.figures import speed_table

SEARCH, PREDICT, UPDATE, ONLINE, FIT, GRID, GROWTH, STARTUP = PARTS = (
    "search",
    "predict",
    "update",
    "online",
    "fit",
    "grid",
    "growth",
    "startup",
)


@dataclass(frozen=True)
class SpeedOptions(Options):
    """The options of the benchmark."""

    repeats: int | None = option(
        None,
        "Turns of each side; the best time counts. Default: 5, with --quick 1.",
        kind=int,
        bounds=(1, float("inf")),
    )


class Speed(Benchmark[SpeedOptions]):
    """Speed and memory. Measurements are not stored: a run always measures."""

    name = "speed"
    Options = SpeedOptions
    parts = PARTS
    slow_parts = (UPDATE, ONLINE, GRID, GROWTH)
    main_scores = dict.fromkeys(PARTS, "figure")
    quick = f"1 repeat, and no {UPDATE}, {ONLINE}, {GRID} and {GROWTH}."
    omitted = ("results", "fresh")

    def jobs(self) -> Iterator[Job]:
        n_jobs = self.options.n_jobs
        repeats = self.options.repeats or (1 if self.options.quick else 5)
        for part in self.chosen:
            if part == SEARCH:
                for size in search.SIZES:
                    name = search.shape_name(*size[:2])
                    yield self._job(part, name, partial(search.time_search, size, n_jobs, repeats))
            elif part == PREDICT:
                name = search.shape_name(*search.PREDICT_SHAPE)
                yield self._job(part, name, partial(search.time_predict, n_jobs, repeats))
            elif part == UPDATE:
                for size in update.SIZES:
                    name = search.shape_name(*size[:2])
                    yield self._job(part, name, partial(update.time_updates, size, n_jobs, repeats))
            elif part == ONLINE:
                for data in self._load(fit.ONLINE_SETS):
                    run = partial(fit.time_online, data, n_jobs, repeats)
                    yield self._job(part, fit.name_with_shape(data), run)
            elif part == FIT:
                for data in map(fit.training_quarter, self._load(fit.FIT_SETS)):
                    run = partial(fit.time_fit, data, n_jobs, repeats)
                    yield self._job(part, fit.name_with_shape(data), run)
            elif part == GRID:
                yield self._job(part, "digits 1797 × 64", partial(fit.time_grid_search, min(repeats, 2)))
            elif part == GROWTH:
                yield self._job(part, growth.data_name(), partial(growth.measure_growth, n_jobs))
            elif part == STARTUP:
                yield self._job(part, "new process", partial(startup.time_import, repeats))
                yield self._job(part, "iris", partial(startup.time_first_fit, repeats))

    def _job(self, part: str, data_set: str, run: Callable[[], Found]) -> Job:
        return Job(part, part, data_set, 0, run)

    def _load(self, names: tuple[str, ...]) -> list[DataSet]:
        found, skipped = load_sets(names)
        self.skipped.update(skipped)
        return found

    def report(self, results: Results) -> Report:
        return Report(
            "Speed and memory",
            "Both sides run in one process, in turns; the best time of each counts. "
            f"{self.options.n_jobs} threads.",
            [speed_table(results)],
        )


BENCHMARK = Speed
