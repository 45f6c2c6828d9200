"""What is measured at up to a million rows, carried to a billion."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.engine import Results, Row, Table
from benchmarks.scale.methods import LANN
from benchmarks.scale.plan import DASK, DASK_FEATURES, DASK_ROWS, ROWS, Plan, size_name, workers_name

BILLION = 1_000_000_000
LEAST_ROWS = 100_000
"""Sizes from which on a fit goes tile by tile."""
WORKER_CORES, WORKER_GB = 16, 64
"""A worker of the cluster in the example."""
USABLE = 0.5
"""Share of the memory of a worker that its part of the model and of the rows may take."""


@dataclass(frozen=True)
class Costs:
    """
    Costs of a fit, from the two largest sizes measured.

    Parameters
    ----------
    n_rows, n_features
        The largest size.
    core_seconds_per_million
        Core seconds for a million rows more.
    fixed_core_seconds
        What does not depend on the number of rows: the shared levels are learned on a sample.
    kept_bytes, data_bytes
        Of a row, in the model above the data, and in the data.
    n_cells, n_probed
        Number of cells, and how many of them a query searches.
    assign_core_seconds
        To find the cell of a row.
    rows_per_core_second
        Rows that a core predicts in a second.
    efficiency
        Of two workers: half the quotient of the times with one and with two; None if it was not measured.
    """

    n_rows: int
    n_features: int
    core_seconds_per_million: float
    fixed_core_seconds: float
    kept_bytes: float
    data_bytes: float
    n_cells: int
    n_probed: int
    assign_core_seconds: float
    rows_per_core_second: float
    efficiency: float | None

    @property
    def growth(self) -> float:
        """How many times as many cells there are, and rows in each: both grow as the root of the rows."""
        return (BILLION / self.n_rows) ** 0.5

    @property
    def training_hours(self) -> float:
        """Core hours of the training on a billion rows."""
        return (self.core_seconds_per_million * BILLION / 1e6 + self.fixed_core_seconds) / 3600

    @property
    def assign_hours(self) -> float:
        """Core hours to find the cells of a billion rows."""
        return self.assign_core_seconds * self.growth * BILLION / 3600

    @property
    def model_gb(self) -> float:
        return self.kept_bytes * BILLION / 1e9

    @property
    def data_gb(self) -> float:
        return self.data_bytes * BILLION / 1e9

    @property
    def n_workers(self) -> int:
        """Workers whose memory holds the model and the rows."""
        return -int(-(self.model_gb + self.data_gb) // (USABLE * WORKER_GB))

    @property
    def n_cores(self) -> int:
        return self.n_workers * WORKER_CORES

    @property
    def hours(self) -> float:
        """Hours of a fit on these workers, as efficient as two workers were; fully, if that is not known."""
        return (self.training_hours + self.assign_hours) / (self.n_cores * (self.efficiency or 1.0))

    @property
    def predicted_per_second(self) -> float:
        """Rows per second that all workers together predict: the time for a row grows as its cells do."""
        return self.rows_per_core_second / self.growth * self.n_cores


def measured_costs(results: Results, plan: Plan, n_jobs: int = 2) -> Costs | None:
    """Return the costs on the largest number of features; None unless two large sizes were measured."""
    n_features, found = plan.features[-1], results.part(ROWS)
    sizes = [size for size in plan.sizes if size >= LEAST_ROWS]
    known = [(n, v) for n in sizes if (v := found.first(LANN, size_name(n, n_features))) is not None]
    if len(known) < 2 or "n_cells" not in known[-1][1]:
        return None
    (small, before), (large, values) = known[-2:]
    slope = (values["fit_seconds"] - before["fit_seconds"]) / (large - small)
    fixed = max(values["fit_seconds"] - slope * large, 0.0)
    dask = results.part(DASK)
    name = size_name(DASK_ROWS, DASK_FEATURES)
    one, two = (dask.mean(workers_name(n), name, "fit_seconds") for n in (1, 2))
    return Costs(
        large,
        n_features,
        n_jobs * slope * 1e6,
        n_jobs * fixed,
        1e9 * values["kept_gb"] / large,
        1e9 * values["data_gb"] / large,
        values["n_cells"],
        values["n_probed"],
        n_jobs * values["assign_seconds"],
        values["rows_per_second_again"] / n_jobs,
        None if one is None or two is None else one / two / 2,
    )


def extrapolation_table(results: Results, plan: Plan, n_jobs: int = 2) -> Table:
    """Show what a billion rows would cost, and under which assumptions."""
    title, head = "Carried to a billion rows", ("a billion rows", "measured", "carried to 10⁹")
    costs = measured_costs(results, plan, n_jobs)
    if costs is None:
        return Table(title, head, [("", [])])
    efficiency = "not measured: 1" if costs.efficiency is None else f"{costs.efficiency:.2f}"
    rows = [
        Row("training, tile by tile", (
            f"{costs.core_seconds_per_million:.0f} core seconds per million rows",
            f"{costs.training_hours:.0f} core hours",
        )),
        Row("shared levels, on a sample", (f"{costs.fixed_core_seconds:.0f} core seconds", "the same")),
        Row("cells", (f"{costs.n_cells}", f"{costs.n_cells * costs.growth:.0f}")),
        Row("finding the cells of all rows", (
            f"{1e6 * costs.assign_core_seconds:.1f} µs of a core per row",
            f"{costs.assign_hours:.0f} core hours",
        )),
        Row("model", (f"{costs.kept_bytes:.0f} bytes per row", f"{costs.model_gb:.0f} GB")),
        Row("rows, float32", (f"{costs.data_bytes:.0f} bytes per row", f"{costs.data_gb:.0f} GB")),
        Row(f"workers of {WORKER_CORES} cores and {WORKER_GB} GB", (
            f"{USABLE:.0%} of the memory used", f"{costs.n_workers}",
        )),
        Row("fit on these", (f"efficiency of two workers {efficiency}", f"{costs.hours:.1f} h")),
        Row("predict on these", (
            f"{costs.rows_per_core_second:.0f} rows/s on a core", f"{costs.predicted_per_second:.0f} rows/s",
        )),
    ]  # fmt: skip
    notes = (
        f"From the two largest sizes with {costs.n_features} features: the difference of the times over the "
        "difference of the rows is the cost of a row, what remains is that of the sample. Assumptions: tiles "
        "and their borders stay as large as they are, so that a tile costs the same among more of them; "
        "cells grow as √m in number and in size, so that finding the cell of a row and searching the cells "
        f"of a query ({costs.n_probed} at {costs.n_rows} rows, and as many then) take "
        f"{costs.growth:.0f} times as long; the rows are already on the workers, and regrouping them costs "
        "little beside the training; workers are as efficient as two of them were; a core is as fast as one "
        "of this machine.",
    )
    return Table(title, head, [("", rows)], notes, titled=True)
