"""Score an explanation method on data with planted features, and its fidelity to the model."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np

from benchmarks.common.arrays import Floats, Indices
from benchmarks.engine import Values, seconds_of
from benchmarks.explanations import scores
from benchmarks.explanations.explainers import GLOBAL, Explainer
from benchmarks.explanations.model_agnostic import Explain
from benchmarks.explanations.tasks import ALL, Task

SCORES = (
    "auc", "top_3", "rank", "mass", "deletion", "random_deletion", "stability", "sparseness", "seconds",
)  # fmt: skip

# Number of most relevant features that are counted or replaced.
N_TOP = 3
N_DRAWS = 10
# Size of the perturbation for the stability, in standard deviations of the features.
PERTURBATION = 0.05


def score_explanations(explainer: Explainer, model: Any, task: Task, n_rows: int, n_perturbed: int) -> Values:
    """
    Explain the first test rows of a task, and score the explanations.

    Parameters
    ----------
    explainer
        The explanation method.
    model
        Its model, fitted on the task.
    task
        Data with planted features.
    n_rows, n_perturbed
        How many rows are explained, and how many of them once more with a perturbation.

    Returns
    -------
    values
        Means over the rows. ``auc``, ``top_3``, ``rank``, ``mass``: agreement with the planted features, see
        `scores`. ``deletion``, ``random_deletion``: change of the probability of the prediction when the 3
        most relevant features, or 3 random ones, are replaced. ``stability``: similarity of the explanations
        of a row and of the perturbed row. ``sparseness``: Gini index. ``seconds``: to explain a row; None if
        one ranking serves all rows. ``aucs``: the AUC of every row.
    """
    explain = explainer.prepare(model, task)
    queries = task.X_test[:n_rows]
    if explainer.rows == ALL:  # the others compile nothing, and are slow
        explain(queries[:1])
    relevances, seconds = _timed(explain, queries)
    rng = np.random.default_rng(task.seed)
    perturbed = queries[:n_perturbed] + PERTURBATION * rng.standard_normal((n_perturbed, queries.shape[1]))
    found, planted, of_perturbed = (
        np.delete(values, task.ignored, axis=1)
        for values in (relevances, task.planted[:n_rows], explain(perturbed))
    )
    aucs = scores.planted_auc(found, planted)
    change, random_change = deletion(model, queries, relevances, task.X, task.seed)
    return {
        "auc": float(aucs.mean()),
        "top_3": float(scores.top_k_intersection(found, planted, N_TOP).mean()),
        "rank": float(scores.rank_accuracy(found, planted).mean()),
        "mass": float(scores.mass_accuracy(found, planted).mean()),
        "deletion": change,
        "random_deletion": random_change,
        "stability": float(scores.similarity(found[:n_perturbed], of_perturbed).mean()),
        "sparseness": float(scores.sparseness(found).mean()),
        "seconds": None if explainer.group == GLOBAL else seconds / n_rows,
        "n_rows": len(aucs),
        "aucs": aucs.tolist(),
    }


def permuted_auc(explainer: Explainer, model: Any, task: Task) -> float:
    """Return the mean AUC of a model that was fitted on permuted labels.

    Without relevant features, a model still ranks features, and much alike for all queries: the AUC of a
    single fit says little, and only the mean over many fits is to be .5.
    """
    found = np.delete(explainer.prepare(model, task)(task.X_test), task.ignored, axis=1)
    return float(scores.planted_auc(found, np.delete(task.planted, task.ignored, axis=1)).mean())


def deletion(model: Any, queries: Floats, relevances: Floats, pool: Floats, seed: int) -> tuple[float, float]:
    """Return the mean changes of the prediction's probability without the top and without random features."""
    top = scores.most_relevant(relevances, N_TOP)
    drawn = _random_features(len(queries), queries.shape[1], seed)
    change, random_change = (
        scores.probability_change(
            model.predict_proba, queries, features, pool, n_draws=N_DRAWS, random_state=seed
        ).mean()
        for features in (top, drawn)
    )
    return float(change), float(random_change)


def _random_features(n_queries: int, n_features: int, seed: int) -> Indices:
    """Draw other features in every draw: (N_DRAWS, n_queries, N_TOP)."""
    order = np.random.default_rng(seed).random((N_DRAWS, n_queries, n_features))
    return order.argsort(axis=2)[:, :, :N_TOP]


def _timed(explain: Explain, queries: Floats) -> tuple[Floats, float]:
    """Return the relevances and the seconds: the median of three turns if these are short."""
    relevances: list[Floats] = []
    times: list[float] = []
    while not times or (times[0] < 1.0 and len(times) < 3):
        times.append(seconds_of(lambda: relevances.append(explain(queries))))
    return relevances[-1], statistics.median(times)
