"""Some of the training rows, among which queries search."""

from __future__ import annotations

from typing import Any

from lann._sampling import positions_in
from lann._types import Floats, Indices
from lann.model import NeighborModel, NeighborSearch


class RowSample:
    """Some of the training rows of a model, with a search among them that is built on first use.

    Attributes
    ----------
    rows : ndarray of shape (n_sampled,)
        Positions of the training rows, ascending.
    """

    rows: Indices

    def nearest(
        self,
        model: NeighborModel,
        queries: Floats,
        k: int,
        *,
        exclude: Indices | None = None,
        n_jobs: int | None = None,
    ) -> Indices:
        """Return the nearest of the rows, as these measure: (n_queries, k), positions in `rows`.

        Parameters
        ----------
        model : NeighborModel
        queries : ndarray of shape (n_queries, n_features)
        k : int
        exclude : ndarray of shape (n_queries,) or None, default=None
            For each query a training row that is not found; -1 for none.
        n_jobs : int or None, default=None
            Number of threads.

        Returns
        -------
        nearest : ndarray of shape (n_queries, k)
        """
        search: NeighborSearch | None = self.__dict__.get("_search")
        if search is None:
            search = self.__dict__["_search"] = model.search_among(self.rows)
        own = None if exclude is None else positions_in(self.rows, exclude)
        return search.kneighbors(queries, k, exclude=own, n_jobs=n_jobs)[0]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_search"}
