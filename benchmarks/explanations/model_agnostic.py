"""Explanations of models that do not explain themselves: by shap, lime and scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from benchmarks.common.arrays import Floats
from benchmarks.explanations.tasks import Task

Explain = Callable[[Floats], Floats]
"""From queries (n_queries, n_features) to relevances of the same shape, which are not negative."""

# The background of KernelSHAP: centers of k-means, which replace the features that it leaves out.
N_BACKGROUND = 20
N_REPEATS = 5


def kernel_shap(model: Any, task: Task) -> Explain:
    """Return absolute SHAP values of the predicted label's probability, with shap's default samples."""
    explain = kernel_shap_values(model, task)
    return lambda queries: np.abs(explain(queries))


def kernel_shap_values(model: Any, task: Task) -> Explain:
    """Return the SHAP values of the predicted label's probability, with signs."""
    import shap

    explainer = shap.KernelExplainer(model.predict_proba, shap.kmeans(task.X, N_BACKGROUND))

    def explain(queries: Floats) -> Floats:
        with _global_seed(task.seed):
            values = explainer.shap_values(queries, silent=True)
        return _of_predicted(values, model, queries)

    return explain


def tree_shap(model: Any, task: Task) -> Explain:
    """Return absolute SHAP values of the predicted label's probability, computed from the trees."""
    explain = tree_shap_values(model)
    return lambda queries: np.abs(explain(queries))


def tree_shap_values(model: Any) -> Explain:
    """Return the SHAP values of the predicted label's probability, computed from the trees, with signs."""
    import shap

    explainer = shap.TreeExplainer(model)
    return lambda queries: _of_predicted(
        explainer.shap_values(queries, check_additivity=False), model, queries
    )


def lime(model: Any, task: Task) -> Explain:
    """Return absolute weights of a linear model around the query, with lime's defaults."""
    from lime.lime_tabular import LimeTabularExplainer

    explainer = LimeTabularExplainer(task.X, random_state=task.seed)

    def explain(queries: Floats) -> Floats:
        relevances = np.zeros(queries.shape)
        predicted = model.predict_proba(queries).argmax(axis=1)
        for row, class_index in enumerate(predicted.tolist()):
            explanation = explainer.explain_instance(
                queries[row], model.predict_proba, labels=(class_index,), num_features=queries.shape[1]
            )
            for feature, weight in explanation.as_map()[class_index]:
                relevances[row, feature] = abs(weight)
        return relevances

    return explain


def permutation_importance(model: Any, task: Task) -> Explain:
    """Return one ranking for all queries: the loss of accuracy on the test rows by permuting a feature."""
    from sklearn.inspection import permutation_importance as measure

    losses = measure(
        model, task.X_test, task.y_test, n_repeats=N_REPEATS, random_state=task.seed
    ).importances_mean
    return lambda queries: np.tile(np.maximum(losses, 0.0), (len(queries), 1))


def _of_predicted(values: Any, model: Any, queries: Floats) -> Floats:
    """Select the SHAP values of the predicted class from those of all, (n_queries, n_features, n_classes)."""
    predicted = model.predict_proba(queries).argmax(axis=1)
    return np.asarray(values)[np.arange(len(queries)), :, predicted]


@contextmanager
def _global_seed(seed: int) -> Iterator[None]:
    # KernelSHAP draws from NumPy's global generator, and takes no seed.
    state = np.random.get_state()  # noqa: NPY002
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002
