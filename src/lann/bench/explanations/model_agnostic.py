"""Explanations of models that do not explain themselves: by shap, lime and scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from lann._types import Floats
from lann.bench.explanations.task import Task

Read = Callable[[Floats], Floats]

# Points that stand for the data where KernelSHAP leaves features out: centers of k-means.
N_BACKGROUND = 20
N_REPEATS = 5


def kernel_shap(model: Any, task: Task) -> Read:
    """Absolute SHAP values of the predicted label's probability, with shap's own number of samples."""
    import shap

    explainer = shap.KernelExplainer(model.predict_proba, shap.kmeans(task.X, N_BACKGROUND))

    def read(queries: Floats) -> Floats:
        with _global_seed(task.seed):
            values = explainer.shap_values(queries, silent=True)
        return _of_predicted(values, model, queries)

    return read


def tree_shap(model: Any, task: Task) -> Read:
    """Absolute SHAP values of the predicted label's probability, by the paths of the trees."""
    import shap

    explainer = shap.TreeExplainer(model)
    return lambda queries: _of_predicted(
        explainer.shap_values(queries, check_additivity=False), model, queries
    )


def lime(model: Any, task: Task) -> Read:
    """Absolute weights of a linear model around the query, with lime's own settings."""
    from lime.lime_tabular import LimeTabularExplainer

    explainer = LimeTabularExplainer(task.X, random_state=task.seed)

    def read(queries: Floats) -> Floats:
        relevances = np.zeros(queries.shape)
        predicted = model.predict_proba(queries).argmax(axis=1)
        for row, label in enumerate(predicted.tolist()):
            told = explainer.explain_instance(
                queries[row], model.predict_proba, labels=(label,), num_features=queries.shape[1]
            )
            for feature, weight in told.as_map()[label]:
                relevances[row, feature] = abs(weight)
        return relevances

    return read


def permutation_importance(model: Any, task: Task) -> Read:
    """One ranking for all queries: the accuracy on the test rows that is lost when a column is shuffled."""
    from sklearn.inspection import permutation_importance as measure

    lost = measure(
        model, task.queries, task.answers, n_repeats=N_REPEATS, random_state=task.seed
    ).importances_mean
    return lambda queries: np.tile(np.maximum(lost, 0.0), (len(queries), 1))


def _of_predicted(values: Any, model: Any, queries: Floats) -> Floats:
    """From SHAP values of all classes, (n_queries, n_features, n_classes), those of the predicted one."""
    predicted = model.predict_proba(queries).argmax(axis=1)
    return np.abs(np.asarray(values)[np.arange(len(queries)), :, predicted])


@contextmanager
def _global_seed(seed: int) -> Iterator[None]:
    # KernelSHAP draws from NumPy's global generator, and takes no seed.
    state = np.random.get_state()  # noqa: NPY002
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002
