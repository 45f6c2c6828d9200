"""Rows with which queries are compared in all features.

Numbers are z-scores, categories have indicators, and both are decorrelated by the covariance of the rows,

    C = (1 − λ) S + λ I,    λ = d / (n + d),

with S the covariance of n rows in d coordinates. Many rows are represented by some of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.validation import check_array

from lann._support.rows import N_AROUND, relative_distances, spread_rows
from lann._support.types import Floats, Indices, Labels
from lann.columns.schema import UNSEEN, TableSchema, array_as_table, as_table, infer_schema, read

# Rows with which queries are compared, at most.
MOST_ROWS = 5000
# Coordinates that are decorrelated, at most.
MOST_COORDINATES = 500
# Categories of a feature with an indicator of their own, at most: the most frequent ones.
MOST_CATEGORIES = 50
# Distances that are held at once.
HELD = 2**22
# The range of values, relative to the largest, up to which they are one value: they differ by rounding.
CONSTANT = 1e-12
# Coordinates and distances are limited, so that their squares and sums are finite.
LARGEST = 1e100


class Measured(NamedTuple):
    """How far queries are from rows.

    Attributes
    ----------
    nearest : (n_queries,)
        Distance to the nearest row, relative to the distances between the rows around it.
    own, other : (n_queries,)
        Distance to the nearest row of the predicted class, and of any other class.
    """

    nearest: Floats
    own: Floats
    other: Floats


def _read_plain(X: Any, schema: TableSchema | None = None) -> tuple[Floats, TableSchema]:
    """Return rows as numbers, categories as codes, and their schema, which is inferred if it is None."""
    table = as_table(X)
    if table is None:
        array = np.asarray(X)
        if array.dtype.kind in "biuf" and (schema is None or schema.is_numeric):
            rows: Floats = check_array(X, dtype=np.float64, ensure_all_finite="allow-nan")
            names = [f"x{f}" for f in range(rows.shape[1])]
            return rows, schema or TableSchema.numeric(names, has_names=False)
        table = array_as_table(X)
    if schema is None:
        schema = infer_schema(table, "from_dtype", has_names=hasattr(X, "columns"))
    return read(table, schema), schema


@dataclass(frozen=True)
class Coordinates:
    """How rows become coordinates: shifts and scales of numbers, indicators of categories and gaps.

    Attributes
    ----------
    means, scales : (n_features,)
        Of numbers; 0 and 1 of categories.
    feature : (n_coordinates,)
        The feature of each coordinate.
    code : (n_coordinates,)
        The category that a coordinate indicates; NaN for a gap, inf for the number itself.
    shifts, factors : (n_coordinates,)
        Mean and factor of each indicator.
    """

    means: Floats
    scales: Floats
    feature: Indices
    code: Floats
    shifts: Floats
    factors: Floats

    @classmethod
    def fit(cls, X: Floats, n_categories: tuple[int, ...]) -> Coordinates:
        """Return the coordinates of rows given as numbers.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
        n_categories : tuple of int
            Number of categories of each feature, 0 for numbers.

        Returns
        -------
        coordinates : Coordinates
        """
        means, scales = np.zeros(X.shape[1]), np.ones(X.shape[1])
        coordinates: list[tuple[int, float, float, float]] = []  # feature, code, shift, factor
        for f, values in enumerate(X.T):
            gaps = np.isnan(values)
            known = values[~gaps]
            if n_categories[f] == 0:
                coordinates.append((f, np.inf, 0.0, 1.0))
                if len(known):
                    means[f] = known.mean()
                if len(known) and np.ptp(known) > CONSTANT * np.abs(known).max():
                    scales[f] = known.std()
            else:
                counts = np.bincount(known[known != UNSEEN].astype(np.int64), minlength=n_categories[f])
                frequent = np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]
                codes = sorted(float(c) for c in frequent if counts[c])
                shares = [float(np.mean(values == c)) for c in codes]
                spread = sum(p * (1.0 - p) for p in shares)
                factor = 1.0 if spread == 0 else 1.0 / np.sqrt(spread)
                coordinates += [(f, c, p, factor) for c, p in zip(codes, shares, strict=True)]
            share = float(gaps.mean())
            if 0 < share < 1:
                coordinates.append((f, np.nan, share, 1.0 / np.sqrt(share * (1.0 - share))))
        feature, code, shifts, factors = map(np.array, zip(*coordinates, strict=True))
        return cls(means, scales, feature.astype(np.int64), code, shifts, factors)

    def transform(self, X: Floats) -> Floats:
        """Return the coordinates of rows.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Given as numbers.

        Returns
        -------
        coordinates : ndarray of shape (n_rows, n_coordinates)
        """
        numbers = (X - self.means) / self.scales
        values = np.where(np.isnan(numbers), 0.0, numbers)[:, self.feature]
        given = X[:, self.feature]
        indicated = np.where(np.isnan(self.code), np.isnan(given), given == self.code)
        indicators = (indicated - self.shifts) * self.factors
        coordinates = np.where(self.code == np.inf, values, indicators)
        return np.clip(coordinates, -LARGEST, LARGEST)


@dataclass(frozen=True)
class PlainRows:
    """Rows with which queries are compared in all features.

    Attributes
    ----------
    schema : TableSchema
    coordinates : Coordinates
    whitening : (n_coordinates, n_axes) or None
        From coordinates to decorrelated axes; None keeps the coordinates.
    rows : (n_rows, n_axes)
    labels : (n_rows,)
        Class indices.
    spacing : (n_rows,)
        Distance of each row to its nearest other row.
    extremes : (2, n_features)
        Smallest and largest number; NaN for categories.
    has_gaps : (n_features,)
        Whether a row has a gap there.
    """

    schema: TableSchema
    coordinates: Coordinates
    whitening: Floats | None
    rows: Floats
    labels: Labels
    spacing: Floats
    extremes: Floats
    has_gaps: NDArray[np.bool_]

    @classmethod
    def fit(cls, X: Any, labels: Labels) -> PlainRows:
        """Return what queries are compared with.

        Parameters
        ----------
        X : array-like or table of shape (n_rows, n_features)
        labels : ndarray of shape (n_rows,)
            Class indices.

        Returns
        -------
        plain : PlainRows
        """
        values, schema = _read_plain(X)
        coordinates = Coordinates.fit(values, schema.n_categories)
        axes = coordinates.transform(values)
        whitening = _whitening(axes) if axes.shape[1] <= MOST_COORDINATES else None
        kept = spread_rows(len(values), MOST_ROWS)
        rows = axes[kept] if whitening is None else axes[kept] @ whitening
        gaps = np.isnan(values)
        is_category = np.array(schema.n_categories) > 0
        low = np.where(gaps, np.inf, values).min(axis=0)
        high = np.where(gaps, -np.inf, values).max(axis=0)
        return cls(
            schema,
            coordinates,
            whitening,
            rows,
            labels[kept],
            _nearest_others(rows),
            np.where(is_category | (low > high), np.nan, np.stack([low, high])),
            np.any(gaps, axis=0),
        )

    def read(self, X: Any) -> Floats:
        """Return queries as numbers, categories as codes.

        Parameters
        ----------
        X : array-like or table of shape (n_queries, n_features)

        Returns
        -------
        queries : ndarray of shape (n_queries, n_features)
        """
        return _read_plain(X, self.schema)[0]

    def transform(self, queries: Floats) -> Floats:
        """Return queries on the axes in which they are compared.

        Parameters
        ----------
        queries : ndarray of shape (n_queries, n_features)
            As `read` returns them.

        Returns
        -------
        axes : ndarray of shape (n_queries, n_axes)
        """
        axes = self.coordinates.transform(queries)
        return axes if self.whitening is None else axes @ self.whitening

    def measure(self, queries: Floats, predicted: Labels | None = None) -> Measured:
        """Return how far queries are from the rows.

        Parameters
        ----------
        queries : ndarray of shape (n_queries, n_features)
            As `read` returns them.
        predicted : ndarray of shape (n_queries,) or None, default=None
            Indices of the predicted classes; with None, distances to classes are NaN.

        Returns
        -------
        measured : Measured
        """
        points = self.transform(queries)
        out = Measured(*(np.full(len(points), np.nan) for _ in range(3)))
        n_around = min(N_AROUND, len(self.rows))
        block = max(HELD // len(self.rows), 1)
        for start in range(0, len(points), block):
            part = slice(start, start + block)
            distances = euclidean_distances(points[part], self.rows)
            around = np.argpartition(distances, n_around - 1, axis=1)[:, :n_around]
            out.nearest[part] = relative_distances(distances.min(axis=1), self.spacing, around)
            if predicted is None:
                continue
            same = self.labels[None] == predicted[part, None]
            out.own[part] = np.where(same, distances, np.inf).min(axis=1)
            out.other[part] = np.where(same, np.inf, distances).min(axis=1)
        return out

    def outside(self, queries: Floats) -> Floats:
        """Return by how many standard deviations queries are outside the range of the rows.

        The largest of all features; 0 for queries in the range, and 1 for an unseen category or a gap in a
        feature in which no row has one.

        Parameters
        ----------
        queries : ndarray of shape (n_queries, n_features)
            As `read` returns them.

        Returns
        -------
        outside : ndarray of shape (n_queries,)
        """
        low, high = self.extremes
        beyond = np.maximum(low - queries, queries - high) / self.coordinates.scales
        beyond = np.where(np.isnan(beyond), 0.0, np.maximum(beyond, 0.0))
        is_category = np.array(self.schema.n_categories) > 0
        strange = (is_category & (queries == UNSEEN)) | (np.isnan(queries) & ~self.has_gaps)
        return np.where(strange, np.maximum(beyond, 1.0), beyond).max(axis=1)


def _whitening(coordinates: Floats) -> Floats:
    """Return the map to decorrelated axes, with the covariance shrunk toward the identity."""
    n_rows, d = coordinates.shape
    centered = coordinates - coordinates.mean(axis=0)
    share = d / (n_rows + d)
    covariance = (1.0 - share) * (centered.T @ centered) / n_rows + share * np.eye(d)
    variances, directions = np.linalg.eigh(covariance)
    whitening: Floats = directions / np.sqrt(variances)
    return whitening


def _nearest_others(rows: Floats) -> Floats:
    """Return the distance of each row to its nearest other row: (n_rows,)."""
    spacing = np.zeros(len(rows))
    if len(rows) < 2:
        return spacing
    block = max(HELD // len(rows), 1)
    for start in range(0, len(rows), block):
        distances = euclidean_distances(rows[start : start + block], rows)
        own = np.arange(start, start + len(distances))
        distances[np.arange(len(distances)), own] = np.inf
        spacing[own] = distances.min(axis=1)
    return spacing
