"""The training rows of a model whose labels may be wrong, by their row numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lann._support.types import Indices
from lann.columns.inputs import as_fitted

# numba is imported with the modules that compute, on first use.
if TYPE_CHECKING:
    from lann.explain import Suspicion
    from lann.tables._table_model import TableModel


def suspicious_rows(model: TableModel, *, n_neighbors: int = 20) -> Suspicion:
    """Find training rows whose label may be wrong: their neighbors vote for another label.

    Parameters
    ----------
    model : TableModel
    n_neighbors : int, default=20
        Number of neighbors that vote; at most the number of other rows.

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
    >>> from lann.tables import fit_table
    >>> frame = load_wine(as_frame=True).frame
    >>> frame.loc[[20, 100], "target"] = 2
    >>> sorted(fit_table(frame, "target").suspicious_rows().to_frame()["row"][:2])
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
    >>> from lann.tables import fit_table
    >>> model = fit_table(load_iris(as_frame=True).frame, "target")
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
