"""What a run measures, and in which order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.engine import PartResults, Results
from benchmarks.scale.methods import (
    BOOSTING,
    BRUTE,
    FLAT,
    FOREST,
    HNSW,
    KNN_1,
    KNN_5,
    LANN,
    LARGE_BOOSTING,
    LARGE_LIGHTGBM,
    LIGHTGBM,
    METHODS,
    SCALED_KNN_1,
    SCALED_KNN_5,
    TREE,
    Method,
)

ROWS, RECALL, COVERTYPE, WIDE, DASK = PARTS = ("rows", "recall", "covertype", "wide", "dask")

SIZES = (10_000, 31_600, 100_000, 316_000, 1_000_000)
QUICK_SIZES = SIZES[:2]
FEATURES = (20, 50)
N_TEST = 10_000

ROWS_METHODS = (LANN, BRUTE, TREE, FLAT, HNSW, BOOSTING, LIGHTGBM)
COVERTYPE_METHODS = (
    LANN,
    BOOSTING,
    KNN_1,
    KNN_5,
    LIGHTGBM,
    FOREST,
    SCALED_KNN_1,
    SCALED_KNN_5,
    LARGE_BOOSTING,
    LARGE_LIGHTGBM,
)
WIDE_METHODS = (LANN, FOREST)
USPS_METHODS = (LANN, FOREST)

WIDE_SHAPES = ((60, 1_000), (60, 3_000), (60, 10_000), (30, 20_000))
QUICK_WIDE_SHAPES = WIDE_SHAPES[:1]
N_USPS_SPLITS, USPS_TURNS = 3, 2
USPS_NAME = "usps 2324 × 256"
COVERTYPE_NAME = "covertype"

DASK_ROWS, DASK_FEATURES, DASK_WORKERS = 400_000, 20, (1, 2)
ONE_PROCESS = "one process"


def size_name(n_rows: int, n_features: int) -> str:
    return f"{n_rows} × {n_features}"


def workers_name(n_workers: int) -> str:
    return f"{n_workers} worker" if n_workers == 1 else f"{n_workers} workers"


@dataclass(frozen=True)
class Plan:
    """
    The methods and sizes of a run.

    Parameters
    ----------
    methods
        Names, in the order of the tables.
    sizes, features
        Numbers of training rows and of features of the planted rows.
    wide_shapes
        Rows and features of the wide tables.
    """

    methods: list[str]
    sizes: tuple[int, ...] = SIZES
    features: tuple[int, ...] = FEATURES
    wide_shapes: tuple[tuple[int, int], ...] = WIDE_SHAPES

    def chosen(self, names: tuple[str, ...]) -> list[Method]:
        """Return those of the names that the run measures."""
        return [METHODS[name] for name in names if name in self.methods]

    def first_planted(self) -> Iterator[tuple[str, int, int]]:
        """
        Yield method, rows and features of the measurements that matter most, in their order.

        All methods on the smallest size, to find out what works; then LANN and the graph that it is compared
        with, on the largest number of features.
        """
        first, others = self._first_and_others
        yield from _grid([*first, *others], self.sizes[:1], self.features[-1:])
        yield from _grid(first, self.sizes[1:], self.features[-1:])

    def other_planted(self) -> Iterator[tuple[str, int, int]]:
        """Yield the rest: LANN and the graph on fewer features, then the other methods."""
        first, others = self._first_and_others
        yield from _grid(first, self.sizes, self.features[:-1])
        yield from _grid(others, self.sizes[1:], self.features[-1:])
        yield from _grid(others, self.sizes, self.features[:-1])

    @property
    def _first_and_others(self) -> tuple[list[str], list[str]]:
        chosen = [method.name for method in self.chosen(ROWS_METHODS)]
        first = [name for name in (LANN, HNSW) if name in chosen]
        return first, [name for name in chosen if name not in first]


def _grid(
    methods: list[str], sizes: tuple[int, ...], features: tuple[int, ...]
) -> Iterator[tuple[str, int, int]]:
    for n_features in features:
        for n_rows in sizes:
            for method in methods:
                yield method, n_rows, n_features


def values_by_size(
    found: PartResults, method: str, score: str, n_features: int, sizes: tuple[int, ...]
) -> dict[int, float]:
    """Return a score by the number of rows, where it was measured."""
    values = {size: found.mean(method, size_name(size, n_features), score) for size in sizes}
    return {size: value for size, value in values.items() if value is not None}


def reference_seconds(results: Results, n_rows: int, n_features: int) -> float | None:
    """Return how long faiss needs to build its graph and to list 50 neighbors of every row."""
    values = results.part(ROWS).first(HNSW, size_name(n_rows, n_features))
    return None if values is None else values["fit_seconds"] + values["list_seconds"]
