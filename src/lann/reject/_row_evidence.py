"""What a fitted classifier and its training rows say about queries: certainty, novelty and region.

Distances are those of the model if the classifier has neighbors. A learned metric ignores features that do
not help to predict, so that a row that is strange in these alone looks near. Rows are therefore also compared
in all features, as plain rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import euclidean_distances

from lann._support.rows import N_AROUND, relative_distances
from lann._support.types import Floats, Indices, Labels
from lann.columns.inputs import read_queries
from lann.model import NeighborModel
from lann.reject._plain_rows import LARGEST, Measured, PlainRows

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
