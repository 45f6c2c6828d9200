"""What takes longer than the rest of an explanation, and is computed for the queries that are read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lann._types import Floats, Indices

if TYPE_CHECKING:
    from lann.model import NeighborModel

# Contributions that are computed at once: 32 MB.
SPLIT_AT_ONCE = 2**22


def split_distances(model: NeighborModel, queries: Floats, indices: Indices) -> Floats:
    """Return what each feature adds to the squared distances of given rows, computed block by block.

    (n_queries, k, n_features).
    """
    contributions = np.empty((*indices.shape, queries.shape[1]))
    block = max(SPLIT_AT_ONCE // max(contributions[:1].size, 1), 1)
    for start in range(0, len(queries), block):
        part = slice(start, start + block)
        contributions[part] = model.contributions(queries[part], indices[part])
    return contributions


@dataclass(frozen=True, eq=False)
class Details:
    """Contributions, feature weights, contrast rows and supports of some queries.

    Attributes
    ----------
    model : NeighborModel
    rows : ndarray of shape (n_queries, n_features)
        The queries as the model takes them.
    neighbors : ndarray of shape (n_queries, k)
    vote_shares : ndarray of shape (n_queries, k)
    probabilities : ndarray of shape (n_queries, n_classes)
    exclude : ndarray of shape (n_queries,) or None
        The row that does not vote on each query; -1 for none.
    pool : ndarray of shape (n_queries, n_pool) or None
        Rows near each query among which contrast rows are chosen; None is all rows.
    representatives : ndarray of shape (n_classes, n_representatives) or None
        Rows that represent the classes; None if there are none.
    n_jobs : int or None
        Number of threads.
    """

    model: NeighborModel
    rows: Floats
    neighbors: Indices
    vote_shares: Floats
    probabilities: Floats
    exclude: Indices | None
    pool: Indices | None
    representatives: Indices | None
    n_jobs: int | None

    def __getitem__(self, rows: Any) -> Details:
        """Return the details of some of the queries."""
        names = ("rows", "neighbors", "vote_shares", "probabilities", "exclude", "pool")
        values: dict[str, Any] = {name: getattr(self, name) for name in names}
        changes: dict[str, Any] = {name: None if v is None else v[rows] for name, v in values.items()}
        return replace(self, **changes)

    @cached_property
    def contributions(self) -> Floats:
        """What each feature adds to each squared distance: (n_queries, k, n_features)."""
        return split_distances(self.model, self.rows, self.neighbors)

    @cached_property
    def feature_weights(self) -> Floats:
        """Feature weights of the neighbors, averaged by vote share: (n_queries, n_features)."""
        return self.model.neighbor_feature_weights(
            self.rows, self.neighbors, self.vote_shares, n_jobs=self.n_jobs
        )

    @cached_property
    def contrast_rows(self) -> Indices:
        """Rows of other classes, near ones first: (n_queries, n_contrasts), -1 for none."""
        from lann.explain._contrast_rows import nearest_contrasts, nearest_representatives, spread_contrasts

        class_indices = self.probabilities.argmax(axis=1)
        if self.pool is None or self.representatives is None:
            return nearest_contrasts(self.model, self.rows, class_indices, n_jobs=self.n_jobs)
        near = spread_contrasts(
            self.model, self.rows, class_indices, self.pool, exclude=self.exclude, n_jobs=self.n_jobs
        )
        others = nearest_representatives(self.model, self.rows, class_indices, self.representatives)
        if self.exclude is not None:
            others[others == self.exclude[:, None]] = -1
        is_near = (others[:, :, None] == near[:, None]).any(axis=2)
        return np.concatenate([near, np.where(is_near, -1, others)], axis=1)

    @cached_property
    def supports(self) -> Floats:
        """What each feature changes on the way to the contrast rows: (n_queries, n_classes, n_features)."""
        from lann.explain._walks import walk_supports

        return walk_supports(
            self.model, self.rows, self.contrast_rows, probabilities=self.probabilities,
            exclude=self.exclude, n_jobs=self.n_jobs,
        ).supports  # fmt: skip
