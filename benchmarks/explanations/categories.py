"""Explanations of tables with categories: agreement with planted features, and the share of the vote."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline

from benchmarks.common.arrays import Floats, Labels
from benchmarks.common.methods import make_estimator
from benchmarks.common.scores import accuracy
from benchmarks.common.table_encoder import TableEncoder
from benchmarks.engine import Values, seconds_of
from benchmarks.explanations.model_agnostic import tree_shap_values
from benchmarks.explanations.scores import planted_auc
from benchmarks.explanations.tasks import ALL, SOME, Sizes
from lann.datasets import make_local_relevance_table

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


def _relevances(model: Any, table: Any) -> Floats:
    return model.explain(table).relevances


def _summed_relevances(model: Any, table: Any) -> Floats:
    encoder, classifier = model[0], model[-1]
    relevances = classifier.explain(encoder.transform(table)).relevances
    return relevances @ _column_groups(encoder, table.columns)


def _summed_tree_shap(model: Any, table: Any) -> Floats:
    encoder, forest = model[0], model[-1]
    values = tree_shap_values(forest)(encoder.transform(table))
    return np.abs(values @ _column_groups(encoder, table.columns))


def _column_groups(encoder: TableEncoder, columns: Iterable[str]) -> Floats:
    """Return 1 where an encoded column belongs to a column of the table: (n_encoded, n_columns)."""
    encoded = np.array(encoder.encoded_columns(), dtype=object)
    return np.column_stack([encoded == column for column in columns]).astype(np.float64)


TABLE_EXPLAINERS = (
    TableExplainer(
        "lann",
        "LANN",
        "lann",
        lambda n_jobs, seed: make_estimator("lann", n_jobs, seed),
        _relevances,
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


def score_planted_table(explainer: TableExplainer, seed: int, sizes: Sizes, n_jobs: int) -> Values:
    """
    Fit a model to a table with planted numbers and categories, and score the explanations of test rows.

    Returns
    -------
    values
        ``auc``: how often a planted feature is ranked before another one, without the gate; mean over the
        rows. ``accuracy``: of the model, on all test rows. ``seconds``: to explain a row. ``n_rows``: how
        many are explained.
    """
    table, y, mask = make_local_relevance_table(sizes.n_train + sizes.n_test, random_state=seed)
    train, test = slice(sizes.n_train), slice(sizes.n_train, None)
    model = explainer.make(n_jobs, seed).fit(table[train], y[train])
    n_rows = sizes.n_rows[explainer.rows]
    queries, planted = table[test][:n_rows], mask[test][:n_rows]
    if explainer.rows == ALL:  # compute what is computed once
        explainer.relevances(model, queries[:1])
    found: list[Floats] = []
    seconds = seconds_of(lambda: found.append(explainer.relevances(model, queries)))
    aucs = planted_auc(*(np.delete(values, GATE, axis=1) for values in (found[0], planted)))
    return {
        "auc": float(aucs.mean()),
        "accuracy": accuracy(y[test], model.predict(table[test])),
        "seconds": seconds / n_rows,
        "n_rows": n_rows,
    }


def make_cities(n_samples: int, random_state: int) -> tuple[Any, Labels]:
    """
    Generate a table with 20 cities and a number, both needed for the label and neither enough.

    The label is whether the number of the city is odd, exclusive or whether x is positive. A city in place of
    another one changes the label in half of the cases, and so does another x.

    Parameters
    ----------
    n_samples
        The number of rows.
    random_state
        Seed.

    Returns
    -------
    table : DataFrame of shape (n_samples, 2)
        The columns "city", text, and "x".
    y : ndarray of shape (n_samples,)
        The labels, 0 or 1.
    """
    import pandas as pd

    rng = np.random.default_rng(random_state)
    city, x = rng.integers(N_CITIES, size=n_samples), rng.standard_normal(n_samples)
    names = np.array([f"city {number}" for number in range(N_CITIES)], dtype=object)
    return pd.DataFrame({"city": names[city], "x": x}), ((city % 2 == 1) ^ (x > 0)).astype(np.int64)


def score_cities(explainer: TableExplainer, seed: int, sizes: Sizes, n_jobs: int) -> Values:
    """
    Fit a model to the table of cities, and return how much of the vote depends on its columns.

    Returns
    -------
    values
        ``city``, ``x``: mean relevances on test rows. ``replaced_city``, ``replaced_x``: mean changes of the
        probability of the prediction if the cell is that of another row. ``accuracy``: of the model.
    """
    table, y = make_cities(sizes.n_train + sizes.n_test, seed)
    train, test = slice(sizes.n_train), slice(sizes.n_train, None)
    model = explainer.make(n_jobs, seed).fit(table[train], y[train])
    queries = table[test]
    relevances = explainer.relevances(model, queries).mean(axis=0)
    return {
        **dict(zip(table.columns, relevances.tolist(), strict=True)),
        **{
            f"replaced_{column}": change_by_replacing(model, queries, column, table[train], seed)
            for column in table.columns
        },
        "accuracy": accuracy(y[test], model.predict(queries)),
    }


def change_by_replacing(model: Any, queries: Any, column: str, pool: Any, seed: int) -> float:
    """Return the mean change of the prediction's probability with the cells of other rows in a column."""
    rng = np.random.default_rng(seed)
    rows = np.arange(len(queries))
    before = model.predict_proba(queries)
    predicted = before.argmax(axis=1)
    changes = []
    for _ in range(N_DRAWS):
        donors = rng.integers(len(pool), size=len(queries))
        changed = queries.assign(**{column: pool[column].to_numpy()[donors]})
        changes.append(np.abs(model.predict_proba(changed)[rows, predicted] - before[rows, predicted]).mean())
    return float(np.mean(changes))
