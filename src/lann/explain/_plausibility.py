"""How plausible a changed row is: the training rows nearest to it, where all features count alike."""

from __future__ import annotations

import numpy as np

from lann._support.inputs import differ
from lann._support.rows import spread_rows
from lann._support.types import Floats, Indices
from lann.explain._constraints import Limits
from lann.model import NeighborModel
from lann.search import smallest

# Nearest rows of which the share of a class is the plausibility, and rows of the sample that is searched.
N_NEAR, MOST_ROWS = 10, 2000


class Plausibility:
    """The plausibility of changed rows: the share of a class among the nearest of a sample of training rows.

    Distances are those of standardized numbers and one-hot encoded categories, whatever the model measures.

    Parameters
    ----------
    model : NeighborModel
        Of training rows.
    limits : Limits
    """

    def __init__(self, model: NeighborModel, limits: Limits) -> None:
        sample = spread_rows(len(model.X), MOST_ROWS)
        self.rows, self.labels = model.X[sample].astype(np.float64), model.labels[sample]
        self.limits = limits

    def distances(self, queries: Floats) -> Floats:
        """Return the squared distances of queries to the sample: (n_queries, n_sampled)."""
        distances = np.zeros((len(queries), len(self.rows)))
        for feature in range(queries.shape[1]):
            distances += self._squares(queries[:, feature], feature)
        return distances

    def of_changed(self, rows: Floats, queries: Floats, distances: Floats, wanted: Indices) -> Floats:
        """Return the plausibility of changed queries: (n_rows,).

        Parameters
        ----------
        rows, queries : (n_rows, n_features)
            After and before the changes.
        distances : (n_rows, n_sampled)
            Of the queries; only features that are changed are measured again.
        wanted : (n_rows,)
            Class indices.
        """
        distances, changed = distances.copy(), differ(rows, queries)
        for feature in np.flatnonzero(changed.any(axis=0)).tolist():
            own = np.flatnonzero(changed[:, feature])
            distances[own] += self._squares(rows[own, feature], feature)
            distances[own] -= self._squares(queries[own, feature], feature)
        every = np.broadcast_to(np.arange(len(self.rows)), distances.shape)
        near, _ = smallest(distances, every, min(N_NEAR, len(self.rows)))
        return np.asarray((self.labels[near] == wanted[:, None]).mean(axis=1))

    def _squares(self, values: Floats, feature: int) -> Floats:
        """Return what values of a feature add to the squared distances; 2 for another category."""
        amounts = self.limits.amounts(values[:, None], self.rows[:, feature], feature)
        return np.square(amounts) * (1.0 + self.limits.category[feature])
