"""What embeddings share: the order of a fit, and places for new points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from lann._types import Floats, Indices
from lann._validation import N_JOBS, VERBOSE, Integer, Number, OneOf, validate
from lann.embedding.graph import neighbor_lists
from lann.embedding.layout import LAYOUTS, LEAST_TSNE_ITER, half_distance, lay_out, lists_needed

# numba is imported with the modules that compute, on first use.
if TYPE_CHECKING:
    from lann.model import NeighborModel

FEWEST_POINTS = 3


class GraphEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """An embedding of points by their neighbors. Subclasses say in their fit how these measure.

    Every one has the parameters `n_components`, `n_neighbors`, `min_dist`, `method`, `max_iter`, `verbose`,
    `n_jobs` and `random_state`.
    """

    embedding_: Floats
    neighbors_: Indices
    n_iter_: int
    distances_: Floats
    model_: NeighborModel

    def transform(self, X: ArrayLike) -> Floats:
        """Place points among those of the fit: (n_queries, n_components).

        A point of the fit comes out where it is. What is placed depends only on the point itself, not on
        what else is in `X`.

        Parameters
        ----------
        X : (n_queries, n_features)
        """
        from lann.embedding.placement import place_among

        check_is_fitted(self)
        queries: Floats = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        k = min(self.n_neighbors, len(self.embedding_))
        neighbors, distances = self.model_.kneighbors(queries, k, n_jobs=self.n_jobs)
        return place_among(
            neighbors, _without_other_zeros(self.model_, queries, neighbors, distances),
            self.embedding_, self._scale, n_jobs=self.n_jobs,
        )  # fmt: skip

    def _check_parameters(self) -> None:
        validate("n_components", self.n_components, Integer(1))
        validate("n_neighbors", self.n_neighbors, Integer(2))
        validate("min_dist", self.min_dist, Number(0, 1))
        validate("method", self.method, OneOf(*LAYOUTS))
        if self.method == "tsne" and self.n_components > 3:
            raise ValueError(f"method='tsne' places in at most 3 dimensions; got {self.n_components}.")
        least = LEAST_TSNE_ITER if self.method == "tsne" else 1
        validate("max_iter", self.max_iter, Integer(least), OneOf(None))
        validate("verbose", self.verbose, *VERBOSE)
        validate("n_jobs", self.n_jobs, *N_JOBS)
        check_random_state(self.random_state)

    def _lay_out(self, model: NeighborModel, symmetry: str, seed: int) -> None:
        """Place the points of the model, copies of a point in one place."""
        points = model.transform(model.X)
        if len(points) < FEWEST_POINTS:
            raise ValueError(
                f"An embedding needs at least {FEWEST_POINTS} points; got n_samples={len(points)}."
            )
        k = lists_needed(self.method, self.n_neighbors, len(points))
        lists = neighbor_lists(model, k, symmetry, n_jobs=self.n_jobs)
        places, self.n_iter_ = lay_out(
            points, lists, method=self.method, n_components=self.n_components, min_dist=self.min_dist,
            max_iter=self.max_iter, seed=seed, verbose=bool(self.verbose),
        )  # fmt: skip
        self.model_ = model
        self.embedding_ = _copies_together(points, places)
        self.neighbors_, self.distances_ = lists
        self._scale = half_distance(self.method, self.min_dist)
        self._n_features_out = self.n_components


def _copies_together(points: Floats, places: Floats) -> Floats:
    """The middle of a point's copies for each of them, so that a point has one place."""
    _, which, counts = np.unique(points, axis=0, return_inverse=True, return_counts=True)
    which = which.ravel()
    if len(counts) == len(points):
        return places
    sums = np.stack([np.bincount(which, column) for column in places.T], axis=1)
    return np.where(counts[which][:, None] > 1, (sums / counts[:, None])[which], places)


def _without_other_zeros(
    model: NeighborModel, queries: Floats, neighbors: Indices, distances: Floats
) -> Floats:
    """Return the distances with other rows at distance 0 infinitely far, for queries that are training rows.

    A metric that ignores features is 0 for different rows, too.
    """
    distances = distances.copy()
    for query in np.flatnonzero(distances[:, 0] == 0):
        zero = distances[query] == 0
        same = (
            model.transform(model.X[neighbors[query]]) == model.transform(queries[query : query + 1])
        ).all(axis=1)
        if same.any():
            distances[query, zero & ~same] = np.inf
    return distances


def drawn_seed(random_state: Any) -> int:
    """A number from it, to hand on."""
    return int(check_random_state(random_state).randint(2**31 - 1))
