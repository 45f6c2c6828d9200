"""Counterfactuals in the columns, rows and values of a table."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lann._support.format import printable
from lann._support.types import Floats, Indices
from lann.columns.inputs import as_fitted
from lann.columns.schema import Feature, TableSchema, value_as_text
from lann.columns.text import TableWarning, check_has_columns, shown_values
from lann.tables._rows import row_names, same_training_rows

# What computes is imported on first use.
if TYPE_CHECKING:
    from lann.explain import Counterfactuals, Explanation, Suspicion
    from lann.tables._table_model import TableModel

# Decimals that numbers of a table have, at most; more are taken as none of their own.
MOST_DECIMALS = 10


def counterfactuals(
    model: TableModel,
    frame: pd.DataFrame,
    rows: Sequence[int] | Indices | None = None,
    *,
    target: Any = None,
    frozen: Sequence[str] = (),
    max_features: int = 3,
    id: str | None = None,
    name: str = "the table",
) -> Counterfactuals:
    """Find the smallest change of rows, in few columns, that leads to another prediction.

    Parameters
    ----------
    model : TableModel
    frame : DataFrame
        With the columns of the training table, in any order; others are ignored.
    rows : sequence of int or None, default=None
        Positions of the rows; None is all rows.
    target : object or None, default=None
        The label that is wanted, as it is or as text; None is any other than the predicted one. A row that
        has it already is not changed.
    frozen : sequence of str, default=()
        Names of columns that must not change.
    max_features : int, default=3
        Number of columns that change together, at most.
    id : str or None, default=None
        Name of a column that names the rows. None is that of the training table, if `frame` has it.
    name : str, default="the table"
        Name of the table in messages.

    Returns
    -------
    counterfactuals : Counterfactuals
        With the row numbers of `frame`, values as the table writes them, and probabilities. Numbers have no
        more decimals than those of the training rows, unless the prediction depends on more.

    Raises
    ------
    ValueError
        If there is no such row, class or column, or a cell is not what its column must have.

    Warns
    -----
    TableWarning
        If a column has categories that the training data do not have, or rows are training rows: these vote
        on themselves.

    See Also
    --------
    lann.explain.counterfactuals : How it is computed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann.tables import TableModel
    >>> frame = load_iris(as_frame=True).frame
    >>> model = TableModel.fit(frame, "target")
    >>> found = model.counterfactuals(frame, [60], target=2)
    >>> found.to_frame()[["query", "prediction", "becomes"]].drop_duplicates().values.tolist()
    [[60, 1, 2]]
    """
    values = model._read(frame, rows, name=name)
    n_training, n_rows = int((same_training_rows(model, frame, values, id, name) >= 0).sum()), len(values)
    if n_training:
        which = f"{n_training} of {n_rows} rows are training rows and vote on themselves"
        if n_rows == 1:
            which = "The row is a training row and votes on itself"
        message = f"{which} here, so that more has to change than for a new row."
        warnings.warn(message, TableWarning, stacklevel=2)
    id = model._id_of(frame, id)
    queries = {
        "query_rows": values.index.to_numpy(),
        "query_ids": None if id is None else row_names(frame.iloc[values.index], id, name),
        "query_values": shown_values(model.columns, values.to_numpy(dtype=object)),
    }
    return _changes(model, model._as_fitted(values), target, frozen, max_features, **queries)


def counterfactuals_of_explanation(
    model: TableModel,
    explanation: Explanation,
    *,
    target: Any = None,
    frozen: Sequence[str] = (),
    max_features: int = 3,
) -> Counterfactuals:
    """Find the smallest change of explained rows, in few columns, that leads to another prediction.

    Parameters
    ----------
    model : TableModel
    explanation : Explanation
        Of rows with the features of the model.
    target : object or None, default=None
        The label that is wanted, as it is or as text; None is any other than the predicted one.
    frozen : sequence of str, default=()
        Names of columns that must not change.
    max_features : int, default=3
        Number of columns that change together, at most.

    Returns
    -------
    counterfactuals : Counterfactuals
        As `counterfactuals` returns them, with the values that the explanation shows.

    Raises
    ------
    ValueError
        If features were grouped, or there is no such class or column.

    See Also
    --------
    lann.explain.counterfactuals : How it is computed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann.tables import TableModel
    >>> frame = load_iris(as_frame=True).frame
    >>> model = TableModel.fit(frame, "target")
    >>> explanation = model.explain(frame, [70, 71], leave_out=None)
    >>> model.counterfactuals_of_explanation(explanation).found
    array([ True,  True])
    """
    from lann.explain import queries_of

    explained = queries_of(explanation)
    if explained.numbers is None:
        raise ValueError(
            "The features of the explanation are groups; give an explanation of single features."
        )
    X = as_fitted(model.classifier, explained.numbers)
    queries = {
        "query_rows": explained.rows,
        "query_ids": explained.ids,
        "query_values": explained.values,
    }
    return _changes(model, X, target, frozen, max_features, **queries)


def _changes(
    model: TableModel, X: Any, target: Any, frozen: Sequence[str], max_features: int, **queries: Any
) -> Counterfactuals:
    """Return the changes of rows, in the values of the table, with probabilities."""
    from lann.explain import counterfactuals

    check_has_columns(pd.DataFrame(columns=model.feature_names), frozen, "the model", "frozen")
    classifier = model.classifier
    found = counterfactuals(
        classifier,
        X,
        target=None if target is None else _known_label(target, classifier.classes_),
        frozen=[model.feature_names.index(column) for column in frozen],
        max_features=max_features,
    )
    found = _rounded(model, found)
    before, after = (_probabilities(model, rows) for rows in (found.queries, found.rows))
    every, classes = np.arange(len(found)), classifier.classes_
    return replace(
        found,
        row_values=shown_values(model.columns, np.asarray(found.row_values, dtype=object)),
        probabilities=before[every, np.searchsorted(classes, found.predictions)],
        row_probabilities=after[every, np.searchsorted(classes, found.labels)],
        _schema=_as_written(model),
        **queries,
    )


def _known_label(target: Any, classes: NDArray[Any]) -> Any:
    """Return the class that is meant, which may be given as text; raise ValueError if there is none."""
    for label in classes.tolist():
        if label == target or value_as_text(label) == str(target):
            return label
    listed = ", ".join(printable(value_as_text(label)) for label in classes)
    raise ValueError(f"There is no class {str(target)!r}; the classes are {listed}.")


def _as_written(model: TableModel) -> TableSchema:
    """Return the schema of a table whose values are as they are written: numbers and text."""
    kinds = {column.name: "number" if column.kind == "number" else "category" for column in model.columns}
    return TableSchema(tuple(Feature(name, kind) for name, kind in kinds.items()), has_names=True)


def _rounded(model: TableModel, found: Counterfactuals) -> Counterfactuals:
    """Return the changes with as many decimals as the training rows have, where these lead to the same label.

    Numbers are rounded away from the value of the query, so that a change becomes larger.
    """
    X, changed = model.classifier.model_.X, found.changed
    rows = found.rows.copy()
    for j, feature in enumerate(model.schema.features):
        of_column = changed[:, j] & ~np.isnan(found.queries[:, j])
        decimals = _decimals(X[:, j]) if feature.kind == "number" and of_column.any() else None
        if decimals is not None:
            rows[of_column, j] = _round_away(rows[of_column, j], found.queries[of_column, j], decimals)
    probabilities = _probabilities(model, rows)
    same = model.classifier.classes_[probabilities.argmax(axis=1)] == found.labels
    rows = np.where(same[:, None], rows, found.rows)
    spread = np.nanstd(X, axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    more = np.abs(rows - found.queries) - np.abs(found.rows - found.queries)  # 0 where nothing is rounded
    is_rounded = (rows != found.rows) & ~np.isnan(rows)
    return replace(
        found,
        rows=rows,
        row_values=np.where(is_rounded, rows, found.row_values),
        distances=found.distances + np.nansum(more / scale, axis=1),
    )


def _decimals(values: Floats) -> int | None:
    """Return the number of decimals that all values of a column have at most, None if there are many."""
    known = np.unique(values[~np.isnan(values)])
    for decimals in range(MOST_DECIMALS + 1):
        if np.array_equal(np.round(known, decimals), known):
            return decimals
    return None


def _round_away(values: Floats, queries: Floats, decimals: int) -> Floats:
    """Return values with some decimals, none of them nearer to the queries than before."""
    nearest, step = np.round(values, decimals), 10.0**-decimals
    further = np.round(np.where(values > queries, nearest + step, nearest - step), decimals)
    return np.where(np.abs(nearest - queries) < np.abs(values - queries), further, nearest)


def _probabilities(model: TableModel, rows: Floats) -> Floats:
    """Return the probabilities of the classes for rows given as numbers: (n_rows, n_classes)."""
    fitted = model.classifier.model_
    return fitted.vote(*fitted.voters(rows, n_jobs=model.classifier.n_jobs)).probabilities


def suspicious_rows(model: TableModel, *, n_neighbors: int = 30) -> Suspicion:
    """Find training rows whose label may be wrong: the other rows predict another label.

    Parameters
    ----------
    model : TableModel
    n_neighbors : int, default=30
        Number of nearest rows with one vote each; at most the number of other rows.

    Returns
    -------
    suspicion : Suspicion
        With the row numbers and names of the training table.

    Raises
    ------
    ValueError
        If `n_neighbors` is invalid.

    See Also
    --------
    lann.explain.suspicious_rows : How it is computed.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lann.tables import TableModel
    >>> frame = load_wine(as_frame=True).frame
    >>> frame.loc[[20, 100], "target"] = 2
    >>> sorted(TableModel.fit(frame, "target").suspicious_rows().to_frame()["row"][:2])
    [20, 100]
    """
    from lann.explain import suspicious_rows

    found = suspicious_rows(model.classifier, n_neighbors=n_neighbors)
    return replace(found, ids=model.ids, row_numbers=model.row_numbers)


def relevant_values(model: TableModel, positions: Indices, *, n_features: int = 3) -> list[dict[str, Any]]:
    """Return the values of training rows in the columns that are most relevant around them.

    Parameters
    ----------
    model : TableModel
    positions : ndarray of shape (n_rows,)
        Positions among the training rows, as `Suspicion.suspects` has them.
    n_features : int, default=3
        Number of columns for each row, at most.

    Returns
    -------
    values : list of dict
        For each row the values by column, the most relevant first, as the table writes them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann.tables import TableModel
    >>> model = TableModel.fit(load_iris(as_frame=True).frame, "target")
    >>> sorted(model.relevant_values([77, 106], n_features=2)[0])
    ['petal length (cm)', 'petal width (cm)']
    """
    from lann.explain import query_relevances

    classifier, positions = model.classifier, np.asarray(positions, np.int64)
    if len(positions) == 0:
        return []
    relevances = query_relevances(classifier, as_fitted(classifier, classifier.model_.X[positions]))
    values = model._training_values()[model.row_numbers[positions]]
    orders = np.argsort(-relevances, axis=1, kind="stable")[:, :n_features]
    return [
        {model.feature_names[j]: row[j] for j in order if relevant[j] > 0}
        for row, order, relevant in zip(values, orders, relevances, strict=True)
    ]
