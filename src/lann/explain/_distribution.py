"""How training rows are distributed: their values, their distances, and queries to which none is similar.

Rows measure on different scales, and some regions have more rows than others. The distance of a query to its
nearest neighbors is therefore compared with those of the training rows around it:

    s(x) = (d(x) + ε) / (mean over the training rows j near x of d(x_j) + ε)

where d is the mean distance to the three nearest neighbors, and that of a training row is measured without
itself. Where d(x) is not among the largest tenth of the training rows, s(x) is 0: among many copies, a row at
a small distance is not far. A query is far if s(x) is larger than for 99% of the training rows, or if one of
its numbers is outside the range of the training rows by more than the width of this range, whether it is
measured or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lann._support.format import is_missing, percent, value_text
from lann._support.rows import N_AROUND, positions_in, relative_distances
from lann._support.types import Floats, Indices, Labels
from lann.columns.schema import TableSchema, TableValues
from lann.explain._fitted import Queries, check_label

if TYPE_CHECKING:
    from lann.explain._explanation import Explanation
    from lann.model import NeighborModel

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

# Training rows whose distances are measured, at most, and multiplications for them where queries own metrics.
MOST_SPACED, WORK = 1000, 1e9
# Nearest neighbors whose distances count.
N_NEAREST = 3
# The share of the training rows that are not far.
SHARE = 0.99
# The share of the training rows that are nearer to their neighbors than a row that is far.
NEARER = 0.9


class TypicalValues(NamedTuple):
    """The values that are typical of each class, as training rows that have them.

    Of a number, the first two are the ends of the range of the middle 80% of the rows of the class. Of a
    category, they are the most frequent ones.

    Attributes
    ----------
    rows : (n_classes, 3, n_features)
        Positions of training rows; -1 for none.
    shares : (n_classes, 3, n_features)
        Shares of the rows of the class that have the category; NaN for numbers.
    """

    rows: Indices
    shares: Floats


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

    def percentiles(self, queries: Floats) -> Floats:
        """Return the percentage of the training rows below each number, plus half of those equal to it.

        Gaps of the training rows are left out. Of a very large table, a sample of the rows is used.

        Parameters
        ----------
        queries : ndarray of shape (n_queries, n_features)

        Returns
        -------
        percentiles : ndarray of shape (n_queries, n_features)
            0 to 100; NaN for gaps and categories.
        """
        percentiles = np.full(queries.shape, np.nan)
        for feature, (values, below) in self._sorted.items():
            asked = queries[:, feature]
            low, high = (below[np.searchsorted(values, asked, side)] for side in ("left", "right"))
            percentiles[:, feature] = 50.0 * (low + high) / below[-1]
        return np.where(np.isnan(queries), np.nan, percentiles)

    def category_shares(self, queries: Floats) -> Floats:
        """Return the share of the training rows that have each category.

        Parameters
        ----------
        queries : ndarray of shape (n_queries, n_features)

        Returns
        -------
        shares : ndarray of shape (n_queries, n_features)
            0 for a category that no training row has; NaN for gaps and numbers.
        """
        shares = np.full(queries.shape, np.nan)
        for feature, known in self._code_shares.items():
            # Unknown codes are below 0, or too large; the last share is theirs.
            codes = np.clip(np.nan_to_num(queries[:, feature]), -1, len(known) - 1).astype(np.int64)
            shares[:, feature] = known[codes]
        return np.where(np.isnan(queries), np.nan, shares)

    @cached_property
    def typical(self) -> TypicalValues:
        """The values that are typical of each class."""
        n_features = self.X.shape[1]
        rows = np.full((self.n_classes, MOST_TYPICAL, n_features), -1)
        shares = np.full(rows.shape, np.nan)
        for label in range(self.n_classes):
            members = _thinned(np.flatnonzero(self.labels == label), MOST_OF_CLASS)
            if len(members) == 0:
                continue
            weights = self.row_weights[members]
            numbers = np.flatnonzero(~self.is_category)
            rows[label, :2, numbers] = _range_rows(self.X[members][:, numbers], weights, members).T
            for feature in np.flatnonzero(self.is_category):
                found = _frequent_rows(self.X[members, feature], weights, members)
                rows[label, : len(found[0]), feature], shares[label, : len(found[1]), feature] = found
        return TypicalValues(rows, shares)

    @cached_property
    def ranges(self) -> Floats:
        """The typical range of each number in each class: (n_classes, n_features, 2); NaN for none."""
        rows = self.typical.rows[:, :2]  # (n_classes, 2, n_features)
        known = (rows >= 0) & ~self.is_category
        values = np.where(known, self.X[rows, np.arange(self.X.shape[1])], np.nan)
        return np.moveaxis(values, 1, 2).copy()

    @cached_property
    def extremes(self) -> Floats:
        """The smallest and the largest number of the training rows: (2, n_features); NaN for categories."""
        # A column of gaps has the extremes NaN.
        extremes = np.stack([np.fmin.reduce(self.X, axis=0), np.fmax.reduce(self.X, axis=0)])
        return np.where(self.is_category, np.nan, extremes.astype(np.float64))

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
    def _sorted(self) -> dict[int, tuple[Floats, Floats]]:
        """The sorted values of each number, (n_values,), and the weights before them, (n_values + 1,)."""
        n_rows, n_features = self.X.shape
        rows = _thinned(np.arange(n_rows), min(max(SORTED_NUMBERS // n_features, FEWEST_SORTED), MOST_SORTED))
        found = {}
        for feature in np.flatnonzero(~self.is_category):
            present = rows[~np.isnan(self.X[rows, feature])]
            order = present[np.argsort(self.X[present, feature], kind="stable")]
            if len(order):
                below = np.concatenate([[0.0], np.cumsum(self.row_weights[order])])
                found[int(feature)] = self.X[order, feature], below
        return found

    @cached_property
    def _code_shares(self) -> dict[int, Floats]:
        """The share of the training rows that have each code of each category, and 0 for unknown codes."""
        found = {}
        for feature in np.flatnonzero(self.is_category):
            codes = self.X[:, feature]
            present = codes >= 0
            counts = np.bincount(codes[present].astype(np.int64), self.row_weights[present])
            found[int(feature)] = np.append(counts / self.row_weights.sum(), 0.0)
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
    if len(rows) <= most:
        return rows
    return rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)]


def _range_rows(values: Floats, weights: Floats, rows: Indices) -> Indices:
    """Return the rows at the ends of the range of most values: (2, n_features), -1 if all are gaps.

    The low end is the smallest value such that a tenth of the rows are not above it; the high end is the
    largest value such that a tenth of the rows are not below it.
    """
    present = ~np.isnan(values)
    order = np.argsort(values, axis=0, kind="stable")  # gaps are last
    counted = present * weights[:, None]
    total = np.cumsum(np.take_along_axis(counted, order, axis=0), axis=0)
    tail = TAIL * total[-1]
    # A sum may be off by rounding.
    low = (total < tail * (1 - 1e-9)).sum(axis=0)
    before = np.vstack([np.zeros(values.shape[1]), total[:-1]])
    inside = (total[-1] - before >= tail * (1 - 1e-9)) & np.take_along_axis(present, order, axis=0)
    high = np.maximum(inside.sum(axis=0) - 1, 0)
    ends = rows[np.take_along_axis(order, np.stack([low, high]), axis=0)]
    return np.where(present.any(axis=0), ends, -1)


def _frequent_rows(codes: Floats, weights: Floats, rows: Indices) -> tuple[Indices, Floats]:
    """Return rows that have the most frequent categories, and the shares of the rows that have them."""
    present = ~np.isnan(codes)
    _, firsts, kinds = np.unique(codes[present], return_index=True, return_inverse=True)
    shares = np.bincount(kinds, weights[present]) / weights.sum()
    order = np.argsort(-shares, kind="stable")[:MOST_TYPICAL]
    order = order[: int((np.cumsum(shares[order]) < TYPICAL_SHARE).sum()) + 1]
    return rows[present][firsts[order]], shares[order]


def typical_texts(explanation: Explanation, label: Any) -> NDArray[Any]:
    """Return what is typical of a class as text: see `Explanation.typical_texts`."""
    check_label(label, explanation.classes, "label")
    known, training = explanation._distribution, explanation._training_values
    columns = explanation._feature_columns
    texts = np.full(len(columns), "", dtype=object)
    if known is None or training is None:
        return texts
    index = int(np.flatnonzero(explanation.classes == label)[0])
    rows, shares = (part[index] for part in known.typical)  # (3, n_columns)
    if isinstance(training, TableValues):
        values = training.cells(rows)
    else:
        values = np.take_along_axis(training, rows, axis=0)
    for feature in np.flatnonzero(columns >= 0):
        column = columns[feature]
        used = rows[:, column] >= 0
        cells, parts = values[used, column], shares[used, column]
        shown = [value_text(value) for value in cells]
        if any(is_missing(value) for value in cells):
            continue
        if np.isnan(parts).any():
            texts[feature] = " to ".join(dict.fromkeys(shown))  # a single value is written once
        else:
            texts[feature] = ", ".join(f"{shown[i]} {percent(float(part))}" for i, part in enumerate(parts))
    return texts


def rank_text(percentile: float) -> str:
    """Return a percentile as a rank; "" for NaN.

    >>> rank_text(96.2), rank_text(0.4), rank_text(0.0), rank_text(100.0)
    ('96th', '1st', 'below all', 'above all')
    """
    if np.isnan(percentile):
        return ""
    if percentile in (0.0, 100.0):
        return "above all" if percentile else "below all"
    number = min(max(round(float(percentile)), 1), 99)
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if 10 <= number <= 20 else ending}"


@dataclass
class RowSample:
    """Some of the training rows of a model, with a search among them that is built on first use.

    Attributes
    ----------
    rows : ndarray of shape (n_sampled,)
        Positions of the training rows, ascending.
    """

    rows: Indices

    def nearest(self, queries: Queries, k: int) -> Indices:
        """Return the nearest of the rows to each query, as these measure, without the row that it is.

        Parameters
        ----------
        queries : Queries
        k : int

        Returns
        -------
        nearest : ndarray of shape (n_queries, k)
            Positions in `rows`.
        """
        if "_search" not in self.__dict__:
            self._search = queries.model.search_among(self.rows)
        own = None if queries.exclude is None else positions_in(self.rows, queries.exclude)
        return self._search.kneighbors(queries.rows, k, exclude=own, n_jobs=queries.n_jobs)[0]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_search"}


@dataclass
class Spacing(RowSample):
    """Distances of training rows to their neighbors.

    Attributes
    ----------
    rows : ndarray of shape (n_spaced,)
        Positions of training rows, ascending.
    distances : ndarray of shape (n_spaced,)
        Mean distance of each to its nearest neighbors, without itself.
    limit : float
        The relative distance above which a query is far.
    """

    distances: Floats
    limit: float

    def relative(self, queries: Queries, distances: Floats) -> Floats:
        """Return the distances of queries to their neighbors, relative to those of the rows around: s(x).

        Parameters
        ----------
        queries : Queries
        distances : ndarray of shape (n_queries,)
            Mean distance of each to its nearest neighbors.

        Returns
        -------
        relative : ndarray of shape (n_queries,)
            0 where the distance is small.
        """
        around = self.nearest(queries, min(N_AROUND, len(self.rows) - 1))
        relative = relative_distances(distances, self.distances, around)
        return np.where(distances < np.quantile(self.distances, NEARER), 0.0, relative)


def nearest_distances(distances: Floats, shares: Floats) -> Floats:
    """Return the mean distance to the nearest three of the neighbors that voted: (n_queries,).

    Parameters
    ----------
    distances, shares : ndarray of shape (n_queries, k)
        Lengths, nearest first, and shares of the vote.
    """
    voted = shares[:, :N_NEAREST] > 0
    total = np.where(voted, distances[:, :N_NEAREST], 0.0).sum(axis=1)
    return total / np.maximum(voted.sum(axis=1), 1)


def spacing_of(model: NeighborModel, *, n_jobs: int | None = None) -> Spacing | None:
    """Return the spacing of the training rows of a model, which is kept and saved with it.

    None if there are fewer than three.
    """
    if "spacing" not in model.derived and len(model.X) > 2:
        model.derived["spacing"] = compute_spacing(model, n_jobs=n_jobs)
    return model.derived.get("spacing")


def compute_spacing(model: NeighborModel, *, n_jobs: int | None = None) -> Spacing:
    """Measure how far up to 1000 training rows are from their neighbors, each without itself."""
    n_spaced = min(len(model.X), MOST_SPACED)
    if model.work_per_query > 0:
        n_spaced = min(n_spaced, max(int(WORK / model.work_per_query), 100))
    rows = np.linspace(0, len(model.X) - 1, n_spaced).astype(np.int64)
    queries = Queries(model, model.X[rows], rows, n_jobs)
    indices, squared = queries.voters()
    shares = model.vote(indices, squared).shares
    distances = nearest_distances(np.sqrt(np.maximum(squared, 0.0)), shares)
    spacing = Spacing(rows, distances, np.inf)
    relative = spacing.relative(queries, distances)
    spacing.limit = float(np.quantile(relative, SHARE, method="higher"))
    return spacing


def find_far(queries: Queries, distances: Floats, extremes: Floats) -> NDArray[np.bool_]:
    """Return to which queries nothing similar was seen: (n_queries,).

    Parameters
    ----------
    queries : Queries
        Of a model with training rows.
    distances : ndarray of shape (n_queries,)
        Mean distance of each to its nearest neighbors.
    extremes : ndarray of shape (2, n_features)
        The smallest and the largest number of the training rows; NaN for categories.
    """
    low, high = extremes
    width = high - low
    with np.errstate(over="ignore", invalid="ignore"):
        beyond = (queries.rows > high + width) | (queries.rows < low - width)
    is_far = (beyond & (width > 0)).any(axis=1)
    spacing = spacing_of(queries.model, n_jobs=queries.n_jobs)
    if spacing is not None and len(queries):
        is_far |= ~(spacing.relative(queries, distances) <= spacing.limit)  # distances that overflow are far
    return is_far
