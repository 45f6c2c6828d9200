"""The search on a GPU: queries per second, whether neighbors are those of float64, and predictions."""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness import (
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
    number,
    seconds_of,
)
from benchmarks.scale.process import Planted
from lann import LANNClassifier
from lann.metric import DiagonalMetric
from lann.search import ExactSearch, Shortlist, gpu_search

SEARCH, SHORTLIST, PREDICT = "search", "shortlist", "predict"
LANN, PLAIN, CPU = "lann", "product + topk", "CPU"
# Rows, features, k, and the least number of queries per second.
SIZES = {
    "102 400 × 16": (102_400, 16, 10, 3e6),
    "102 400 × 50": (102_400, 50, 10, 1.5e6),
    "102 400 × 16, k = 50": (102_400, 16, 50, 1.2e6),
    "1 024 000 × 50": (1_024_000, 50, 10, 0.4e6),
}
N_QUERIES, N_CPU = 131_072, 512
# What the least bytes and operations of a search take: H200, float16 with float32 sums, and its memory.
OPERATIONS, BYTES = 790e12, 4.3e12
REPEATS = 7
N_ROWS, N_FEATURES, N_PREDICTED, N_COMPARED = 100_000, 20, 1_000_000, 200_000
SPEEDUP = 20.0
# Hostile searches of the check: duplicates and ties, an offset, units of features that differ, far queries.
CHECKED = ("normal", "ties", "offset", "units", "far", "float32", "classes", "shared", "wide")


