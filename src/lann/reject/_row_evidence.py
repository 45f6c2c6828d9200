"""What a fitted classifier and its training rows say about queries: certainty, novelty and region.

Distances are those of the model if the classifier has neighbors. A learned metric ignores features that do
not help to predict, so that a row that is strange in these alone looks near. Rows are therefore also compared
in all features, as *plain rows*: numbers as z-scores, categories by indicators, both decorrelated by the
covariance of the rows,

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

from lann._support.rows import N_AROUND, relative_distances
from lann._support.types import Floats, Indices, Labels
from lann.columns.inputs import read_queries
from lann.columns.schema import UNSEEN, TableSchema, array_as_table, as_table, infer_schema, read
from lann.model import NeighborModel

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
        kept = np.linspace(0, len(values) - 1, min(len(values), MOST_ROWS)).astype(np.int64)
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


# Rows among which those of the predicted class and of others are searched.
N_NEAREST = 50
# Standard deviations by which a value is outside the range of the training rows, at least, to be novel.
LEAST_OUTSIDE = 0.05
# Distances are at least as long, as their logarithms are compared.
SHORTEST = 1e-12


class Reading(NamedTuple):
    """What is known of queries.

    Attributes
    ----------
    probabilities : (n_queries, n_classes)
    separation : (n_queries,)
        (d⁻ − d⁺) / (d⁻ + d⁺), with d⁺ and d⁻ the distances to the nearest row of the predicted class and of
        any other class, of the 50 nearest rows: from -1 to 1.
    novelty : (n_queries, n_parts)
        Logarithms of relative distances: to the nearest row as the model measures, if it has neighbors; to
        the nearest plain row; to the range of the values.
    """

    probabilities: Floats
    separation: Floats
    novelty: Floats


def _unwrap(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return the fitted classifier in pipelines and searches, and rows as it takes them; X can be None."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "named_steps") and hasattr(estimator, "steps"):
            if X is not None and len(estimator.steps) > 1:
                X = estimator[:-1].transform(X)
            estimator = estimator.steps[-1][1]
        else:
            return estimator, X


def neighbor_model(estimator: Any) -> NeighborModel | None:
    """Return the model of a fitted classifier of `lann`, also at the end of a pipeline; None for others."""
    model = getattr(_unwrap(estimator, None)[0], "model_", None)
    return model if isinstance(model, NeighborModel) else None


@dataclass(frozen=True)
class Reader:
    """Reads queries by a fitted classifier and its training rows.

    Attributes
    ----------
    estimator : classifier
        Fitted.
    classes : (n_classes,)
        All classes, of which those of the estimator are some.
    n_jobs : int or None
        Number of threads.
    plain : PlainRows
        The training rows in all features.
    spacing : (n_rows,) or None
        Distance of each training row of the model to its nearest other row, as that one measures; None if
        the model has prototypes in place of training rows, or there is none.
    model : NeighborModel or None
        The model of the classifier to whose rows the distances belong, if it has neighbors.
    """

    estimator: Any
    classes: NDArray[Any]
    n_jobs: int | None
    plain: PlainRows
    spacing: Floats | None
    model: NeighborModel | None

    @classmethod
    def fit(cls, estimator: Any, X: Any, labels: Labels, classes: NDArray[Any], n_jobs: int | None) -> Reader:
        """Return the reader of a fitted classifier, with rows as plain rows.

        Parameters
        ----------
        estimator : classifier
        X : array-like or table of shape (n_rows, n_features)
        labels : (n_rows,)
            Class indices.
        classes : (n_classes,)
        n_jobs : int or None
        """
        model, spacing = neighbor_model(estimator), None
        if model is not None and model.has_training_rows and len(model.X) > 1:
            rows = np.arange(len(model.X))
            squared = model.kneighbors(model.X, 1, exclude=rows, n_jobs=n_jobs)[1][:, 0]
            spacing = np.sqrt(np.maximum(squared, 0.0))
        return cls(estimator, classes, n_jobs, PlainRows.fit(X, labels), spacing, model)

    def check_unchanged(self) -> None:
        """Raise ValueError if the classifier has other rows than when the thresholds were learned."""
        if neighbor_model(self.estimator) is not self.model:
            raise ValueError(
                "The classifier has changed since the thresholds were learned (fit, partial_fit or forget); "
                "fit the reject option again."
            )

    def read(self, X: Any) -> Reading:
        """Return what is known of queries.

        Parameters
        ----------
        X : array-like or table of shape (n_queries, n_features)
        """
        own = np.asarray(self.estimator.predict_proba(X), dtype=np.float64)
        probabilities = np.zeros((len(own), len(self.classes)))
        probabilities[:, np.searchsorted(self.classes, self.estimator.classes_)] = own
        values, parts, near = self.plain.read(X), [], None
        if self.model is not None:
            near = self._find_nearest(self.model, X, own.argmax(axis=1))
            parts.append(np.log(near.nearest))
        plain = self.plain.measure(values, None if near else probabilities.argmax(axis=1))
        outside = self.plain.outside(values)
        # Rows in the range are not novel at all.
        parts += [np.log(plain.nearest), np.where(outside > 0, np.log1p(outside / LEAST_OUTSIDE), -np.inf)]
        near = near or plain
        # The separation is 0 where both distances are 0, 1 where no row of another class is known.
        same, other = np.minimum(near.own, LARGEST), np.minimum(near.other, LARGEST)
        total = other + same
        separation = np.divide(other - same, total, out=np.zeros(len(total)), where=total > 0)
        return Reading(probabilities, separation, np.column_stack(parts))

    def _find_nearest(self, model: NeighborModel, X: Any, predicted: Labels) -> Measured:
        """Return how far queries are from the rows of the model, as these measure."""
        queries = read_queries(*_unwrap(self.estimator, X))
        rows, squared = model.kneighbors(queries, min(N_NEAREST, len(model.X)), n_jobs=self.n_jobs)
        distances = np.sqrt(np.maximum(squared, 0.0))
        same = model.labels[rows] == predicted[:, None]
        # Where all of these rows are of one class, the farthest stands for the others.
        own, other = (
            np.minimum(np.where(mask, distances, np.inf).min(axis=1), distances[:, -1])
            for mask in (same, ~same)
        )
        nearest = np.maximum(distances[:, 0], SHORTEST)
        if self.spacing is not None:
            nearest = relative_distances(distances[:, 0], self.spacing, rows[:, :N_AROUND])
        return Measured(nearest, own, other)

    @property
    def rows(self) -> Floats:
        """The rows among which landmarks are: those of the model, or the plain rows."""
        return self.plain.rows if self.model is None else self.model.X

    def transform(self, X: Any) -> Floats:
        """Return queries in the form of these rows."""
        if self.model is None:
            return self.plain.transform(self.plain.read(X))
        return read_queries(*_unwrap(self.estimator, X))

    def distances(self, queries: Floats, landmarks: Indices) -> Floats:
        """Return the distances of transformed queries to landmarks: (n_queries, n_landmarks)."""
        if self.model is None:
            return euclidean_distances(queries, self.rows[landmarks])
        indices = np.broadcast_to(landmarks, (len(queries), len(landmarks))).copy()
        return np.sqrt(np.maximum(self.model.distances(queries, indices, n_jobs=self.n_jobs), 0.0))

    def regions_of(self, X: Any, landmarks: Indices) -> Labels:
        """Return the number of the nearest landmark of each query: (n_queries,)."""
        return self.distances(self.transform(X), landmarks).argmin(axis=1).astype(np.int64)


CERTAINTIES = ("probability", "margin", "novelty", "combined")
# Weight of the separation in the combined certainty: it orders rows of equal probability, and hardly others.
SEPARATION_WEIGHT = 0.01
# The quantile of held-out rows by which parts of the novelty are brought to the same scale.
USUAL, LARGE = 0.5, 0.95
# The least difference between these two quantiles, of distances and of the distance to the range.
LEAST_SPREAD, LEAST_RANGE_SPREAD = 0.05, float(np.log(2.0))
# The largest logarithm of a novelty, and of one of its parts.
MOST_NOVEL, LARGEST_PART = 100.0, 1e6


@dataclass(frozen=True)
class NoveltyScale:
    """The scale of the parts of the novelty, learned from held-out rows.

    Attributes
    ----------
    usual : (n_parts,)
        Medians of held-out rows; 0 for the range.
    spread : (n_parts,)
        By how much larger the 95 % quantiles are.
    """

    usual: Floats
    spread: Floats

    @classmethod
    def fit(cls, parts: Floats) -> NoveltyScale:
        """Return the scale of the parts of held-out rows.

        Parameters
        ----------
        parts : ndarray of shape (n_rows, n_parts)
            The last one is the range.

        Returns
        -------
        scale : NoveltyScale
        """
        usual, large = np.quantile(np.clip(parts, -LARGEST_PART, LARGEST_PART), [USUAL, LARGE], axis=0)
        usual[-1] = 0.0
        least = np.full(parts.shape[1], LEAST_SPREAD)
        least[-1] = LEAST_RANGE_SPREAD
        return cls(usual, np.maximum(large - usual, least))

    def novelties(self, parts: Floats) -> Floats:
        """Return the distance of each row to its nearest rows, relative to a typical held-out row.

        It is the largest of all parts, each on the scale of the first one.

        Parameters
        ----------
        parts : ndarray of shape (n_rows, n_parts)

        Returns
        -------
        novelties : ndarray of shape (n_rows,)
        """
        parts = np.clip(parts, -LARGEST_PART, LARGEST_PART)
        largest = ((parts - self.usual) / self.spread).max(axis=1) * self.spread[0]
        return np.exp(np.minimum(largest, MOST_NOVEL))


def novelty_threshold(novelties: Floats, share: float) -> float:
    """Return the threshold above which at most this share of rows like the held-out ones is expected.

    Parameters
    ----------
    novelties : (n_rows,)
        Of held-out rows.
    share : float
        0 is none.

    Returns
    -------
    threshold : float
        With few rows, the largest novelty.
    """
    if share == 0:
        return np.inf
    n_rows = len(novelties)
    position = int(np.ceil((n_rows + 1) * (1.0 - share)))
    return float(np.sort(novelties)[min(position, n_rows) - 1])


def compute_certainties(reading: Reading, novelties: Floats, kind: str) -> Floats:
    """Return how certain each prediction is: (n_queries,).

    Parameters
    ----------
    reading : Reading
    novelties : (n_queries,)
    kind : {"probability", "margin", "novelty", "combined"}
    """
    if kind == "novelty":
        return -novelties
    ordered = np.sort(reading.probabilities, axis=1)
    if kind == "margin":
        return ordered[:, -1] - ordered[:, -2]
    if kind == "probability":
        return ordered[:, -1]
    # Rounded, so that the separation decides between probabilities that are equal but for their last bits.
    probability = np.round(ordered[:, -1], 9)
    w = SEPARATION_WEIGHT
    return (1.0 - w) * probability + w * (1.0 + reading.separation) / 2.0


# Regions, at most, and held-out rows that each has at least.
MOST_REGIONS, FEWEST_ROWS = 10, 30
# Training rows from which landmarks are drawn, at most.
MOST_CANDIDATES = 2000


def find_landmarks(reader: Reader, X: Any, rng: np.random.Generator) -> Indices:
    """Return landmarks whose neighborhoods have enough held-out rows each.

    Landmarks are drawn one after the other with a probability proportional to the squared distance to the
    nearest one before. Those with few held-out rows are dropped.

    Parameters
    ----------
    reader : Reader
    X : array-like or table of shape (n_held_out, n_features)
        Held-out rows.
    rng : Generator

    Returns
    -------
    landmarks : (n_regions,)
        Positions of training rows: of those of the model, or of the plain rows.
    """
    candidates = np.sort(rng.permutation(len(reader.rows))[:MOST_CANDIDATES]).astype(np.int64)
    n_regions = int(np.clip(len(X) // FEWEST_ROWS, 1, min(MOST_REGIONS, len(candidates))))
    landmarks = np.array([rng.choice(candidates)], np.int64)
    nearest = np.full(len(candidates), np.inf)
    while len(landmarks) < n_regions:
        added = reader.distances(reader.rows[candidates], landmarks[-1:])[:, 0]
        nearest = np.where(candidates == landmarks[-1], 0.0, np.minimum(nearest, added))
        weights = np.square(nearest)
        if not weights.any():
            break
        landmarks = np.append(landmarks, rng.choice(candidates, p=weights / weights.sum()))
    distances = reader.distances(reader.transform(X), landmarks)
    while True:
        counts = np.bincount(distances.argmin(axis=1), minlength=len(landmarks))
        if len(landmarks) == 1 or counts.min() >= FEWEST_ROWS:
            return landmarks
        landmarks = np.delete(landmarks, counts.argmin())
        distances = np.delete(distances, counts.argmin(), axis=1)
