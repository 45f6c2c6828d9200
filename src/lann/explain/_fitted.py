"""Access to the model of a fitted estimator and to its training rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lann._support.inputs import differ
from lann._support.types import Floats, Indices
from lann._support.validation import shown
from lann.columns.inputs import query_values

if TYPE_CHECKING:
    import pandas as pd

    from lann.model import NeighborModel


@dataclass(frozen=True, eq=False)
class Queries:
    """Queries of a model.

    Attributes
    ----------
    model : NeighborModel
    rows : (n_queries, n_features)
    exclude : (n_queries,) or None
        For each query the training row that it is, which does not vote on it; -1 for none.
    n_jobs : int or None
        Number of threads.
    """

    model: NeighborModel
    rows: Floats
    exclude: Indices | None = None
    n_jobs: int | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, part: Any) -> Queries:
        """Return some of the queries."""
        exclude = None if self.exclude is None else self.exclude[part]
        return replace(self, rows=self.rows[part], exclude=exclude)

    def voters(self) -> tuple[Indices, Floats]:
        """Return the rows that vote on each query: see `NeighborModel.voters`."""
        return self.model.voters(self.rows, exclude=self.exclude, n_jobs=self.n_jobs)


# An odd number with irregular bits.
NAME_FACTOR = np.uint64(0xD6E8FEB86659FD93)


def model_of(clf: Any) -> NeighborModel:
    """Return the model of a fitted classifier whose training rows vote.

    Raises
    ------
    ValueError
        If the classifier keeps no training rows.
    NotFittedError
        If it is not fitted.
    """
    from lann.model import NeighborModel

    check_is_fitted(clf)
    model = getattr(clf, "model_", None)
    if isinstance(model, NeighborModel) and model.has_training_rows:
        return model
    hint = " Give its last step, and rows transformed by the others." if hasattr(clf, "steps") else ""
    raise ValueError(
        f"{type(clf).__name__} keeps no training rows that vote; LANNClassifier and the baselines with "
        f"neighbors do.{hint}"
    )


def frame_of(columns: dict[str, Any]) -> pd.DataFrame:
    """Return a table of columns; what is None is no column."""
    import pandas as pd

    return pd.DataFrame({name: values for name, values in columns.items() if values is not None})


def values_of_queries(clf: Any, X: Any, queries: Floats) -> NDArray[Any]:
    """Return queries in the user's values: (n_queries, n_features)."""
    schema = getattr(clf, "schema_", None)
    return queries if schema is None or schema.is_numeric else query_values(X, schema, queries)


def values_of_rows(clf: Any, rows: Floats) -> NDArray[Any]:
    """Return training rows in the user's values: (n_rows, n_features)."""
    schema = getattr(clf, "schema_", None)
    return rows if schema is None or schema.is_numeric else schema.values(rows)


def check_rows(rows: Any, n_rows: int) -> Indices:
    """Return distinct positions of training rows; None is all of them."""
    if rows is None:
        return np.arange(n_rows)
    positions = np.atleast_1d(np.asarray(rows))
    if not np.isin(positions, np.arange(n_rows)).all() or len(np.unique(positions)) < positions.size:
        raise ValueError(
            f"rows must be different rows of the training data, from 0 to {n_rows - 1}; got {shown(rows)}."
        )
    return positions.astype(np.int64)


def check_label(label: Any, classes: NDArray[Any], name: str = "target") -> None:
    """Raise ValueError unless the label is one of the classes."""
    if label not in classes.tolist():
        raise ValueError(f"{name} must be one of the classes {classes.tolist()}; got {shown(label)}.")


def find_training_rows(
    model: NeighborModel,
    queries: Floats,
    *,
    names: Any = None,
    training_names: Any = None,
) -> Indices:
    """Return which training row each query is: that with the same values, and the same name.

    Where both have names, a query is the first training row of its name that has all of its values. Otherwise
    it is a training row only if this is the only one that has its values.

    Parameters
    ----------
    model : NeighborModel
        With training rows.
    queries : ndarray of shape (n_queries, n_features)
    names : ndarray of shape (n_queries,) or None, default=None
        Names of the queries.
    training_names : ndarray of shape (n_rows,) or None, default=None
        Names of the training rows.

    Returns
    -------
    rows : ndarray of shape (n_queries,)
        Positions of training rows; -1 for none.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lann import LANNClassifier
    >>> from lann.explain import find_training_rows
    >>> X, y = load_wine(return_X_y=True)
    >>> clf = LANNClassifier(max_iter=0).fit(X, y)
    >>> find_training_rows(clf.model_, X[[5, 3]])
    array([5, 3])
    """
    import pandas as pd

    from lann.metric import row_hashes

    found = np.full(len(queries), -1)
    if len(model.X) < 2:  # no other row would vote
        return found
    with np.errstate(over="ignore"):
        queries = queries.astype(model.X.dtype, copy=False)  # the rows were rounded, too
    if "row_hashes" not in model.derived:
        model.derived["row_hashes"] = row_hashes(model.X, np.zeros(len(model.X), np.int64))
    keys = row_hashes(queries, np.zeros(len(queries), np.int64))
    rows = np.flatnonzero(np.isin(model.derived["row_hashes"], keys))
    row_keys = model.derived["row_hashes"][rows]
    # A number and a text name different things.
    by_name = names is not None and training_names is not None
    by_name = by_name and (names.dtype.kind in "iu") == (training_names.dtype.kind in "iu")
    if by_name:
        codes, _ = pd.factorize(np.concatenate([training_names[rows], names]))
        mixed = codes.astype(np.uint64) * NAME_FACTOR
        row_keys, keys = row_keys ^ mixed[: len(rows)], keys ^ mixed[len(rows) :]
    order = np.argsort(row_keys, kind="stable")
    first, stop = (np.searchsorted(row_keys[order], keys, side) for side in ("left", "right"))
    is_found = np.flatnonzero(stop > first if by_name else stop - first == 1)
    matched = rows[order[first[is_found]]]
    is_same = ~differ(model.X[matched], queries[is_found]).any(axis=1)  # not only the same hash
    found[is_found[is_same]] = matched[is_same]
    return found