def median_milliseconds(run: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Return the median time of a call on the GPU, between two events."""
    import torch

    run()
    times = []
    for _ in range(repeats):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        run()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return statistics.median(times)


def draw(n_rows: int, n_axes: int, seed: int) -> tuple[DiagonalMetric, np.ndarray]:
    """Return normal points with log-normal weights of their own, and queries."""
    rng = np.random.default_rng(seed)
    points, queries = rng.normal(size=(n_rows, n_axes)), rng.normal(size=(N_QUERIES, n_axes))
    return DiagonalMetric(points, np.exp(0.7 * rng.normal(size=points.shape))), queries


def brute_force(metric: DiagonalMetric, queries: Any, k: int) -> Any:
    """Return the k nearest points of queries on the GPU by a product in float64, in any order."""
    import torch

    points, weights = (torch.tensor(v, device=queries.device) for v in (metric.points, metric.weights))
    rows = torch.cat([weights, -2.0 * weights * points, (weights * points * points).sum(1, keepdim=True)], 1)
    found, block = [], 2**28 // len(rows)
    for some in queries.split(block):
        lifted = torch.cat([some * some, some, torch.ones_like(some[:, :1])], 1)
        found.append((lifted @ rows.T).topk(k, 1, largest=False, sorted=False).indices)
    return torch.cat(found)


def plain_search(metric: DiagonalMetric, queries: Any, k: int) -> Callable[[], Any]:
    """Return a search by torch alone: a product in float32, and its k smallest values."""
    import torch

    points, weights = (torch.tensor(v, device=queries.device) for v in (metric.points, metric.weights))
    rows = torch.cat([weights, -2.0 * weights * points, (weights * points * points).sum(1, keepdim=True)], 1)
    lifted = torch.cat([queries * queries, queries, torch.ones_like(queries[:, :1])], 1).float()
    rows, block = rows.float().T.contiguous(), 2**29 // len(rows)

    def run() -> None:
        for some in lifted.split(block):
            (some @ rows).topk(k, 1, largest=False)

    return run


def measure_search(name: str) -> Found:
    """Time one size on the GPU, compare all neighbors with float64, and some bits with the CPU."""
    import torch

    n_rows, n_axes, k, _ = SIZES[name]
    metric, rows = draw(n_rows, n_axes, 0)
    search = gpu_search(metric)
    queries = search.to_device(rows)
    milliseconds = median_milliseconds(lambda: search.nearest(queries, k))
    lost = len(search.nearest(queries, k)[2]) / N_QUERIES
    indices, distances = search.query(rows, k)
    few = queries[: N_QUERIES // (8 if n_rows > 500_000 else 1)]
    plain = median_milliseconds(plain_search(metric, few, k), 3)
    expected = brute_force(metric, queries, k)
    exact = torch.tensor(indices, device=queries.device).sort(1).values == expected.sort(1).values
    on_cpu = ExactSearch(metric).query(rows[:N_CPU], k, n_jobs=-1)
    same_bits = np.array_equal(indices[:N_CPU], on_cpu[0]) and np.array_equal(distances[:N_CPU], on_cpu[1])
    width = 2 * n_axes + 1
    floor = max(6.0 * n_rows * width / OPERATIONS, (n_rows * width * 4.0 / N_QUERIES + 24.0 * n_axes) / BYTES)
    return {
        LANN: {
            "rate": N_QUERIES / milliseconds * 1e3,
            "floor": 1.0 / floor,
            "differs": float((~exact.all(1)).double().mean()),
            "n_compared": N_QUERIES,
            "on_cpu": lost,
            "same_bits": float(same_bits),
        },
        PLAIN: {"rate": len(few) / plain * 1e3},
    }


def hostile(kind: str, seed: int) -> tuple[DiagonalMetric, np.ndarray]:
    """Return a small search that is hard in one way."""
    rng = np.random.default_rng(seed)
    n_axes = 13 if kind != "wide" else (70, 130, 300, 65)[seed % 4]
    points, queries = rng.normal(size=(20_000, n_axes)), rng.normal(size=(400, n_axes))
    weights, labels = np.exp(0.7 * rng.normal(size=points.shape)), None
    if kind == "ties":
        points, queries = np.round(points * 0.7), np.round(queries * 0.7)
        weights = np.round(weights)
    elif kind == "offset":
        points, queries = points + 1e4, queries + 1e4
    elif kind == "units":
        units = 10.0 ** rng.integers(-9, 9, 13)
        points, queries, weights = points * units, queries * units, weights / units**2
    elif kind == "far":
        queries[::3] *= 10.0 ** rng.integers(1, 30, (134, 1))
    elif kind == "float32":
        points, weights = points.astype(np.float32), weights.astype(np.float32)
    elif kind == "classes":
        weights, labels = weights[:3], rng.integers(0, 3, len(points))
    elif kind == "shared":
        weights = weights[0]
    return DiagonalMetric(points, weights, labels), queries


def check_bits(kind: str) -> Found:
    """Return the share of queries whose neighbors and distances have the bits of the CPU."""
    same = []
    for seed, (k, with_exclude) in enumerate(((1, False), (10, True), (50, False), (300, True))):
        metric, queries = hostile(kind, seed)
        exclude = np.arange(len(queries)) if with_exclude else None
        tile_rows = None if seed % 2 else 8192
        found = gpu_search(metric, tile_rows=tile_rows).query(queries, k, exclude=exclude)
        expected = ExactSearch(metric).query(queries, k, exclude=exclude, n_jobs=-1)
        same.append((found[0] == expected[0]).all(1) & (found[1] == expected[1]).all(1))
    return {LANN: {"same": float(np.mean(same))}}


@cache
def fitted(n_jobs: int) -> tuple[LANNClassifier, np.ndarray]:
    planted = Planted(N_FEATURES, 0)
    X, y = planted.training_rows(N_ROWS)
    return LANNClassifier(random_state=0, n_jobs=n_jobs).fit(X, y), planted.test_rows(N_PREDICTED)[0]


def measure_shortlist(n_jobs: int) -> Found:
    """Compare shortlists of the GPU with those of an exact search on the CPU, to the bit."""
    clf, X = fitted(n_jobs)
    model, rows = clf.to("cuda").model_, X[:20_000].astype(np.float64)
    coarse = ExactSearch(model.levels.class_metric())
    on_cpu = Shortlist(coarse, model.metric, int(model.n_candidates or model.n_rows))
    found = model.kneighbors(rows, model.n_neighbors)
    expected = on_cpu.query(model.transform(rows), model.n_neighbors, n_jobs=n_jobs)
    same = (found[0] == expected[0]).all(1) & (found[1] == expected[1]).all(1)
    return {LANN: {"same": float(same.mean()), "same_input": float(takes_arrays_of_the_gpu(clf, rows))}}


def takes_arrays_of_the_gpu(clf: LANNClassifier, rows: np.ndarray) -> bool:
    """Return whether tensors of torch and arrays of cupy are predicted as arrays of NumPy."""
    import torch

    arrays = [torch.tensor(rows, device="cuda")]
    with suppress(ImportError):
        arrays.append(import_module("cupy").asarray(rows))
    expected = clf.predict_proba(rows)
    return all(np.array_equal(clf.predict_proba(array), expected) for array in arrays)


def measure_predict(n_jobs: int) -> Found:
    """Time the probabilities of many rows, arrays on the host, on the CPU and on the GPU."""
    clf, X = fitted(n_jobs)
    seconds, found = {}, {}
    for method, device, repeats in ((CPU, "cpu", 1), (LANN, "cuda", 5)):
        predict = partial(clf.to(device).predict_proba, X)
        clf.predict_proba(X[:40_000])
        seconds[method] = statistics.median(seconds_of(predict) for _ in range(repeats))
        found[method] = clf.predict_proba(X[:N_COMPARED])
    differs = found[CPU].argmax(axis=1) != found[LANN].argmax(axis=1)
    return {
        CPU: {"seconds": seconds[CPU]},
        LANN: {
            "seconds": seconds[LANN],
            "same": float(np.mean((found[CPU] == found[LANN]).all(axis=1))),
            "differs": float(np.mean(differs)),
        },
    }


class GPU(Benchmark):
    """The search on a GPU beside torch alone, float64 and the CPU."""

    parts = (SEARCH, "check", SHORTLIST, PREDICT)
    main_score = "rate"
    quick = "two sizes of the search, and the checks."
    slow_parts = (SHORTLIST, PREDICT)
    strict = True

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--check", action="store_true", help="Only the checks that the bits are the same."
        )

    def jobs(self) -> Iterator[Job]:
        options = self.options
        if "check" in self.chosen:
            for kind in CHECKED:
                yield Job("check", LANN, kind, 0, partial(check_bits, kind))
        if SHORTLIST in self.chosen:
            yield Job(SHORTLIST, LANN, "", 0, partial(measure_shortlist, options.n_jobs))
        if options.check:
            return
        if SEARCH in self.chosen:
            for name in list(SIZES)[: 2 if options.quick else None]:
                yield Job(SEARCH, LANN, name, 0, partial(measure_search, name))
        if PREDICT in self.chosen:
            yield Job(PREDICT, LANN, "", 0, partial(measure_predict, options.n_jobs))

    def report(self, results: Results) -> Report:
        import torch

        name = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
        tables = [search_table(results)] if results.data_sets(SEARCH) else []
        if results.data_sets(PREDICT):
            tables.append(predict_table(results))
        return Report(f"{name}, torch {torch.__version__}.", tables, list(checks(results)))


def search_table(results: Results) -> Table:
    rows = []
    for name, (_, _, _, least) in SIZES.items():
        ours, plain = (results.first(SEARCH, method, name) for method in (LANN, PLAIN))
        if ours is None or plain is None:
            continue
        rates = (ours["rate"], least, plain["rate"], ours["floor"])
        differ = f"{ours['differs']:.6f} of {ours['n_compared']}"
        rows.append((name, *(f"{rate / 1e6:.3f}" for rate in rates), differ, f"{ours['on_cpu']:.6f}"))
    head = ("rows × features", "lann", "at least", PLAIN, "floor", "neighbors differ", "searched on the CPU")
    return Table("Exact search, million queries per second", head, rows)


def predict_table(results: Results) -> Table:
    ours, cpu = (results.first(PREDICT, method, "") for method in (LANN, CPU))
    if ours is None or cpu is None:
        return Table("Probabilities", ("",), [])
    row = (number(cpu["seconds"]), number(ours["seconds"]), number(cpu["seconds"] / ours["seconds"]),
           number(ours["same"], 4), number(ours["differs"], 4))  # fmt: skip
    head = ("CPU, s", "GPU, s", "CPU / GPU", "same probabilities", "other label")
    return Table(f"predict_proba of {N_PREDICTED} rows by {N_ROWS}", head, [row])


def checks(results: Results) -> Iterator[Check]:
    def value(part: str, method: str, data: str, score: str) -> float:
        values: Values = results.first(part, method, data) or {}
        return float(values.get(score, NAN))

    for kind in CHECKED:
        yield check(f"bits of the CPU, {kind}", value("check", LANN, kind, "same"), least=1.0)
    yield check("bits of the CPU, shortlists", value(SHORTLIST, LANN, "", "same"), least=1.0)
    yield check("arrays of the GPU", value(SHORTLIST, LANN, "", "same_input"), least=1.0)
    for name, (_, _, _, least) in SIZES.items():
        yield check(
            f"{name}: queries per second ≥ {least:.0f}", value(SEARCH, LANN, name, "rate"), least=least
        )
        yield check(f"{name}: neighbors differ", value(SEARCH, LANN, name, "differs"), most=0.0)
        yield check(f"{name}: bits of the CPU", value(SEARCH, LANN, name, "same_bits"), least=1.0)
    ratio = value(PREDICT, CPU, "", "seconds") / value(PREDICT, LANN, "", "seconds")
    yield check(f"predict_proba, CPU / GPU ≥ {SPEEDUP:.0f}", ratio, least=SPEEDUP)


BENCHMARK = GPU
