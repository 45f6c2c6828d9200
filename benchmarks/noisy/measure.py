"""Measure a classifier on one split of a noisy set, and describe the vote that it has chosen."""

from __future__ import annotations

from typing import Any

from benchmarks.common.measure import measure_task
from benchmarks.common.protocols import Split
from benchmarks.engine import Values
from benchmarks.noisy.data import NoisySet


def measure_split(estimator: Any, data: NoisySet, split: Split, n_jobs: int) -> Values:
    """
    Fit on the training rows and score on the test rows.

    Parameters
    ----------
    estimator
        Not fitted.
    data, split
        The data set, and its training and test rows.
    n_jobs
        The number of threads.

    Returns
    -------
    values
        Those of `measure_task`, and ``vote``: a description of the vote of neighbors, if there is one.
    """
    values = measure_task(estimator, data.task(split), n_jobs)
    vote = describe_vote(estimator)
    return values if vote is None else values | {"vote": vote}


def describe_vote(estimator: Any) -> str | None:
    """
    Describe the vote of a fitted classifier: number of neighbors, power or weights, and floor.

    Returns
    -------
    description
        Such as "k=35, power=1, floor=0.02"; None if the classifier has no neighbors.
    """
    chosen = getattr(estimator, "best_params_", {})
    vote = getattr(estimator, "vote_", None)
    parts = {
        "k": chosen.get("n_neighbors", getattr(estimator, "n_neighbors_", None)),
        "weights": chosen.get("weights"),
        "power": getattr(estimator, "power_", None),
        "floor": getattr(estimator, "floor_", getattr(vote, "floor", None)),
    }
    if parts["k"] is None:
        return None
    texts = {
        name: part if isinstance(part, str) else f"{part:g}"
        for name, part in parts.items()
        if part is not None
    }
    return ", ".join(f"{name}={text}" for name, text in texts.items())
