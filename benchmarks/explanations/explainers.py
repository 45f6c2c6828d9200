"""The explanations that are compared, for arrays and for tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline

from benchmarks.explanations.data import ALL, FEW, SOME, Task
from benchmarks.harness import choose
from benchmarks.methods import METHODS, TableEncoder, make_estimator
from lann._support.types import Floats

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


OURS = "lann"
LANN, LOCAL, AGNOSTIC, GLOBAL = "LANN", "other local metrics", "model-agnostic", "one ranking for all rows"

# Methods of `benchmarks.common.methods` that explain themselves.
LOCAL_METHODS = ("lgmlvq", "lgrlvq", "plml", "glml", "dann", "lmnn-per-class")


@dataclass(frozen=True)
class Explainer:
    """
    An explanation method: a row of the tables.

    Parameters
    ----------
    name, label
        Its name after ``--method``, and in documents.
    model
        The method of `benchmarks.common.methods` that is explained.
    prepare
        From the fitted model and the task to the function that explains queries.
    description
        One sentence.
    group
        Heading of the section to which the row belongs.
    rows
        Whether all test rows are explained, some or few.
    needs
        A package that is needed beside the requirements of `lann`.
    """

    name: str
    label: str
    model: str
    prepare: Callable[[Any, Task], Explain]
    description: str
    group: str
    rows: str = ALL
    needs: str | None = None

    @property
    def missing(self) -> str | None:
        """Why it cannot be measured here; None if it can."""
        if self.needs is None or find_spec(self.needs) is not None:
            return None
        return f"needs {self.needs}, which is not installed: pip install 'lann[benchmarks]'."


def support_of_predictions(model: Any, queries: Floats) -> Floats:
    """Return the supports of the predicted classes by a LANNClassifier."""
    explanation = model.explain(queries, leave_out=None)
    predicted = np.searchsorted(model.classes_, explanation.predictions)
    return explanation.supports[np.arange(len(queries)), predicted]


def _relevances(model: Any, task: Task) -> Explain:
    return lambda queries: model.explain(queries).relevances


def _feature_weights(model: Any, task: Task) -> Explain:
    return model.neighbor_feature_weights


def _support(model: Any, task: Task) -> Explain:
    return lambda queries: np.abs(support_of_predictions(model, queries))


def all_explainers() -> list[Explainer]:
    """Return all explanation methods, in the order of the tables."""
    local = [method for name in LOCAL_METHODS for method in METHODS if method.name == name]
    kernel = f"KernelSHAP, shap's defaults, {N_BACKGROUND} k-means centers as background,"
    return [
        Explainer(
            OURS, "LANN", "lann", _relevances,
            "The share of the vote that changes with a feature: `explain(X).relevances`.", LANN,
        ),
        Explainer(
            "lann-neighbors", "LANN, neighbors' weights", "lann", _feature_weights,
            "The explanation of the paper: `neighbor_feature_weights(X)`.", LANN,
        ),
        Explainer(
            "lann-support", "LANN, support", "lann", _support,
            "What a feature adds to the probability of the prediction: absolute `explain(X).supports`.",
            LANN,
        ),
        *(
            Explainer(method.name, method.name, method.name, _feature_weights, method.description, LOCAL)
            for method in local
        ),
        Explainer(
            "tree-shap", "TreeSHAP, forest", "forest", tree_shap, "TreeSHAP on a forest of 300 trees.",
            AGNOSTIC, SOME, "shap",
        ),
        *(
            Explainer(
                f"kernel-shap-{model}", f"KernelSHAP, {label}", model, kernel_shap, f"{kernel} on {label}.",
                AGNOSTIC, FEW, "shap",
            )
            for model, label in (("lann", "LANN"), ("knn", "kNN"))
        ),
        *(
            Explainer(
                f"lime-{model}", f"LIME, {label}", model, lime, f"LIME, its defaults, on {label}.",
                AGNOSTIC, FEW, "lime",
            )
            for model, label in (("lann", "LANN"), ("knn", "kNN"))
        ),
        *(
            Explainer(
                f"permutation-{model}", f"permutation, {label}", model, permutation_importance,
                f"Permutation importance on the test rows, {N_REPEATS} repeats, on {label}.", GLOBAL,
            )
            for model, label in (("lann", "LANN"), ("forest", "forest"))
        ),
    ]  # fmt: skip


def choose_explainers(names: Iterable[str] = ()) -> list[Explainer]:
    """Return the explanation methods with these names, or all, in the order of the tables."""
    known = all_explainers()
    chosen = choose(names, [explainer.name for explainer in known], "method")
    return [explainer for explainer in known if explainer.name in chosen]


PLANTED_TABLE, CITIES_TABLE = "planted with categories", "cities"
N_CITIES = 20
N_DRAWS = 10
# The gate selects the relevant features, in all regions alike: it is neither right nor wrong to name it.
GATE = 0


@dataclass(frozen=True)
class TableExplainer:
    """
    An explanation method for tables.

    Parameters
    ----------
    name, label
        Its name in the terminal, and in documents.
    explainer
        The explanation method after ``--method`` with which it is measured.
    make
        From the number of threads and a seed to a model, not fitted, that takes tables.
    relevances
        From the fitted model and a table to relevances, (n_rows, n_columns), not negative.
    description
        One sentence.
    rows
        Whether all test rows are explained, or some.
    has_votes
        Whether relevances are shares of the vote.
    """

    name: str
    label: str
    explainer: str
    make: Callable[[int, int], Any]
    relevances: Callable[[Any, Any], Floats]
    description: str
    rows: str = ALL
    has_votes: bool = True


def _encoded(method: str) -> Callable[[int, int], Any]:
    return lambda n_jobs, seed: make_pipeline(TableEncoder(), make_estimator(method, n_jobs, seed))


def _table_relevances(model: Any, table: Any) -> Floats:
    return model.explain(table).relevances


def _summed_relevances(model: Any, table: Any) -> Floats:
    encoder, classifier = model[0], model[-1]
    relevances = classifier.explain(encoder.transform(table)).relevances
    return relevances @ column_groups(encoder, table.columns)


def _summed_tree_shap(model: Any, table: Any) -> Floats:
    encoder, forest = model[0], model[-1]
    values = tree_shap_values(forest)(encoder.transform(table))
    return np.abs(values @ column_groups(encoder, table.columns))


def column_groups(encoder: TableEncoder, columns: Iterable[str]) -> Floats:
    """Return 1 where an encoded column belongs to a column of the table: (n_encoded, n_columns)."""
    encoded = np.array(encoder.encoded_columns(), dtype=object)
    return np.column_stack([encoded == column for column in columns]).astype(np.float64)


TABLE_EXPLAINERS = (
    TableExplainer(
        "lann",
        "LANN",
        "lann",
        lambda n_jobs, seed: make_estimator("lann", n_jobs, seed),
        _table_relevances,
        "The table as it is: `explain(table).relevances`.",
    ),
    TableExplainer(
        "lann-onehot",
        "LANN, one-hot",
        "lann",
        _encoded("lann"),
        _summed_relevances,
        "One-hot categories: relevances summed over the columns of a category.",
    ),
    TableExplainer(
        "tree-shap",
        "TreeSHAP, forest",
        "tree-shap",
        _encoded("forest"),
        _summed_tree_shap,
        "One-hot categories: SHAP values of a forest of 300 trees, summed over the columns of a category.",
        SOME,
        has_votes=False,
    ),
)
