"""The cost of explanations, compared with predictions of the same rows and with KernelSHAP."""

from __future__ import annotations

import statistics
from functools import partial
from typing import Any

from benchmarks.engine import Values, seconds_of, time_in_turns
from benchmarks.explanations.model_agnostic import kernel_shap
from benchmarks.explanations.tasks import Task

N_SINGLE = 20


def measure_cost(model: Any, task: Task, n_turns: int, n_kernel_rows: int, *, with_shap: bool) -> Values:
    """
    Fit the model, explain all test rows of the task, and time it: both sides of a ratio in one process.

    Returns
    -------
    values
        ``fit``, ``first``: seconds to fit, and to explain one row for the first time, which computes the
        landmarks. ``explain``, ``predict``: ``n_rows`` rows at once, the best of the turns. ``one``: a single
        row later on. ``kernel``: KernelSHAP, per row; None without shap. ``ratio``, ``ratio_std``: explain /
        predict, and its deviation over the turns. ``speedup``, ``speedup_of_one``: how many times as fast as
        KernelSHAP, per row, if many rows are explained at once or one alone.
    """
    fit = seconds_of(partial(model.fit, task.X, task.y))
    first = seconds_of(partial(model.explain, task.X_test[:1]))
    queries = task.X_test
    times = time_in_turns(lambda: model.explain(queries), lambda: model.predict(queries), repeats=n_turns)
    ones = [seconds_of(partial(model.explain, queries[row : row + 1])) for row in range(N_SINGLE)]
    kernel = None
    if with_shap:
        explain = kernel_shap(model, task)
        kernel = seconds_of(partial(explain, queries[:n_kernel_rows])) / n_kernel_rows
    values = {
        "fit": fit,
        "first": first,
        "explain": min(times.ours),
        "predict": min(times.other),
        "n_rows": len(queries),
        "one": statistics.median(ones),
        "kernel": kernel,
        "ratio_std": times.ratio_std,
    }
    return values | ratios(values)


def ratios(values: Values) -> Values:
    """Return the ratios of the seconds that `measure_cost` measured."""
    kernel = values["kernel"]
    return {
        "ratio": values["explain"] / values["predict"],
        "speedup": None if kernel is None else kernel * values["n_rows"] / values["explain"],
        "speedup_of_one": None if kernel is None else kernel / values["one"],
    }
