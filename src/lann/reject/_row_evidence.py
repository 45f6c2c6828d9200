"""What a fitted classifier and its training rows say about queries: certainty, novelty and region.

Distances are those of the model if the classifier has neighbors, and those of plain rows otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from lann._support.rows import N_AROUND, relative_distances
from lann._support.types import Floats, Indices, Labels
from lann.columns.inputs import read_queries
from lann.reject._plain_rows import Measured, PlainRows

if TYPE_CHECKING:
    from lann.model import NeighborModel

# Nearest rows among which those of the predicted class and of others are found.
N_NEAREST = 50
# A value is outside the range of the training rows if it is outside by more than so many deviations.
LEAST_OUTSIDE = 0.05
# Distances at least as long, as their logarithms are compared.
SHORTEST = 1e-12


class Reading(NamedTuple):
    """What is known of queries.

    Attributes
    ----------
    probabilities : (n_queries, n_classes)
    separation : (n_queries,) or None
        (d⁻ − d⁺) / (d⁻ + d⁺), with d⁺ and d⁻ the distances to the nearest row of the predicted class and of
        any other class, of the 50 nearest rows: from -1 to 1. None if it is not needed.
    novelty : (n_queries, n_parts) or None
        Logarithms of relative distances: to the nearest row as the model measures, if it has neighbors; to
        the nearest plain row; to the range of the values. None if it is not needed.
    """

    probabilities: Floats
    separation: Floats | None
    novelty: Floats | None


class Needs(NamedTuple):
    """What is needed of queries, beside probabilities."""

    separation: bool
    novelty: bool


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
    if model is None:
        return None
    from lann.model import NeighborModel

    return model if isinstance(model, NeighborModel) else None


def model_queries(estimator: Any, X: Any) -> Floats:
    """Return queries as the model of a classifier takes them: transformed by the steps before it."""
    return read_queries(*_unwrap(estimator, X))


def lengths(squared: Floats) -> Floats:
    """Return the lengths of squared distances: infinite where these overflow, 0 where rounding is below."""
    return np.sqrt(np.maximum(np.where(np.isnan(squared), np.inf, squared), 0.0))


def model_spacing(model: NeighborModel, *, n_jobs: int | None = None) -> Floats | None:
    """Return the distance of each training row to its nearest other row, as that one measures: (n_rows,).

    None if the model has prototypes in place of training rows.
    """
    if not model.has_training_rows or len(model.X) < 2:
        return None
    own = np.arange(len(model.X))
    squared = model.kneighbors(model.X, 1, exclude=own, n_jobs=n_jobs)[1][:, 0]
    return np.sqrt(np.maximum(squared, 0.0))


@dataclass(frozen=True)
class Reader:
    """Reads queries by a fitted classifier and its training rows.

    Attributes
    ----------
    estimator : classifier
        Fitted.
    n_classes : int
        Number of all classes.
    columns : (n_own,)
        The index, among all classes, of each class of the estimator.
    plain : PlainRows or None
        The training rows in all features; None if they are not needed.
    spacing : (n_rows,) or None
        Distances between the training rows, as they measure.
    needs : Needs
    n_jobs : int or None
        Number of threads.
    fitted_model : NeighborModel or None
        The model of the classifier to whose rows the distances belong, if it has neighbors.
    """

    estimator: Any
    n_classes: int
    columns: Labels
    plain: PlainRows | None
    spacing: Floats | None
    needs: Needs
    n_jobs: int | None
    fitted_model: NeighborModel | None

    def check_unchanged(self) -> None:
        """Raise ValueError if the classifier has other rows than when the thresholds were learned."""
        if self.model is not self.fitted_model:
            raise ValueError(
                "The classifier has changed since the thresholds were learned (fit, partial_fit or forget); "
                "fit the reject option again."
            )

    @property
    def model(self) -> NeighborModel | None:
        """The model of the classifier, if it has neighbors."""
        return neighbor_model(self.estimator)

    def read(self, X: Any) -> Reading:
        """Return what is known of queries.

        Parameters
        ----------
        X : array-like or table of shape (n_queries, n_features)
        """
        own = np.asarray(self.estimator.predict_proba(X), dtype=np.float64)
        probabilities = np.zeros((len(own), self.n_classes))
        probabilities[:, self.columns] = own
        if not (self.needs.separation or self.needs.novelty):
            return Reading(probabilities, None, None)
        model = self.model
        near = None if model is None else self._find_nearest(model, X, own.argmax(axis=1))
        plain = values = None
        if self.plain is not None:
            values = self.plain.read(X)
            plain = self.plain.measure(values, probabilities.argmax(axis=1) if model is None else None)
        separation = novelty = None
        if self.needs.separation:
            measured = plain if near is None else near
            assert measured is not None
            separation = _separation(measured.own, measured.other)
        if self.needs.novelty:
            assert plain is not None
            assert self.plain is not None
            assert values is not None
            outside = self.plain.outside(values)
            # Rows in the range are not novel at all, and others can be infinitely novel.
            with np.errstate(divide="ignore", over="ignore"):
                parts = [
                    np.log(plain.nearest),
                    np.where(outside > 0, np.log1p(outside / LEAST_OUTSIDE), -np.inf),
                ]
                if near is not None:
                    parts.insert(0, np.log(near.nearest))
            novelty = np.column_stack(parts)
        return Reading(probabilities, separation, novelty)

    def _find_nearest(self, model: NeighborModel, X: Any, predicted: Labels) -> Measured:
        """Return how far queries are from the rows of the model, as these measure."""
        queries = model_queries(self.estimator, X)
        k = min(N_NEAREST, len(model.X))
        rows, squared = model.kneighbors(queries, k, n_jobs=self.n_jobs)
        distances = lengths(squared)
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


def _separation(own: Floats, other: Floats) -> Floats:
    """Return (d⁻ − d⁺) / (d⁻ + d⁺): 0 where both are 0, 1 where no row of another class is found."""
    with np.errstate(invalid="ignore"):
        total = other + own
        separation = np.where(total > 0, (other - own) / np.where(total > 0, total, 1.0), 0.0)
    found_one = np.where(np.isinf(other), np.where(np.isinf(own), 0.0, 1.0), separation)
    return np.where(np.isinf(own) & ~np.isinf(other), -1.0, found_one)


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
    """What the parts of the novelty are for held-out rows.

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
        usual, large = np.quantile(_finite(parts), [USUAL, LARGE], axis=0)
        usual[-1] = 0.0
        least = np.full(parts.shape[1], LEAST_SPREAD)
        least[-1] = LEAST_RANGE_SPREAD
        return cls(usual, np.maximum(large - usual, least))

    def novelties(self, parts: Floats) -> Floats:
        """Return how many times as far from its nearest rows each row is as held-out rows usually are.

        It is the largest of all parts, each on the scale of the first one.

        Parameters
        ----------
        parts : ndarray of shape (n_rows, n_parts)

        Returns
        -------
        novelties : ndarray of shape (n_rows,)
        """
        largest = ((_finite(parts) - self.usual) / self.spread).max(axis=1) * self.spread[0]
        return np.exp(np.minimum(largest, MOST_NOVEL))


