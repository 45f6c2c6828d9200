"""LMNN, GRLVQ, GMLVQ and LGMLVQ of `lann` compared with the original programs on the same splits."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.common.datasets import DataSet, choose_sets, load_sets
from benchmarks.common.protocols import N_SPLITS, PROTOCOLS, scale
from benchmarks.engine import Benchmark, Found, Job, Options, Report, Results, data_digest, option
from benchmarks.engine.tables import plural
from benchmarks.originals.environment import REQUIREMENTS, make_environment, python_of
from benchmarks.originals.processes import HERE, Side, choose_pairs
from benchmarks.originals.tables import (
    ORIGINAL,
    OURS,
    PARTS,
    Comparison,
    make_check,
    make_table,
    name_of_ours,
)

DATA_SETS = (
    "wine",
    "iris",
    "breast-cancer",
    "ionosphere",
    "digits",
    "outdoor-objects",
    "artificial-classification",
    "image-segmentation",
    "robot-navigation",
)
QUICK_SETS = ("iris", "wine")


@dataclass(frozen=True)
class OriginalsOptions(Options):
    """The options of the benchmark."""

    n_jobs: int = option(
        1, "Number of threads, for both sides alike.", flag="--jobs", bounds=(1, float("inf"))
    )
    data: tuple[str, ...] = option(
        (),
        f"Measure only this data set; may be repeated. Default: {', '.join(DATA_SETS)}.",
        flag="--data --data-set",
        metavar="NAME",
    )
    method: tuple[str, ...] = option(
        (), "Measure only this original, or the originals of this baseline; may be repeated.", metavar="NAME"
    )
    splits: int | None = option(
        None,
        "The first N of the 10 splits. Default: 2, with --quick 1.",
        flag="--splits --n-splits",
        kind=int,
        bounds=(1, N_SPLITS),
    )
    seed: int = option(0, "Seed of the splits and the methods.", bounds=(0, 2**32 - 1))
    time_limit: float = option(
        600.0, "Seconds for one fit, the start of its process included.", bounds=(1, float("inf"))
    )
    keep: bool = option(False, "Reuse the measurements of originals of earlier runs.")
    environment: Path = option(
        HERE / ".originals",
        "Where the old environment and the splits are; created if absent. "
        "Default: benchmarks/originals/.originals.",
        kind=Path,
        metavar="FOLDER",
    )


class Originals(Benchmark[OriginalsOptions]):
    """
    Both sides on every split.

    Ours is measured right after the original, so that other load on the machine affects both sides alike.
    Only measurements of originals are stored.
    """

    name = "originals"
    Options = OriginalsOptions
    parts = PARTS
    main_scores = dict.fromkeys(PARTS, "accuracy")
    quick = f"{' and '.join(QUICK_SETS)}, 1 split."
    omitted = ("only", "fresh")

    def __init__(self, options: OriginalsOptions) -> None:
        super().__init__(options)
        self.pairs = choose_pairs(options.method)
        self.n_splits = options.splits or (1 if options.quick else 2)
        chosen = options.data or (QUICK_SETS if options.quick else DATA_SETS)
        self.data_sets, self.skipped = load_sets(choose_sets(chosen))
        if not self.data_sets:
            raise ValueError(f"No data set could be loaded: {next(iter(self.skipped.values()))}")
        self.folder = options.environment.resolve()
        settings = self.folder / "splits", options.seed, options.n_jobs, options.time_limit
        python = str(python_of(self.folder))
        self.original = Side((python, str(HERE / "programs.py")), *settings)
        self.ours = Side((sys.executable, "-m", "benchmarks.originals.ours"), *settings)

    @property
    def variant(self) -> str:
        return f"{self.options.seed}-{self.options.n_jobs}"

    @property
    def discards_stored(self) -> bool:
        return not self.options.keep

    def jobs(self) -> Iterator[Job]:
        programs = digest_of_programs()
        for data in self.data_sets:
            splits = write_splits(data, self.original.splits, self.options.seed, self.n_splits)
            for pair in self.pairs:
                for number, (split, digest) in enumerate(splits.items()):
                    yield Job(
                        ORIGINAL,
                        pair.original,
                        data.name,
                        number,
                        partial(_measure, self.original, pair.original, pair.original, split),
                        label=f"{pair.original} on {split}",
                        fingerprint={"programs": programs, "data": digest},
                    )
                    name = name_of_ours(pair)
                    run = partial(_measure, self.ours, name, pair.ours, split)
                    yield Job(OURS, name, data.name, number, run, label=f"{pair.ours} on {split}")

    def warm_ups(self, jobs: list[Job]) -> dict[str, Callable[[], object]]:
        if all(job.part == OURS for job in jobs):
            return {}
        return {"create the environment of the originals, once": partial(make_environment, self.folder)}

    def describe(self, job: Job, found: Found) -> str:
        (values,) = found.values()
        return f"accuracy {values['accuracy']:.3f}, {values['fit_seconds']:.3g} s to fit"

    def report(self, results: Results) -> Report:
        comparisons = [Comparison(data.name, pair, results) for data in self.data_sets for pair in self.pairs]
        options = self.options
        caption = (
            f"Accuracy: mean ± standard deviation over {plural(self.n_splits, 'split')}, trained on 25 %, "
            f"seed {options.seed}. Seconds: mean time to fit with {plural(options.n_jobs, 'thread')}. Ratio: "
            "original / ours."
        )
        if options.keep:
            caption += " Measurements of originals, their seconds included, may be of an earlier run."
        return Report(
            "Baselines and original programs",
            "The same splits for both sides, ours right after the original, each fit in its own process.",
            [make_table(comparisons, results, caption)],
            [make_check(comparisons)],
            records=[comparison.as_dict() for comparison in comparisons],
        )


def _measure(side: Side, name: str, method: str, split: str) -> Found:
    return {name: side.measure(method, split)}


def write_splits(data: DataSet, folder: Path, seed: int, n_splits: int) -> dict[str, str]:
    """
    Write splits of the paper's protocol, scaled by their training rows, as files.

    Returns
    -------
    digests
        Digests of the training rows, by the names of the files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    digests = {}
    for number, split in enumerate(PROTOCOLS["paper"].splits(data.X, data.y, seed, n_splits)):
        train, test = split
        name = f"{data.name}-{seed}-{number}"
        digests[name] = data_digest(data.X[train], data.y[train])
        X_train, X_test = scale(data.X, split)
        np.savez(
            folder / f"{name}.npz", X_train=X_train, y_train=data.y[train], X_test=X_test, y_test=data.y[test]
        )
    return digests


def digest_of_programs() -> str:
    """Return a digest of the versions of the originals and of their settings."""
    digest = hashlib.sha256()
    for path in (REQUIREMENTS, HERE / "programs.py"):
        digest.update(path.read_bytes())
    return digest.hexdigest()


BENCHMARK = Originals
