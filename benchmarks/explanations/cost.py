"""The cost of explanations, compared with predictions of the same rows and with KernelSHAP."""

from __future__ import annotations

import statistics
from functools import partial
from typing import Any

import numpy as np

from benchmarks.common.arrays import Floats
from benchmarks.engine import PairedTimes, Values, seconds_of, time_in_turns
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
        landmarks. ``explain``, ``predict``: ``n_rows`` rows at once, the best of the turns. ``details``: the
        same with supports and contributions of all rows. ``one``: a single row later on. ``one_in_words``: a
        single row with its supports and its sentence. ``kernel``: KernelSHAP, per row; None without shap.
        ``ratio``, ``ratio_std``: explain / predict, and its deviation over the turns. ``details_ratio``,
        ``details_ratio_std``: details / predict. ``speedup``, ``speedup_of_one``: how many times as fast as
        KernelSHAP, per row, if many rows are explained at once or one alone.
    """
    fit = seconds_of(partial(model.fit, task.X, task.y))
    first = seconds_of(partial(model.explain, task.X_test[:1]))
    queries = task.X_test
    times = time_in_turns(lambda: model.explain(queries), lambda: model.predict(queries), repeats=n_turns)
    of_details = time_in_turns(
        lambda: _explain_in_detail(model, queries), lambda: model.predict(queries), repeats=n_turns
    )
    singles = np.split(queries[:N_SINGLE], len(queries[:N_SINGLE]))
    ones = [seconds_of(partial(model.explain, row)) for row in singles]
    in_words = [seconds_of(partial(_explain_in_words, model, row)) for row in singles]
    kernel = None
    if with_shap:
        explain = kernel_shap(model, task)
        kernel = seconds_of(partial(explain, queries[:n_kernel_rows])) / n_kernel_rows
    values = {
        "fit": fit,
        "first": first,
        "explain": min(times.ours),
        "predict": min(times.other),
        "details": min(of_details.ours),
        "details_ratio": min(of_details.ours) / min(of_details.other),
        "details_ratio_std": of_details.ratio_std,
        "n_rows": len(queries),
        "one": statistics.median(ones),
        "one_in_words": statistics.median(in_words),
        "kernel": kernel,
        "ratio_std": times.ratio_std,
    }
    return values | ratios(values)


def measure_first(model: Any, task: Task, n_turns: int) -> Values:
    """
    Fit the model and explain one row for the first time, in turns.

    Returns
    -------
    values
        ``fit``, ``first``: medians of the seconds. ``ratio``, ``ratio_std``: first / fit, the median and the
        deviation over the turns.
    """
    times = PairedTimes([], [])
    for _ in range(n_turns):
        times.other.append(seconds_of(partial(model.fit, task.X, task.y)))
        times.ours.append(seconds_of(partial(model.explain, task.X_test[:1])))
    return {
        "fit": statistics.median(times.other),
        "first": statistics.median(times.ours),
        "ratio": statistics.median(times.ratios),
        "ratio_std": times.ratio_std,
    }


def _explain_in_detail(model: Any, queries: Floats) -> tuple[Floats, Floats]:
    explanation = model.explain(queries)
    return explanation.supports, explanation.contributions


def _explain_in_words(model: Any, queries: Floats) -> tuple[Floats, list[str]]:
    explanation = model.explain(queries)
    return explanation.support, explanation.in_words()


def ratios(values: Values) -> Values:
    """Return the ratios of the seconds that `measure_cost` measured."""
    kernel = values["kernel"]
    return {
        "ratio": values["explain"] / values["predict"],
        "speedup": None if kernel is None else kernel * values["n_rows"] / values["explain"],
        "speedup_of_one": None if kernel is None else kernel / values["one"],
    }
