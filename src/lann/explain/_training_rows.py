"""Queries that are training rows: they are explained without themselves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann._inputs import differ
from lann._types import Floats, Indices
from lann.model import NeighborModel

# The name under which the table of hashes is kept in a model.
ROW_HASHES = "row_hashes"
# Up to this many queries are compared with all rows, unless the hashes are known.
FEW_QUERIES = 16
# Rows that are hashed at a time.
CHUNK = 65_536


@dataclass
class RowHashes:
    """Training rows by a hash of their values, which is computed on first use.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
    """

    X: Floats

    def candidates(self, queries: Floats) -> tuple[Indices, Indices, Indices]:
        """Return rows that can be equal to each query: as ranges of positions in a list of rows.

        Returns
        -------
        starts, stops : ndarray of shape (n_queries,)
        rows : ndarray of shape (n_candidates,)
            The rows of a query are in ascending order.
        """
        if len(queries) <= FEW_QUERIES and "_sorted" not in self.__dict__:
            found = [_equal_rows(self.X, query) for query in queries]
            stops = np.cumsum([0, *map(len, found)])
            return stops[:-1], stops[1:], np.concatenate([np.empty(0, np.int64), *found])
        hashes, order = self._sorted
        own = hash_rows(queries)
        return np.searchsorted(hashes, own, "left"), np.searchsorted(hashes, own, "right"), order

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.uint64], Indices]:
        hashes = hash_rows(self.X)
        order = np.argsort(hashes, kind="stable")
        return hashes[order], order

    def __getstate__(self) -> dict[str, Any]:
        return {"X": self.X}


def _equal_rows(X: Floats, query: Floats) -> Indices:
    """Return the rows with all values of a query, by a pass over the first feature and what is left of it."""
    rows = np.flatnonzero(~differ(X[:, 0], query[0]))
    for feature in range(1, len(query)):
        if len(rows) == 0:
            break
        rows = rows[~differ(X[rows, feature], query[feature])]
    return rows


def hash_rows(X: Floats) -> NDArray[np.uint64]:
    """Return a number for each row, the same for equal values in any type; gaps are equal."""
    factors = np.random.default_rng(0).integers(2**63, size=X.shape[1], dtype=np.uint64) * 2 + 1
    hashes = np.empty(len(X), np.uint64)
    for start in range(0, len(X), CHUNK):
        part = np.add(X[start : start + CHUNK], 0.0, dtype=np.float64)  # not -0.0
        part[np.isnan(part)] = np.nan  # the same bits for all gaps
        bits = part.view(np.uint64)
        bits ^= bits >> np.uint64(32)  # small integers differ in their upper bits only
        hashes[start : start + CHUNK] = (bits * factors).sum(axis=1, dtype=np.uint64)
    return hashes


def find_training_rows(
    model: NeighborModel,
    queries: Floats,
    *,
    names: NDArray[Any] | None = None,
    training_names: NDArray[Any] | None = None,
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
    found = np.full(len(queries), -1)
    if len(model.X) < 2:  # no other row would vote
        return found
    with np.errstate(over="ignore"):
        queries = queries.astype(model.X.dtype, copy=False)  # the rows were rounded, too
    if names is None or training_names is None or _is_numbers(names) != _is_numbers(training_names):
        names = training_names = None  # a number and a text name different things
    hashes: RowHashes = model.derived.setdefault(ROW_HASHES, RowHashes(model.X))
    starts, stops, order = hashes.candidates(queries)
    if names is not None and training_names is not None and (stops - starts).sum() > 2 * len(model.X):
        # There are many copies; fewer rows have the same name.
        order = np.argsort(training_names, kind="stable")
        starts, stops = (np.searchsorted(training_names[order], names, side) for side in ("left", "right"))
    # Most rows have no copies.
    single = np.flatnonzero(stops - starts == 1)
    rows = order[starts[single]]
    same = _are_equal(model.X[rows], queries[single])
    if names is not None and training_names is not None:
        same &= training_names[rows] == names[single]
    found[single[same]] = rows[same]
    for query in np.flatnonzero(stops - starts > 1):
        rows = order[starts[query] : stops[query]]
        if names is None or training_names is None:
            if _are_equal(model.X[rows[:2]], queries[query]).all():
                continue  # copies
        else:
            rows = rows[training_names[rows] == names[query]]
        rows = rows[_are_equal(model.X[rows], queries[query])]
        if len(rows) == 1 or (len(rows) and names is not None):
            found[query] = rows[0]
    return found


def _is_numbers(names: NDArray[Any]) -> bool:
    return names.dtype.kind in "iu"


def _are_equal(rows: Floats, queries: Floats) -> NDArray[np.bool_]:
    """Return which rows have all values of their queries, or of one query, gaps included: (n_rows,)."""
    equal: NDArray[np.bool_] = np.logical_not(differ(rows, queries).any(axis=1))
    return equal
