"""What explanations cost: beside predicting the same rows, and beside KernelSHAP on the same model."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from lann.bench.explanations.model_agnostic import kernel_shap
from lann.bench.explanations.task import Task
from lann.bench.timing import duel

N_SINGLE = 20


@dataclass(frozen=True)
class Cost:
    """Seconds.

    Parameters
    ----------
    fit, first
        To fit, and to explain one row for the first time, when training points are looked at closely.
    explain, predict
        Many rows at once, the best of some turns; `n_rows` of them.
    one
        To explain a single row later on.
    kernel
        KernelSHAP, per row; None without shap.
    ratio_std
        Of explain / predict over the turns.
    """

    fit: float
    first: float
    explain: float
    predict: float
    n_rows: int
    one: float
    kernel: float | None
    ratio_std: float

    @property
    def ratio(self) -> float:
        """How many times as long as predicting."""
        return self.explain / self.predict

    @property
    def faster(self) -> float | None:
        """How many times faster than KernelSHAP, per row, where many are explained."""
        return None if self.kernel is None else self.kernel * self.n_rows / self.explain

    @property
    def faster_alone(self) -> float | None:
        """The same for a row that is explained alone."""
        return None if self.kernel is None else self.kernel / self.one

    def as_dict(self) -> dict[str, Any]:
        return {
            **asdict(self), "ratio": self.ratio, "faster": self.faster, "faster_alone": self.faster_alone
        }  # fmt: skip


def measure_cost(model: Any, task: Task, n_turns: int, n_kernel_rows: int, *, with_shap: bool) -> Cost:
    """Fit the model, explain all queries of the task, and time it: both sides of a ratio in one process."""
    fit = _seconds(lambda: model.fit(task.X, task.y))
    first = _seconds(lambda: model.explain(task.queries[:1]))
    queries = task.queries
    turns = duel(lambda: model.explain(queries), lambda: model.predict(queries), repeats=n_turns)
    each = [ours / other for ours, other in zip(turns.ours, turns.other, strict=True)]
    ones = [_seconds(lambda row=row: model.explain(queries[row : row + 1])) for row in range(N_SINGLE)]  # type: ignore[misc]
    kernel = None
    if with_shap:
        read = kernel_shap(model, task)
        kernel = _seconds(lambda: read(task.queries[:n_kernel_rows])) / n_kernel_rows
    return Cost(
        fit=fit,
        first=first,
        explain=min(turns.ours),
        predict=min(turns.other),
        n_rows=len(queries),
        one=statistics.median(ones),
        kernel=kernel,
        ratio_std=statistics.stdev(each) if len(each) > 1 else 0.0,
    )


def _seconds(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
