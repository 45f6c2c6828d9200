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
from lann._support.types import Indices
from lann.columns.inputs import as_fitted
from lann.columns.schema import Feature, TableSchema, value_as_text
from lann.columns.text import TableWarning, check_has_columns, shown_values
from lann.tables._rows import row_names, same_training_rows

# What computes is imported on first use.
if TYPE_CHECKING:
    from lann.explain import Constraints, Counterfactuals, Explanation, Suspicion
    from lann.tables._table_model import TableModel


def counterfactuals(
    model: TableModel,
    frame: pd.DataFrame,
    rows: Sequence[int] | Indices | None = None,
    *,
    target: Any = None,
    id: str | None = None,
    name: str = "the table",
    **options: Any,
) -> Counterfactuals:
    """Find small changes of rows, in few columns, that lead to another prediction.

    Parameters
    ----------
    model : TableModel
    frame : DataFrame
        With the columns of the training table, in any order; others are ignored.
    rows : sequence of int or None, default=None
        Positions of the rows; None is all rows.
    target : object or None, default=None
        The label that is wanted, as it is or as text; None is any other than the predicted one. A row that
        has it already, with the probability that is wanted, is not changed.
    id : str or None, default=None
        Name of a column that names the rows. None is that of the training table, if `frame` has it.
    name : str, default="the table"
        Name of the table in messages.
    **options : object
        The other keyword arguments of `lann.explain.counterfactuals`: at_least, constraints, n_results and
        max_features. The constraints name columns, with values as the table has them.

    Returns
    -------
    counterfactuals : Counterfactuals
        With the row numbers of `frame`, and values as the table writes them.

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
    >>> model = TableModel.fit(frame[::2], "target")
    >>> found = model.counterfactuals(frame, [61], target=2, at_least=0.7)
    >>> found.to_frame()[["query", "prediction", "becomes"]].drop_duplicates().values.tolist()
    [[61, 1, 2]]
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
    return _changes(model, model._as_fitted(values), queries, target, **options)


def counterfactuals_of_explanation(
    model: TableModel, explanation: Explanation, *, target: Any = None, **options: Any
) -> Counterfactuals:
    """Find small changes of explained rows, in few columns, that lead to another prediction.

    Parameters
    ----------
    model : TableModel
    explanation : Explanation
        Of rows with the features of the model.
    target : object or None, default=None
        The label that is wanted, as it is or as text; None is any other than the predicted one.
    **options : object
        As for `counterfactuals`.

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
    return _changes(model, X, queries, target, **options)


def _changes(
    model: TableModel, X: Any, queries: dict[str, Any], target: Any, constraints: Any = None, **options: Any
) -> Counterfactuals:
    """Return the changes of rows, in the values of the table."""
    from lann.explain import counterfactuals

    classifier = model.classifier
    found = counterfactuals(
        classifier,
        X,
        target=None if target is None else _known_label(target, classifier.classes_),
        constraints=_as_read(model, constraints),
        **options,
    )
    by_result: Any = {name: None if of is None else of[found.positions] for name, of in queries.items()}
    shown = shown_values(model.columns, np.asarray(found.row_values, dtype=object))
    return replace(found, row_values=shown, _schema=_as_written(model), **by_result)


def _as_read(model: TableModel, given: Any) -> Constraints:
    """Return constraints with ranges in the values that the model reads."""
    from lann.explain import Constraints

    constraints = Constraints.of(given)
    named = pd.DataFrame(columns=model.feature_names)
    check_has_columns(named, constraints.features, "the model", "constraints")
    ranges = {
        column.name: column.convert(pd.Series(list(values), dtype=object), "the constraints").tolist()
        for column in model.columns
        if (values := constraints.range.get(column.name)) is not None
    }
    return replace(constraints, range=ranges)


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
