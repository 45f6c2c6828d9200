"""Embeddings of Licorice and image segmentation, and the cost of LANN's embedding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.metadata import version

from benchmarks.embeddings import tasks
from benchmarks.embeddings.checks import make_checks
from benchmarks.embeddings.cost import PREFIT, compile_umap, measure_costs, timed_sets
from benchmarks.embeddings.measure import COMPARISON, OURS, measure_task
from benchmarks.embeddings.tables import make_tables
from benchmarks.embeddings.tasks import COST, PARTS, make_task, missing
from benchmarks.engine import Benchmark, Found, Job, Options, Report, Results, Values, fingerprint, option
from benchmarks.engine.tables import plural


@dataclass(frozen=True)
class EmbeddingOptions(Options):
    """The options of the benchmark."""

    seeds: int | None = option(
        None,
        "Generate and split data with the seeds 0 … N − 1. Default: 5, with --quick 1.",
        kind=int,
        bounds=(1, float("inf")),
    )


class Embeddings(Benchmark[EmbeddingOptions]):
    """Embeddings of Licorice, along the axes and in any direction, and of image segmentation; and cost."""

    name = "embeddings"
    Options = EmbeddingOptions
    parts = PARTS
    slow_parts = (COST,)
    main_scores = {**dict.fromkeys(PARTS, "held_out_accuracy"), COST: "ratio"}
    quick = f"1 seed, 1000 rows, and no {COST}; about two minutes."

    def __init__(self, options: EmbeddingOptions) -> None:
        super().__init__(options)
        self.sizes = tasks.QUICK if options.quick else tasks.FULL
        if options.seeds is not None:
            self.sizes = replace(self.sizes, n_seeds=options.seeds)

    def jobs(self) -> Iterator[Job]:
        for part in self.chosen:
            depends = self._fingerprint("cost" if part == COST else "measure")
            if part == COST:
                for name in timed_sets(self.sizes):
                    run = partial(measure_costs, name, self.sizes)
                    yield Job(COST, OURS, name, 0, run, label=f"cost on {name}", fingerprint=depends)
            elif reason := missing(part):
                self.skipped[part] = reason
            else:
                for seed in range(self.sizes.n_seeds):
                    run = partial(self._compare, part, seed)
                    label = f"{COMPARISON} on {part}, seed {seed}"
                    yield Job(part, COMPARISON, part, seed, run, label=label, fingerprint=depends)

    def warm_ups(self, jobs: list[Job]) -> dict[str, Callable[[], object]]:
        return {"UMAP compiles itself": compile_umap} if jobs else {}

    def describe(self, job: Job, found: Found) -> str:
        if job.part == COST:
            return f"with a fitted classifier {found[PREFIT]['ratio']:.2f} times as long as UMAP"
        texts = [
            f"{name} {found[name]['accuracy']:.3f}, held out {found[name]['held_out_accuracy']:.3f}"
            for name in (OURS, "UMAP")
        ]
        return "; ".join(texts)

    def report(self, results: Results) -> Report:
        return Report(
            "Embeddings compared",
            f"Means over {plural(self.sizes.n_seeds, 'seed')} of the data and of the split: 70 % of each "
            "class are embedded, the rest is held out. All methods have data scaled by the embedded rows.",
            make_tables(results),
            make_checks(results, self.sizes),
        )

    def _compare(self, part: str, seed: int) -> Found:
        n_jobs = self.options.n_jobs
        return measure_task(make_task(part, seed, self.sizes, n_jobs), n_jobs)

    def _fingerprint(self, module: str) -> Values:
        # More seeds add measurements, but do not change them.
        sizes = asdict(replace(self.sizes, n_seeds=1))
        try:
            umap = version("umap-learn")
        except ImportError:
            umap = ""  # the warm-up says what to install
        measured_by = f"benchmarks.embeddings.{module}"
        return fingerprint(measured_by, sizes=sizes, n_jobs=self.options.n_jobs, umap=umap)


BENCHMARK = Embeddings
