"""A run of `lann bench embeddings`, one measurement after the other."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from lann.bench.embeddings.cost import FITTED, measure_costs, timed_sets
from lann.bench.embeddings.measure import OURS, measure_task, warm_up
from lann.bench.embeddings.results import Results
from lann.bench.embeddings.task import COST, PARTS, Sizes, make_task, missing
from lann.bench.jobs import Job, Step, chosen_parts, run_jobs


def choose_parts(names: list[str] | None, *, quick: bool = False) -> tuple[str, ...]:
    """The parts of these names, or all; cost takes too long to be quick."""
    available = tuple(part for part in PARTS if not (quick and part == COST))
    return chosen_parts(names, available, " with --quick" if quick else "")


class EmbeddingRun:
    """
    A run of the benchmark.

    Parameters
    ----------
    sizes
        How much.
    parts
        Some of `PARTS`.
    n_jobs
        Threads for every method; cost is measured with one.
    """

    def __init__(self, sizes: Sizes, parts: tuple[str, ...] = PARTS, *, n_jobs: int = 2) -> None:
        self.results = Results(sizes, parts)
        self.n_jobs = n_jobs

    def steps(self) -> Iterator[Step]:
        """Measure, and say before each measurement what comes, after it what was found."""
        jobs = list(self._jobs())
        yield Step("UMAP compiles itself", 0, len(jobs))
        # Not a job: without umap-learn nothing can be measured, and the run ends here.
        warm_up()
        yield from run_jobs(jobs, self.results.failures)

    def _jobs(self) -> Iterator[Job]:
        for part in self.results.parts:
            if part == COST:
                for data_set in timed_sets(self.results.sizes):
                    yield Job("cost of LANN", data_set, partial(self._time, data_set))
            elif reason := missing(part):
                self.results.skipped[part] = reason
            else:
                for seed in range(self.results.sizes.n_seeds):
                    yield Job("all methods", f"{part}, seed {seed}", partial(self._compare, part, seed))

    def _compare(self, part: str, seed: int) -> str:
        outcome = measure_task(make_task(part, seed, self.results.sizes, self.n_jobs), self.n_jobs)
        self.results.outcomes.setdefault(part, {})[seed] = outcome
        ours, plain = (outcome.methods[name] for name in (OURS, "UMAP"))
        return (
            f"LANN {ours.accuracy:.3f}, held out {ours.held_out_accuracy:.3f}; "
            f"UMAP {plain.accuracy:.3f}, held out {plain.held_out_accuracy:.3f}"
        )

    def _time(self, data_set: str) -> str:
        found = measure_costs(data_set, self.results.sizes)
        self.results.costs.extend(found)
        ratio = next(cost.ratio for cost in found if cost.what == FITTED)
        return f"with a fitted classifier {ratio:.2f} times as long as UMAP"