def _finite(parts: Floats) -> Floats:
    """Return logarithms with those of distances that overflow as large numbers."""
    return np.where(np.isnan(parts), np.inf, parts).clip(-LARGEST_PART, LARGEST_PART)


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
        NaN where they are not needed.
    kind : {"probability", "margin", "novelty", "combined"}
    """
    if kind == "novelty":
        return -novelties
    ordered = np.sort(reading.probabilities, axis=1)
    if kind == "margin":
        return ordered[:, -1] - ordered[:, -2]
    if kind == "probability" or reading.separation is None:
        return ordered[:, -1]
    # Rounded, so that the separation decides between probabilities that are equal but for their last bits.
    probability = np.round(ordered[:, -1], 9)
    w = SEPARATION_WEIGHT
    return (1.0 - w) * probability + w * (1.0 + reading.separation) / 2.0


# Regions, at most, and held-out rows that each has at least.
MOST_REGIONS, FEWEST_ROWS = 10, 30
# Training rows from which landmarks are drawn, at most.
MOST_CANDIDATES = 2000


@dataclass(frozen=True)
class Regions:
    """Neighborhoods of landmarks.

    Attributes
    ----------
    landmarks : (n_regions,)
        Positions of training rows: of those of the model, or of the plain rows.
    """

    landmarks: Indices

    def of(self, reader: Reader, X: Any) -> Labels:
        """Return the number of the region of each query: (n_queries,).

        Parameters
        ----------
        reader : Reader
            Of the model that the landmarks belong to.
        X : array-like or table of shape (n_queries, n_features)
        """
        return _distances(reader, _read_queries(reader, X), self.landmarks).argmin(axis=1).astype(np.int64)


def _training_rows(reader: Reader) -> Floats:
    """Return the rows among which landmarks are: those of the model, or the plain rows."""
    if reader.model is not None:
        return reader.model.X
    assert reader.plain is not None
    return reader.plain.rows


def _read_queries(reader: Reader, X: Any) -> Floats:
    """Return queries in the form of these rows."""
    if reader.model is not None:
        return model_queries(reader.estimator, X)
    assert reader.plain is not None
    return reader.plain.transform(reader.plain.read(X))


def _distances(reader: Reader, queries: Floats, landmarks: Indices) -> Floats:
    """Return the distances of queries to landmarks, as these measure: (n_queries, n_landmarks)."""
    model = reader.model
    if model is None:
        return euclidean_distances(queries, _training_rows(reader)[landmarks])
    indices = np.broadcast_to(landmarks, (len(queries), len(landmarks))).copy()
    return lengths(model.distances(queries, indices, n_jobs=reader.n_jobs))


def find_regions(reader: Reader, X: Any, rng: np.random.Generator) -> tuple[Regions, Labels]:
    """Return regions with enough held-out rows each, and the region of every held-out row.

    Landmarks are drawn one after the other with a probability proportional to the squared distance to the
    nearest one before. Those with few held-out rows are dropped.

    Parameters
    ----------
    reader : Reader
    X : array-like or table of shape (n_held_out, n_features)
        Held-out rows.
    rng : Generator
    """
    rows = _training_rows(reader)
    candidates = np.sort(rng.permutation(len(rows))[:MOST_CANDIDATES]).astype(np.int64)
    n_held_out = len(X)
    n_regions = int(np.clip(n_held_out // FEWEST_ROWS, 1, min(MOST_REGIONS, len(candidates))))
    chosen = [int(rng.choice(candidates))]
    nearest = np.full(len(candidates), np.inf)
    while len(chosen) < n_regions:
        added = _distances(reader, rows[candidates], np.array(chosen[-1:]))[:, 0]
        nearest = np.minimum(nearest, added)
        nearest[candidates == chosen[-1]] = 0.0
        weights = np.square(np.where(np.isfinite(nearest), nearest, 0.0))
        if not weights.sum() > 0:
            break
        chosen.append(int(rng.choice(candidates, p=weights / weights.sum())))
    landmarks = np.array(chosen, np.int64)
    distances = _distances(reader, _read_queries(reader, X), landmarks)
    kept = np.arange(len(landmarks))
    while True:
        region = distances[:, kept].argmin(axis=1)
        counts = np.bincount(region, minlength=len(kept))
        if len(kept) == 1 or counts.min() >= FEWEST_ROWS:
            return Regions(landmarks[kept]), region.astype(np.int64)
        kept = np.delete(kept, counts.argmin())
