"""The tables of the scale benchmark."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks.engine import PartResults, Results, Row, Table, Values
from benchmarks.engine.tables import NONE, share
from benchmarks.scale.growth import exponent
from benchmarks.scale.methods import BRUTE, FOREST, HNSW, LANN, METHODS, TREE, Method
from benchmarks.scale.plan import (
    COVERTYPE,
    COVERTYPE_METHODS,
    COVERTYPE_NAME,
    DASK,
    DASK_FEATURES,
    DASK_ROWS,
    ONE_PROCESS,
    ROWS,
    ROWS_METHODS,
    USPS_METHODS,
    USPS_NAME,
    WIDE,
    WIDE_METHODS,
    Plan,
    reference_seconds,
    size_name,
    values_by_size,
)
from benchmarks.scale.planted import CEILING

SPEED = "rows_per_second"
SHORT_SIZES = {10_000: "10k", 31_600: "31.6k", 100_000: "100k", 316_000: "316k", 1_000_000: "1M"}


def short_size(n_rows: int) -> str:
    return SHORT_SIZES.get(n_rows, f"{n_rows}")


def number(value: float | None) -> str:
    """Write a number with three digits, without an exponent."""
    if value is None:
        return NONE
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def rows_tables(results: Results, plan: Plan) -> list[Table]:
    """Fit, predict, memory and accuracy by the number of rows, with exponents."""
    found = results.part(ROWS)

    def table(
        title: str, score: str, write: Callable[[float | None], str], *notes: str, growth: bool
    ) -> Table:
        head = (
            title.partition(",")[0].lower(),
            *map(short_size, plan.sizes),
            *(["exponent"] if growth else []),
        )
        sections = [
            (f"{n_features} features", [
                _size_row(found, method, score, n_features, plan, write, growth)
                for method in plan.chosen(ROWS_METHODS)
            ])
            for n_features in plan.features
        ]  # fmt: skip
        return Table(title, head, sections, notes, titled=True)

    tables = [
        table("Fit, seconds", "fit_seconds", number, _exponent_note(), growth=True),
        table("Predict, rows per second", SPEED, number, _queries_note(plan), growth=True),
        table("Predict one row, milliseconds", "one_row_seconds", _milliseconds, growth=True),
        table(
            "Memory, peak of the process in GB during the fit, with the data",
            "peak_gb",
            number,
            "Each method has a process of its own, which measures its own peak (VmHWM). The interpreter, the "
            "libraries and the test rows are part of it.",
            growth=False,
        ),
        table(
            "Memory, peak of the fit in GB above the data",
            "above_gb",
            number,
            "What the process held before the fit, the data included, is subtracted.",
            growth=True,
        ),
        table(
            "Accuracy",
            "accuracy",
            share,
            f"The rule by which labels are planted has an accuracy of {share(CEILING)}: none can have more.",
            growth=False,
        ),
    ]
    return [*tables, own_table(results, plan)]


def _size_row(
    found: PartResults,
    method: Method,
    score: str,
    n_features: int,
    plan: Plan,
    write: Callable[[float | None], str],
    growth: bool,
) -> Row:
    values = values_by_size(found, method.name, score, n_features, plan.sizes)
    cells = [write(values.get(size)) for size in plan.sizes]
    if growth:
        times = {size: 1 / value for size, value in values.items()} if score == SPEED else values
        power = exponent(times)
        cells.append(NONE if power is None else f"{power:.2f}".replace("-", "−"))
    return Row(method.name, tuple(cells), label=method.label)


def _exponent_note() -> str:
    return (
        "The exponent is the slope of a straight line through the logarithms, over all sizes measured. "
        f"`{HNSW}` is the graph alone; the lists of 50 neighbors of all rows are in the table of LANN."
    )


def _queries_note(plan: Plan) -> str:
    largest = plan.sizes[-1]
    few = {name: METHODS[name].n_queries(largest, 10_000) for name in (BRUTE, TREE)}
    return (
        "The exponent is that of the time for a row. 10 000 test rows in one call, the first one after the "
        "fit and the prediction of one row. Slow "
        f"methods predict fewer: at {short_size(largest)} training rows {BRUTE} predicts {few[BRUTE]} and "
        f"{TREE} {few[TREE]}."
    )


def _milliseconds(seconds: float | None) -> str:
    return number(None if seconds is None else 1e3 * seconds)


def own_table(results: Results, plan: Plan) -> Table:
    """LANN by the number of rows, beside the graph of faiss."""
    found, other = results.part(ROWS), partial(reference_seconds, results)
    figures: list[tuple[str, Callable[[Values, int, int], str]]] = [
        ("fit, seconds", lambda v, n, d: number(v["fit_seconds"])),
        ("faiss: graph and 50 neighbors of all rows, seconds", lambda v, n, d: number(other(n, d))),
        ("fit, times as long as that", lambda v, n, d: number(_ratio(v["fit_seconds"], other(n, d)))),
        ("recall of faiss' 50 neighbors", lambda v, n, d: share(found.mean(HNSW, size_name(n, d), "recall"))),
        ("peak of the process during the fit, GB", lambda v, n, d: number(v["peak_gb"])),
        ("kept after the fit, GB above the data", lambda v, n, d: number(v["kept_gb"])),
        ("predict, rows/s, first call", lambda v, n, d: number(v["rows_per_second"])),
        ("predict, rows/s, second call", lambda v, n, d: number(v["rows_per_second_again"])),
        ("neighbors that vote", lambda v, n, d: str(v["n_neighbors"])),
        ("recall of these", lambda v, n, d: share(v["recall"], 4)),
        ("predict one row, ms", lambda v, n, d: _milliseconds(v["one_row_seconds"])),
        ("explain the first row, ms", lambda v, n, d: _milliseconds(v["explain_seconds"])),
        ("explain the second row, ms", lambda v, n, d: _milliseconds(v["explain_again_seconds"])),
        ("accuracy", lambda v, n, d: share(v["accuracy"])),
    ]  # fmt: skip
    sections = []
    for n_features in plan.features:
        by_size = {size: found.first(LANN, size_name(size, n_features)) for size in plan.sizes}
        rows = [
            Row(name, tuple(NONE if v is None else write(v, n, n_features) for n, v in by_size.items()))
            for name, write in figures
        ]
        if any(v is not None for v in by_size.values()):
            sections.append((f"{n_features} features", rows))
    notes = (
        "Recall: of the neighbors of 1000 test rows that vote if the candidates come from an exact search "
        "among all rows under the same class metrics, the share that `kneighbors` finds.",
    )
    return Table(
        "LANN by the number of rows", ("LANN", *map(short_size, plan.sizes)), sections, notes, titled=True
    )


def _ratio(value: float | None, other: float | None) -> float | None:
    return None if value is None or not other else value / other


def covertype_table(results: Results, plan: Plan) -> Table:
    found = results.part(COVERTYPE)
    rows = []
    for method in plan.chosen(COVERTYPE_METHODS):
        values = found.first(method.name, COVERTYPE_NAME)
        if values is not None:
            cells = (
                share(values["accuracy"], 4),
                f"{values['log_loss']:.3f}",
                f"{values['log_loss_floored']:.3f}",
                number(values["fit_seconds"]),
                number(values["rows_per_second"]),
                number(values["peak_gb"]),
            )
            rows.append(Row(method.name, cells, label=method.label))
    sizes = [v for m in found.methods if (v := found.first(m, COVERTYPE_NAME)) is not None]
    notes = [
        "Log-loss as returned: a probability of 0 counts as the machine epsilon; the log-loss beside it is "
        "that of (P + η/C) / (1 + η), as in all benchmarks."
    ]
    if sizes:
        notes.insert(0, f"{sizes[0]['n_rows']} training rows and {sizes[0]['n_queries']} test rows.")
    head = ("covertype", "accuracy", "log-loss as returned", "log-loss", "fit s", "predict rows/s", "peak GB")
    return Table("Covertype, 80 % for training", head, [("", rows)], tuple(notes), titled=True)


def wide_table(results: Results, plan: Plan) -> Table:
    found = results.part(WIDE)
    rows = []
    for n_rows, n_features in plan.wide_shapes:
        name = size_name(n_rows, n_features)
        for method in plan.chosen(WIDE_METHODS):
            values = found.first(method.name, name)
            if values is not None:
                cells = (
                    number(values["fit_seconds"]),
                    number(values.get("explain_seconds")),
                    number(values.get("explain_again_seconds")),
                    number(values["peak_gb"]),
                    share(values["accuracy"]),
                )
                rows.append(Row(f"{name}, {method.name}", cells, label=f"{name}, {method.label}"))
    for method in plan.chosen(USPS_METHODS):
        seconds = found.values(method.name, USPS_NAME, "fit_seconds")
        if seconds:
            accuracy = found.mean(method.name, USPS_NAME, "accuracy")
            spread = found.std(method.name, USPS_NAME, "accuracy")
            cells = (number(min(seconds)), NONE, NONE, NONE, f"{share(accuracy)} ± {share(spread)}")
            rows.append(Row(f"{USPS_NAME}, {method.name}", cells, label=f"{USPS_NAME}, {method.label}"))
    notes = (
        "Planted: two classes that differ in 20 features; blocks of 20 features are correlated. "
        f"{USPS_NAME}: the best time of each method, in turns in one process, and the accuracy over splits; "
        f"`{FOREST}` has 300 trees.",
    )
    head = ("rows × features", "fit s", "explain first row s", "second s", "peak GB", "accuracy")
    return Table("Wide tables", head, [("", rows)], notes, titled=True)


def dask_table(results: Results) -> Table:
    found = results.part(DASK)
    name = size_name(DASK_ROWS, DASK_FEATURES)
    rows = []
    for method in found.methods:
        values = found.first(method, name)
        if values is not None:
            cells = (
                number(values["fit_seconds"]),
                number(values["predict_seconds"]),
                share(values["accuracy"], 4),
                f"{100 * values['same']:.2f} %",
                NONE if method == ONE_PROCESS else f"{100 * values['same_gathered']:.2f} %",
                number(values.get("worker_peak_gb", values["peak_gb"])),
            )
            rows.append(Row(method, cells))
    notes = (
        f"{name} planted rows, which the workers hold before the clock starts. A worker is a process with "
        f"one thread, {ONE_PROCESS} is `lann.LANNClassifier` with n_jobs=1. The sample is trained by two "
        "threads of the client, while the workers wait, for any number of them. Shares of the same "
        "predictions: as with one worker, and as of the same model gathered in one process. Memory: the "
        "largest peak of a worker.",
    )
    head = (
        "Dask",
        "fit s",
        "predict 10 000 rows s",
        "accuracy",
        "same as 1 worker",
        "same gathered",
        "peak GB",
    )
    return Table("Dask on a local cluster", head, [("", rows)], notes, titled=True)
