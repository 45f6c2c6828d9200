"""Labels without any meaning: nothing that an explanation names then is right more often than by chance."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lann.bench.explanations.agreement import GATE
from lann.bench.explanations.explainers import Explainer
from lann.bench.explanations.task import Task
from lann.explain.scores import planted_auc


def permuted_task(task: Task, permutation: int) -> Task:
    """The same data with the labels of the training part in another order."""
    rng = np.random.default_rng([task.seed, permutation])
    return replace(task, y=rng.permutation(task.y))


def permuted_auc(explainer: Explainer, model: Any, task: Task) -> float:
    """Mean area under the curve of a model that was fitted on such labels.

    With nothing to find, a model still ranks features somehow, and for all queries much alike: a single fit
    says little, and only the mean over many is to be .5.
    """
    found = np.delete(explainer.prepare(model, task)(task.queries), GATE, axis=1)
    return float(planted_auc(found, np.delete(task.planted, GATE, axis=1)).mean())
