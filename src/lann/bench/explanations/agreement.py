"""One method on one data set with planted features: whether it finds them, and whether it can be trusted."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from lann._types import Floats, Indices
from lann.bench.explanations.explainers import GLOBAL, Explainer
from lann.bench.explanations.model_agnostic import Read
from lann.bench.explanations.task import ALL, Task
from lann.explain import scores

# Features that an explanation names, where they are replaced or counted.
N_NAMED = 3
N_DRAWS = 10
# How far beside a query its neighbor is asked about, in standard deviations of the features.
NUDGE = 0.05
# The gate says which features decide, everywhere alike: neither right nor wrong to name.
GATE = 0


@dataclass(frozen=True)
class Agreement:
    """What one method reached on one data set; means over the rows that it explained.

    Parameters
    ----------
    aucs : (n_rows,) each row's area under the curve
    auc, top_3, rank, mass
        Agreement with what was planted, see `lann.explain.scores`.
    deletion, random_deletion
        Change of the prediction's probability when the 3 features named, or 3 others, have another's values.
    stability
        Similarity of what is said of a query and of a place right beside it.
    sparseness
        Gini index.
    seconds
        To explain a row; None where one ranking serves all rows.
    """

    aucs: Floats
    auc: float
    top_3: float
    rank: float
    mass: float
    deletion: float
    random_deletion: float
    stability: float
    sparseness: float
    seconds: float | None

    @property
    def n_rows(self) -> int:
        return len(self.aucs)


def agree(explainer: Explainer, model: Any, task: Task, n_rows: int, n_nudged: int) -> Agreement:
    """
    Explain the first rows of a task, and score it.

    Parameters
    ----------
    explainer
        The method.
    model
        Fitted on the task, as the method wants it.
    task
        Data with planted features.
    n_rows, n_nudged
        How many rows are explained, and how many of them once more from beside.
    """
    read = explainer.prepare(model, task)
    queries = task.queries[:n_rows]
    if explainer.rows == ALL:  # the others compile nothing, and are slow enough as it is
        read(queries[:1])
    relevances, seconds = _timed(read, queries)
    rng = np.random.default_rng(task.seed)
    nudged = queries[:n_nudged] + NUDGE * rng.standard_normal((n_nudged, queries.shape[1]))
    found, planted, beside = (
        np.delete(values, GATE, axis=1) for values in (relevances, task.planted[:n_rows], read(nudged))
    )
    aucs = scores.planted_auc(found, planted)
    change, by_lot = deletion(model, queries, relevances, task.X, task.seed)
    return Agreement(
        aucs=aucs,
        auc=float(aucs.mean()),
        top_3=float(scores.top_k_intersection(found, planted, N_NAMED).mean()),
        rank=float(scores.rank_accuracy(found, planted).mean()),
        mass=float(scores.mass_accuracy(found, planted).mean()),
        deletion=change,
        random_deletion=by_lot,
        stability=float(scores.similarity(found[:n_nudged], beside).mean()),
        sparseness=float(scores.sparseness(found).mean()),
        seconds=None if explainer.group == GLOBAL else seconds / n_rows,
    )


def deletion(model: Any, queries: Floats, relevances: Floats, pool: Floats, seed: int) -> tuple[float, float]:
    """Mean change of the prediction's probability: without the features named, and without some by lot."""
    named = scores.most_relevant(relevances, N_NAMED)
    by_lot = _drawn(len(queries), queries.shape[1], seed)
    change, random_change = (
        scores.probability_change(
            model.predict_proba, queries, features, pool, n_draws=N_DRAWS, random_state=seed
        ).mean()
        for features in (named, by_lot)
    )
    return float(change), float(random_change)


def _drawn(n_queries: int, n_features: int, seed: int) -> Indices:
    """Features by lot, others in every draw: (N_DRAWS, n_queries, N_NAMED)."""
    order = np.random.default_rng(seed).random((N_DRAWS, n_queries, n_features))
    return order.argsort(axis=2)[:, :, :N_NAMED]


def _timed(read: Read, queries: Floats) -> tuple[Floats, float]:
    """What is read, and the seconds it takes: the median of three turns where these are short."""
    times: list[float] = []
    while not times or (times[0] < 1.0 and len(times) < 3):
        start = time.perf_counter()
        relevances = read(queries)
        times.append(time.perf_counter() - start)
    return relevances, statistics.median(times)
