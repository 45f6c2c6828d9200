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
from lann.reject._reading import Reader, lengths, model_queries

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
