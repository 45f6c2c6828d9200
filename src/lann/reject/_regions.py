"""Regions: the training rows that a row is nearest to, as these measure.

Some training rows that are far from each other are landmarks. A region is the neighborhood of one of them:
the rows that are nearer to it than to any other landmark.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from lann._types import Floats, Indices, Labels
from lann.reject._reading import Reader, model_queries

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
        return _distances(reader, X, self.landmarks).argmin(axis=1).astype(np.int64)


def _distances(reader: Reader, X: Any, landmarks: Indices) -> Floats:
    """Return the distances of queries to landmarks, as these measure: (n_queries, n_landmarks)."""
    model = reader.model
    if model is not None:
        queries = model_queries(reader.estimator, X)
        indices = np.broadcast_to(landmarks, (len(queries), len(landmarks))).copy()
        squared = model.distances(queries, indices, n_jobs=reader.n_jobs)
        return np.sqrt(np.maximum(np.where(np.isnan(squared), np.inf, squared), 0.0))
    plain = reader.plain
    assert plain is not None
    return euclidean_distances(plain.transform(X), plain.rows[landmarks])


def _distances_of_rows(reader: Reader, rows: Indices, landmarks: Indices) -> Floats:
    """Return the distances of training rows to landmarks: (n_rows, n_landmarks)."""
    model = reader.model
    if model is not None:
        indices = np.broadcast_to(landmarks, (len(rows), len(landmarks))).copy()
        squared = model.distances(model.X[rows], indices, n_jobs=reader.n_jobs)
        return np.sqrt(np.maximum(np.where(np.isnan(squared), np.inf, squared), 0.0))
    plain = reader.plain
    assert plain is not None
    return euclidean_distances(plain.rows[rows], plain.rows[landmarks])


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
    model, plain = reader.model, reader.plain
    if model is not None:
        n_rows = len(model.X)
    else:
        assert plain is not None
        n_rows = len(plain.rows)
    candidates = np.sort(rng.permutation(n_rows)[:MOST_CANDIDATES]).astype(np.int64)
    n_held_out = len(X)
    n_regions = int(np.clip(n_held_out // FEWEST_ROWS, 1, min(MOST_REGIONS, len(candidates))))
    chosen = [int(rng.choice(candidates))]
    nearest = np.full(len(candidates), np.inf)
    while len(chosen) < n_regions:
        added = _distances_of_rows(reader, candidates, np.array(chosen[-1:]))[:, 0]
        nearest = np.minimum(nearest, added)
        nearest[candidates == chosen[-1]] = 0.0
        weights = np.square(np.where(np.isfinite(nearest), nearest, 0.0))
        if not weights.sum() > 0:
            break
        chosen.append(int(rng.choice(candidates, p=weights / weights.sum())))
    landmarks = np.array(chosen, np.int64)
    distances = _distances(reader, X, landmarks)
    kept = np.arange(len(landmarks))
    while True:
        region = distances[:, kept].argmin(axis=1)
        counts = np.bincount(region, minlength=len(kept))
        if len(kept) == 1 or counts.min() >= FEWEST_ROWS:
            return Regions(landmarks[kept]), region.astype(np.int64)
        kept = np.delete(kept, counts.argmin())
