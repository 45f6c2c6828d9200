"""The training rows of a fitted model: which one a query is, and how their values are distributed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lann._support.inputs import differ
from lann._support.types import Floats, Indices, Labels
from lann._support.validation import shown
from lann.columns.inputs import query_values
from lann.columns.schema import TableSchema

if TYPE_CHECKING:
    import pandas as pd

    from lann.model import NeighborModel

# An odd number with irregular bits.
NAME_FACTOR = np.uint64(0xD6E8FEB86659FD93)
# Kinds of features whose values have no order that means something.
UNORDERED = ("category", "bool")
# Rows of which percentiles are computed: so many numbers together (64 MB), within these bounds.
SORTED_NUMBERS, FEWEST_SORTED, MOST_SORTED = 2**23, 10_000, 50_000
# Rows of a class of which its typical values are computed, at most.
MOST_OF_CLASS = 10_000
# The share of the rows of a class below its typical range, and above it.
TAIL = 0.1
# Categories that are typical of a class: the most frequent ones that have this share of its rows, so many at
# most.
TYPICAL_SHARE, MOST_TYPICAL = 1 - 2 * TAIL, 3


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


def model_of(clf: Any, *, needs_classes: bool = True) -> NeighborModel:
    """Return the model of a fitted classifier whose training rows vote, or of a regressor if this suffices.

    Raises
    ------
    ValueError
        If it keeps no training rows, or predicts numbers where labels are needed.
    NotFittedError
        If it is not fitted.
    """
    from lann.model import NeighborModel

    check_is_fitted(clf)
    model = getattr(clf, "model_", None)
    if isinstance(model, NeighborModel) and model.has_training_rows:
        if needs_classes and model.n_outputs == 1:
            raise ValueError(f"{type(clf).__name__} predicts numbers; this needs a classifier.")
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


def scaled(values: Floats, otherwise: float = 0.0) -> Floats:
    """Return rows that add up to 1; those of a given value where all are 0."""
    total = values.sum(axis=1, keepdims=True)
    return np.divide(values, total, out=np.full_like(values, otherwise), where=total > 0)


def values_of(clf: Any, rows: Floats, X: Any = None) -> NDArray[Any]:
    """Return rows in the user's values: (n_rows, n_features); with the unseen categories of X, if given."""
    schema = getattr(clf, "schema_", None)
    if schema is None or schema.is_numeric:
        return rows
    values: NDArray[Any] = schema.values(rows) if X is None else query_values(X, schema, rows)
    return values


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


