"""What embeddings share: parameters, the layout of training rows, and coordinates of new rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lann._inputs import validate_data
from lann._table_inputs import check_measurable
from lann._types import Floats, Indices
from lann._validation import (
    N_JOBS,
    RANDOM_STATE,
    VERBOSE,
    Integer,
    Number,
    OneOf,
    ParameterTable,
    validate,
    validate_parameters,
)
from lann.embedding._layout import (
    LAYOUTS,
    LEAST_TSNE_ITER,
    Layout,
    compute_layout,
    half_distance,
    n_listed_neighbors,
)
from lann.embedding._neighbor_lists import list_neighbors

# numba is imported with the modules that compute, on first use.
if TYPE_CHECKING:
    from lann.model import NeighborModel

FEWEST_ROWS = 3
LAYOUT: ParameterTable = {
    "n_components": [Integer(1)],
    "n_neighbors": [Integer(2)],
    "min_dist": [Number(0, 1)],
    "method": [OneOf(*LAYOUTS)],
    "max_iter": [Integer(1), OneOf(None)],
    "verbose": VERBOSE,
    "n_jobs": N_JOBS,
    "random_state": RANDOM_STATE,
}


class GraphEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """An embedding of rows by their neighbors; subclasses provide the model that finds these in `fit`.

    Every one has the parameters `n_components`, `n_neighbors`, `min_dist`, `method`, `max_iter`, `verbose`,
    `n_jobs` and `random_state`.
    """

    _parameters: ClassVar[ParameterTable] = LAYOUT

    embedding_: Floats
    neighbors_: Indices
    distances_: Floats
    n_iter_: int
    model_: NeighborModel

    def transform(self, X: ArrayLike) -> Floats:
        """Compute the coordinates of rows among the training rows.

        A training row keeps the coordinates of the fit. The coordinates of a row depend on this row alone,
        not on others in `X`.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Numbers, or a table as the estimator was fitted to.

        Returns
        -------
        coordinates : ndarray of shape (n_queries, n_components)
        """
        from lann.embedding._placement import coordinates_by_neighbors

        check_is_fitted(self)
        queries = self._read_queries(X)
        k = min(self.n_neighbors, len(self.embedding_))
        neighbors, distances = self.model_.kneighbors(queries, k, n_jobs=self.n_jobs)
        distances = _without_other_zeros(self.model_, queries, neighbors, distances)
        return coordinates_by_neighbors(
            neighbors, distances, self.embedding_, self._scale, n_jobs=self.n_jobs
        )

    def _read_queries(self, X: ArrayLike) -> Floats:
        """Return queries as an array; raise ValueError unless they have the features of the fit."""
        queries: Floats = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        check_measurable(self, queries)
        return queries

    def _validate_parameters(self) -> None:
        validate_parameters(self, self._parameters)
        if self.method == "tsne":
            if self.n_components > 3:
                raise ValueError(
                    f"method='tsne' has at most 3 components; got n_components={self.n_components}."
                )
            validate("max_iter", self.max_iter, Integer(LEAST_TSNE_ITER), OneOf(None))

    def _embed(self, model: NeighborModel, symmetry: str, seed: int) -> None:
        """Compute the coordinates of the rows of the model; copies of a row have the same coordinates."""
        rows = model.transform(model.X)
        if len(rows) < FEWEST_ROWS:
            raise ValueError(f"An embedding needs at least {FEWEST_ROWS} rows; got n_samples={len(rows)}.")
        k = n_listed_neighbors(self.method, self.n_neighbors, len(rows))
        lists = list_neighbors(model, k, symmetry, n_jobs=self.n_jobs)
        layout = Layout(self.method, self.n_components, self.min_dist, self.max_iter, bool(self.verbose))
        coordinates, self.n_iter_ = compute_layout(rows, lists, layout, seed)
        self.model_ = model
        self.embedding_ = _mean_of_copies(rows, coordinates)
        self.neighbors_, self.distances_ = lists
        self._scale = half_distance(self.method, self.min_dist)
        self._n_features_out = self.n_components


def _mean_of_copies(rows: Floats, coordinates: Floats) -> Floats:
    """Return the mean coordinates of the copies of a row for each of them."""
    _, which, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    which = which.ravel()
    if len(counts) == len(rows):
        return coordinates
    sums = np.stack([np.bincount(which, column) for column in coordinates.T], axis=1)
    return np.where(counts[which][:, None] > 1, (sums / counts[:, None])[which], coordinates)


def _without_other_zeros(
    model: NeighborModel, queries: Floats, neighbors: Indices, distances: Floats
) -> Floats:
    """Return the distances with other rows at distance 0 infinitely far, for queries that are training rows.

    A metric that ignores features is 0 for different rows, too.
    """
    distances = distances.copy()
    for query in np.flatnonzero(distances[:, 0] == 0):
        zero = distances[query] == 0
        there, here = model.transform(model.X[neighbors[query]]), model.transform(queries[query][None])
        same = (there == here).all(axis=1)
        if same.any():
            distances[query, zero & ~same] = np.inf
    return distances


def draw_seed(random_state: Any) -> int:
    """Draw an integer seed from a random state."""
    return int(check_random_state(random_state).randint(2**31 - 1))
