"""Whether models that learned from the same table, or from halves of it, explain a row alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline

from benchmarks.explanations.data import FEW, Sizes
from benchmarks.explanations.explainers import OURS, column_groups
from benchmarks.explanations.scores import SUPPORT
from benchmarks.harness import Found
from benchmarks.methods import CatBoostTable, TableEncoder, make_estimator
from benchmarks.tabular import TableSet, load_set, load_tables
from lann._support.types import Floats
from lann.explain import queries_of, walk_plan, walk_supports

N_TOP = 3
# Of the walks with which supports are compared, and half the length of a 95 % interval.
MORE_WALKS, NORMAL = 100, 1.96
# Rows that stand for all in KernelSHAP.
N_BACKGROUND = 20

# From a fitted model and rows to signed reasons for the second class, (n_rows, n_columns).
Explain = Callable[[Any, Any], Floats]


def _lann_supports(model: Any, rows: Any) -> Floats:
    return model.explain(rows, leave_out=None).supports[:, 1]


def _lann_relevances(model: Any, rows: Any) -> Floats:
    return model.explain(rows, leave_out=None).relevances


def _kernel_shap(model: Any, rows: Any) -> Floats:
    import shap

    fitted, coded = model.model_, queries_of(model.explain(rows, leave_out=None)).numbers
    background = shap.sample(fitted.X, N_BACKGROUND, random_state=0)

    def predict(changed: Floats) -> Floats:
        return fitted.vote(*fitted.voters(changed)).probabilities[:, 1]

    return np.asarray(shap.KernelExplainer(predict, background).shap_values(coded, silent=True))


def _tree_shap(model: Any, rows: Any) -> Floats:
    import shap

    encoder, forest = model[0], model[-1]
    values = shap.TreeExplainer(forest).shap_values(encoder.transform(rows), check_additivity=False)
    return np.asarray(values)[:, :, 1] @ column_groups(encoder, rows.columns)


def _catboost_shap(model: Any, rows: Any) -> Floats:
    from catboost import Pool

    pool = Pool(model._with_levels(rows), cat_features=model.categorical_)
    return np.asarray(model.model_.get_feature_importance(pool, type="ShapValues"))[:, :-1]


def _make_lann(n_jobs: int, seed: int) -> Any:
    return make_estimator("lann", n_jobs, seed)


def _make_forest(n_jobs: int, seed: int) -> Any:
    return make_pipeline(TableEncoder(), make_estimator("forest", n_jobs, seed))


KERNEL, TREE, CATBOOST = "kernel-shap-lann", "tree-shap", "catboost-shap"
# By job: how the models are made, from the number of threads and a seed; what explains them, by name; and the
# package that is needed.
MODELS: dict[str, tuple[Callable[[int, int], Any], dict[str, Explain], str | None]] = {
    OURS: (_make_lann, {SUPPORT: _lann_supports, OURS: _lann_relevances}, None),
    KERNEL: (_make_lann, {KERNEL: _kernel_shap}, "shap"),
    TREE: (_make_forest, {TREE: _tree_shap}, "shap"),
    CATBOOST: (CatBoostTable, {CATBOOST: _catboost_shap}, "catboost"),
}


def load_stability_sets(names: tuple[str, ...]) -> tuple[list[TableSet], dict[str, str]]:
    """Return the tables, and the reasons why others cannot be read."""
    import pandas as pd

    found, skipped = load_tables(dict.fromkeys(names, "mixed"), [n for n in names if n != "breast-cancer"])
    if "breast-cancer" in names:
        data = load_set("breast-cancer")
        found.append(TableSet(data.name, pd.DataFrame(data.X).add_prefix("x"), data.y, data.digest))
    return found, skipped


def measure_stability(data: TableSet, split: int, model: str, sizes: Sizes, n_jobs: int) -> Found:
    """
    Fit a model with two seeds, and to both halves of the training rows, and compare its explanations.

    Returns
    -------
    found
        By explanation: ``seeds``, ``halves``, the mean correlation of the explanation of a row with that by
        the other model; ``seeds_top``, ``halves_top``, the share of the three largest columns in common.
    """
    train, test = data.split(0, split, sizes.stability_train, sizes.stability_rows)
    halves = StratifiedShuffleSplit(1, train_size=0.5, random_state=split)
    one, two = next(halves.split(train, data.y[train]))
    make, explanations, _ = MODELS[model]
    fitted = [
        make(n_jobs, seed).fit(data.table.iloc[rows], data.y[rows])
        for rows, seed in ((train, 0), (train, 1), (train[one], 0), (train[two], 0))
    ]
    found: Found = {}
    for name, explain in explanations.items():
        rows = data.table.iloc[test[: sizes.n_perturbed[FEW]] if name == KERNEL else test]
        first, second, half, other_half = (explain(own, rows) for own in fitted)
        seeds, seeds_top = agreement(first, second)
        halves_mean, halves_top = agreement(half, other_half)
        found[name] = {
            "seeds": seeds,
            "seeds_top": seeds_top,
            "halves": halves_mean,
            "halves_top": halves_top,
            "n_rows": len(rows),
        }
    return found


def measure_errors(data: TableSet, split: int, sizes: Sizes, n_jobs: int) -> Found:
    """
    Compare supports with those of 100 times as many walks.

    Returns
    -------
    found
        ``coverage``: the share of the 95 % intervals of supports that hold the other value. ``error``,
        ``support``: mean standard error, and mean absolute support. ``told``: the share of the supports that
        are above two standard errors.
    """
    train, test = data.split(0, split, sizes.stability_train, sizes.error_rows)
    model = _make_lann(n_jobs, 0).fit(data.table.iloc[train], data.y[train])
    rows = data.table.iloc[test]
    n_walks = len(walk_plan(rows.shape[1]).ranks)
    expected = walk_supports(model, rows, n_walks=MORE_WALKS * n_walks).supports[:, 1]
    scores: dict[str, list[float]] = {"coverage": [], "error": [], "support": [], "told": []}
    for seed in range(1, 1 + sizes.error_plans):
        found = walk_supports(model, rows, seed=seed)
        values, errors = found.supports[:, 1], found.errors[:, 1]
        scores["coverage"].append((np.abs(values - expected) <= NORMAL * errors + 1e-12).mean())
        scores["error"].append(errors.mean())
        scores["support"].append(np.abs(values).mean())
        scores["told"].append((np.abs(values) > 2 * errors).mean())
    return {OURS: {name: float(np.mean(found)) for name, found in scores.items()} | {"n_rows": len(rows)}}


def agreement(values: Floats, others: Floats) -> tuple[float, float]:
    """
    Return the mean correlation of rows, and the mean share of the three largest columns in common.

    Examples
    --------
    >>> import numpy as np
    >>> agreement(np.array([[4, 3, 2, 0]]), np.array([[8, 6, 4, 0]]))
    (1.0, 1.0)
    """
    left, right = (rows - rows.mean(axis=1, keepdims=True) for rows in (values, others))
    norms = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    correlations = np.divide((left * right).sum(axis=1), norms, out=np.zeros(len(left)), where=norms > 0)
    tops = [np.argsort(-np.abs(rows), axis=1, kind="stable")[:, :N_TOP] for rows in (values, others)]
    shared = [len(np.intersect1d(a, b)) / len(a) for a, b in zip(*tops, strict=True)]
    return float(correlations.mean().round(12)), float(np.mean(shared))
