"""The training rows of a model whose labels may be wrong, by their row numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

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