@dataclass
class ValueDistribution:
    """The distribution of the values of training rows; everything is computed on first use.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        Training rows; NaN is a gap.
    labels : ndarray of shape (n_rows,)
        Class indices.
    n_classes : int
    row_weights : ndarray of shape (n_rows,)
        Sample weights.
    is_category : ndarray of shape (n_features,)
        Whether the numbers of a feature are codes, 0 and above, without an order.
    """

    X: Floats
    labels: Labels
    n_classes: int
    row_weights: Floats
    is_category: NDArray[np.bool_]

    def percentiles(self, queries: Floats, columns: Indices) -> Floats:
        """Return the percentage of the training rows below each number, plus half of those equal to it.

        Gaps of the training rows are left out. Of a very large table, a sample of the rows is used.

        Parameters
        ----------
        queries : ndarray of shape (n_queries, n_features)
        columns : ndarray of shape (n_features,)
            The column of the training rows of each feature, -1 for none.

        Returns
        -------
        percentiles : ndarray of shape (n_queries, n_features)
            0 to 100; NaN for gaps and categories.
        """
        below, up_to, total = self._weights_up_to(queries, columns, ~self.is_category)
        return 50.0 * (below + up_to) / total

    def category_shares(self, queries: Floats, columns: Indices) -> Floats:
        """Return the share of the training rows that have each category.

        Parameters
        ----------
        queries, columns
            As for `percentiles`.

        Returns
        -------
        shares : ndarray of shape (n_queries, n_features)
            0 for a category that no training row has; NaN for gaps and numbers.
        """
        below, up_to, _ = self._weights_up_to(queries, columns, self.is_category)
        return (up_to - below) / self.row_weights.sum()

    def _weights_up_to(self, queries: Floats, columns: Indices, is_wanted: NDArray[np.bool_]) -> Floats:
        """Return the weights of the rows below each value, of those up to it, and of all without a gap.

        (3, n_queries, n_features); NaN for gaps, and for columns that are not wanted.
        """
        found = np.full((3, *queries.shape), np.nan)
        for feature, column in enumerate(columns):
            if column >= 0 and is_wanted[column] and len(self._sorted[column][0]):
                (values, below), asked = self._sorted[column], queries[:, feature]
                first, stop = (np.searchsorted(values, asked, side) for side in ("left", "right"))
                found[0, :, feature], found[1, :, feature] = below[first], below[stop]
                found[2, :, feature] = below[-1]
        return np.where(np.isnan(queries), np.nan, found)

    @cached_property
    def typical(self) -> tuple[Indices, Floats]:
        """The values that are typical of each class, as training rows that have them; -1 for none.

        Of a number, the first two are the ends of the range of the middle 80% of the rows of the class. Of a
        category, they are the most frequent ones, with the shares of the rows of the class that have them,
        NaN for numbers: (n_classes, 3, n_features) each.
        """
        rows = np.full((self.n_classes, MOST_TYPICAL, self.X.shape[1]), -1)
        shares = np.full(rows.shape, np.nan)
        for label in range(self.n_classes):
            members = _thinned(np.flatnonzero(self.labels == label), MOST_OF_CLASS)
            weights = self.row_weights[members]
            for feature, column in enumerate(np.ascontiguousarray(self.X[members].T)):
                present = np.flatnonzero(~np.isnan(column))
                if self.is_category[feature]:
                    found, parts = _frequent_rows(column, weights, present)
                    shares[label, : len(found), feature] = parts
                else:
                    found = _range_rows(column, weights, present)
                rows[label, : len(found), feature] = members[found]
        return rows, shares

    @cached_property
    def extremes(self) -> Floats:
        """The smallest and the largest number of the training rows: (2, n_features); NaN for categories."""
        # A column of gaps has the extremes NaN.
        extremes = np.stack([np.fmin.reduce(self.X, axis=0), np.fmax.reduce(self.X, axis=0)])
        return np.where(self.is_category, np.nan, extremes.astype(np.float64))

    @cached_property
    def is_binary(self) -> NDArray[np.bool_]:
        """Which features are numbers that are 0 or 1 in every training row: (n_features,)."""
        known = np.isin(self.X, (0.0, 1.0)) | np.isnan(self.X)
        return known.all(axis=0) & (self.extremes[0] < self.extremes[1])

    def is_outside(self, queries: Floats) -> NDArray[np.bool_]:
        """Return where numbers are outside the range of the training rows.

        Parameters
        ----------
        queries : ndarray of shape (n_queries, n_features)

        Returns
        -------
        is_outside : ndarray of shape (n_queries, n_features)
        """
        low, high = self.extremes
        with np.errstate(over="ignore"):
            queries = queries.astype(self.X.dtype, copy=False)  # the rows were rounded, too
        return (queries < low) | (queries > high)

    @cached_property
    def _sorted(self) -> list[tuple[Floats, Floats]]:
        """By column, the sorted values, (n_values,), and the weights before them, (n_values + 1,)."""
        n_rows, n_features = self.X.shape
        every = np.arange(n_rows)
        most = min(max(SORTED_NUMBERS // n_features, FEWEST_SORTED), MOST_SORTED)
        found = []
        for is_category, column in zip(self.is_category, self.X.T, strict=True):
            rows = every if is_category else _thinned(every, most)
            present = rows[~np.isnan(column[rows])]
            order = present[np.argsort(column[present], kind="stable")]
            found.append((column[order], np.concatenate([[0.0], np.cumsum(self.row_weights[order])])))
        return found


def distribution_of(model: NeighborModel, schema: TableSchema | None = None) -> ValueDistribution:
    """Return the distribution of the training rows of a model, which is kept in it.

    Parameters
    ----------
    model : NeighborModel
        With training rows.
    schema : TableSchema or None, default=None
        What the numbers in the rows mean; None is numbers, except for the categories of the model.

    Returns
    -------
    distribution : ValueDistribution
    """
    n_features = model.X.shape[1]
    if schema is None:
        is_category = np.isin(np.arange(n_features), list(model.category_values(n_features)))
    else:
        is_category = np.array([feature.kind in UNORDERED for feature in schema.features], bool)
    kept: ValueDistribution | None = model.derived.get("distribution")
    if kept is None or not np.array_equal(kept.is_category, is_category):
        weights = np.ones(len(model.X)) if model.row_weights is None else model.row_weights
        kept = ValueDistribution(model.X, model.labels, model.n_classes, weights, is_category)
        model.derived["distribution"] = kept
    return kept


def _thinned(rows: Indices, most: int) -> Indices:
    """Return at most a given number of rows, evenly spaced."""
    return rows[np.linspace(0, len(rows) - 1, min(len(rows), most)).astype(np.int64)]


def _range_rows(column: Floats, weights: Floats, rows: Indices) -> Indices:
    """Return which of some rows are at the ends of the range of most of their values: (2,), or none.

    The low end is the smallest value such that a tenth of the rows are not above it; the high end is the
    largest value such that a tenth of the rows are not below it.
    """
    if len(rows) == 0:
        return rows
    order = rows[np.argsort(column[rows], kind="stable")]
    total = np.cumsum(weights[order])
    before = np.concatenate([[0.0], total[:-1]])
    tail = TAIL * total[-1] * (1 - 1e-9)  # a sum may be off by rounding
    return order[[(total < tail).sum(), (total[-1] - before >= tail).sum() - 1]]


def _frequent_rows(column: Floats, weights: Floats, rows: Indices) -> tuple[Indices, Floats]:
    """Return which of some rows have the most frequent categories, and their shares of all weights."""
    _, firsts, kinds = np.unique(column[rows], return_index=True, return_inverse=True)
    shares = np.bincount(kinds, weights[rows]) / weights.sum()
    order = np.argsort(-shares, kind="stable")[:MOST_TYPICAL]
    order = order[: int((np.cumsum(shares[order]) < TYPICAL_SHARE).sum()) + 1]
    return rows[firsts[order]], shares[order]
