"""The protocol of a fitted model: rows that measure their distance to a query, and vote."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lann._support.types import Floats, Indices, Labels
from lann.search import check_device, smallest
from lann.vote import VoteRule, class_shares, counted_weights

# Neighbors of a block of queries that are held at once: 32 MB of distances.
HELD = 2**22
# Number of values that represent all values of a feature: quantiles.
N_TYPICAL = 8


def typical_values(X: Floats) -> Floats:
    """Return values that represent all values of each feature: quantiles, of codes for categories.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Gaps are the largest values.

    Returns
    -------
    values : ndarray of shape (N_TYPICAL, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from lann.model import typical_values
    >>> typical_values(np.arange(80.0)[:, None]).ravel()
    array([ 5., 15., 25., 35., 44., 54., 64., 74.])
    """
    middles = (np.arange(N_TYPICAL) + 0.5) / N_TYPICAL
    gaps = np.isnan(X)
    values = np.quantile(np.where(gaps, np.inf, X), middles, axis=0, method="nearest")
    return np.where(values == np.inf, np.nan, values)


# From a query to the squared distances of some rows, (n_rows,), their slopes and curvatures by feature,
# (n_features_with_slopes, n_rows), and the changes δ of each feature to its typical values,
# (n_features_with_slopes, n_values): where feature l changes by δ, they change by 2 δ s_l + δ² c_l.
Slopes = Callable[[Floats], tuple[Floats, Floats, Floats, Floats]]


class CategoryValues(NamedTuple):
    """Values that represent all values of a feature with categories.

    Attributes
    ----------
    codes : (n_values,)
        NaN for a gap.
    weights : (n_values,)
        Shares of the training rows that each of them stands for; they add up to 1.
    """

    codes: Floats
    weights: Floats


class Votes(NamedTuple):
    """The result of a vote.

    Attributes
    ----------
    shares : (n_queries, k)
        Share of the vote of each neighbor; rows add up to 1.
    probabilities : (n_queries, n_classes)
        Share of the vote of each class, with the floor of the vote.
    """

    shares: Floats
    probabilities: Floats


class Candidates(NamedTuple):
    """The training rows that can vote on each query, also if one of them is left out.

    Attributes
    ----------
    indices, distances : (n_queries, n_kept)
    n_searched : int
        The first `n_searched` columns are the candidates of the model; the next one replaces any of them.
    """

    indices: Indices
    distances: Floats
    n_searched: int


# A search for neighbors among some training rows, called as `NeighborModel.kneighbors` is.
NeighborSearch = Callable[..., tuple[Indices, Floats]]


@runtime_checkable
class NeighborModel(Protocol):
    """Rows that measure their distance to a query, and vote: what a fitted classifier consists of.

    Explanations, counterfactuals, embeddings and plots use a fitted classifier through this protocol alone. A
    subclass provides the abstract methods; the others can be overridden where there is a faster way.

    Attributes
    ----------
    X : (n_rows, n_features)
        The rows that vote, in the user's units: training rows, or prototypes.
    labels : (n_rows,)
        Their class indices.
    n_classes : int
    n_neighbors : int
        Number of rows that vote on a query.
    row_weights : (n_rows,) or None
        Sample weights, which weigh the votes; None is 1 for all.
    vote_rule : VoteRule
        How the neighbors vote.
    has_training_rows : bool
        Whether the rows are training rows.
    wide_neighborhood : int
        Number of neighbors up to which `kneighbors` returns what the vote is based on.
    derived : dict
        What others have computed from the model, by name; what takes long is saved with it.
    device : {"cpu", "cuda", "auto"}
        Where neighbors are searched. It is neither saved nor pickled.
    """

    X: Floats
    labels: Labels
    n_classes: int
    n_neighbors: int
    vote_rule: VoteRule
    row_weights: Floats | None = None
    has_training_rows: bool
    wide_neighborhood: int
    derived: dict[str, Any]
    device: str = "cpu"

    @abstractmethod
    def kneighbors(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        """Return the k nearest rows of each query, as each row measures.

        Parameters
        ----------
        queries : (n_queries, n_features)
        k : int
            At most the number of rows, or one less with `exclude`.
        exclude : (n_queries,) or None
            For each query a row that is not its neighbor: the query itself; -1 for none.
        n_jobs : int or None
            Number of threads.

        Returns
        -------
        indices : (n_queries, k)
            Nearest first, equal distances by index.
        distances : (n_queries, k)
            Squared.
        """

    @abstractmethod
    def distances(self, queries: Floats, indices: Indices, *, n_jobs: int | None = None) -> Floats:
        """Return the squared distances of each query to given rows, as these measure: (n_queries, k)."""

    @abstractmethod
    def contributions(self, queries: Floats, indices: Indices) -> Floats:
        """Return what each feature adds to the squared distances of given rows.

        (n_queries, k, n_features).
        """

    @abstractmethod
    def feature_weights(self, *, n_jobs: int | None = None) -> Floats:
        """Return how much a difference in each feature counts for each row: (n_rows, n_features)."""

    @abstractmethod
    def local_matrices(self, rows: Indices) -> Floats:
        """Return the metrics of some rows near themselves: (len(rows), n_features, n_features)."""

    @abstractmethod
    def search_among(self, rows: Indices) -> NeighborSearch:
        """Return an exact search among some of the rows; its indices count these rows."""

    def subset(self, rows: Indices, *, n_jobs: int | None = None) -> NeighborModel | None:
        """Return the model of some of the rows, which vote as they do; None if there is no such model."""
        return None

    def to(self, device: str) -> Self:
        """Return the model that searches neighbors on a device: "cpu", "cuda" or "auto"."""
        if check_device(device) == "cuda":
            raise ValueError(f"{type(self).__name__} searches on the CPU only; use device='cpu' or 'auto'.")
        return self

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.X)

    def labels_of(self, rows: Indices) -> Labels:
        """Return the class indices of some rows, of any shape."""
        return self.labels[rows]

    def weights_of(self, rows: Indices) -> Floats | None:
        """Return the weights of some rows, of any shape; None is 1 for all."""
        return None if self.row_weights is None else self.row_weights[rows]

    @property
    def n_axes(self) -> int:
        """Number of axes in which distances are measured."""
        return self.X.shape[1]

    @property
    def work_per_query(self) -> float:
        """Multiplications that a query needs beyond its transform and the comparison on shared axes."""
        return 0.0

    @property
    def typical_values(self) -> Floats:
        """Values that represent all training values of each feature: (n_values, n_features)."""
        return typical_values(self.X)

    def category_values(self, most: int) -> dict[int, CategoryValues]:
        """Return at most `most` values that represent the categories of each feature."""
        return {}

    @property
    def features_with_slopes(self) -> Indices:
        """Features for which `slopes_among` knows what a change of the value does."""
        return np.empty(0, np.int64)

    def slopes_among(self, rows: Indices) -> Slopes:
        """Return what changes of these features do to the squared distances of some rows."""
        raise ValueError(f"{type(self).__name__} does not know what a change of a feature does.")

    def transform(self, X: Floats) -> Floats:
        """Return rows on the axes in which distances are measured: (n_queries, n_axes)."""
        return X

    def unmeasured(self, queries: Floats) -> NDArray[np.bool_]:
        """Return in which features each query has a gap that no training row has: (n_queries, n_features).

        The distances of the query are measured without these features.
        """
        return np.zeros(queries.shape, bool)

    @property
    def n_voters(self) -> int:
        """Number of nearest rows that have to be searched, so that `n_neighbors` votes can be counted."""
        return min(self.n_neighbors, self.n_rows)

    def voters(
        self, queries: Floats, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        """Return the rows that vote on each query, nearest first, and their squared distances.

        With row weights, the number of columns is that of the query on which the most rows vote; further rows
        have a share of 0 of the vote.
        """
        k = min(self.n_voters, self.n_rows - (exclude is not None))
        indices, distances = self.kneighbors(queries, k, exclude=exclude, n_jobs=n_jobs)
        weights = self.weights_of(indices)
        if weights is None or len(queries) == 0:
            return indices, distances
        counted = counted_weights(weights, self.n_neighbors)
        n_used = int((counted > 0).sum(axis=1).max())
        return indices[:, :n_used].copy(), distances[:, :n_used].copy()

    def vote(self, indices: Indices, distances: Floats) -> Votes:
        """Let rows at given squared distances vote: (n_queries, k) each.

        Without row weights, all of them vote. With row weights, the nearest (first) vote until `n_neighbors`
        votes are counted; the last of them counts with what is left of its weight.
        """
        return self.count_votes(indices, distances, self.n_neighbors, self.vote_rule)

    def outputs(
        self, queries: Floats, indices: Indices, distances: Floats, *, n_jobs: int | None = None
    ) -> Floats:
        """Return what the rows that vote on queries predict: probabilities of classes, or a value.

        (n_queries, n_classes), or (n_queries, 1).
        """
        return self.vote(indices, distances).probabilities

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return self.n_classes

    @property
    def output_scale(self) -> float:
        """How far apart outputs usually are."""
        return 1.0

    @property
    def mean_weight(self) -> float:
        """Mean weight of the rows."""
        return 1.0 if self.row_weights is None else float(self.row_weights.mean())

    def count_votes(self, indices: Indices, distances: Floats, n_votes: float, rule: VoteRule) -> Votes:
        """Let rows vote by a rule: as `vote`, until `n_votes` votes are counted."""
        labels, weights = self.labels_of(indices), self.weights_of(indices)
        shares = rule.shares(distances, labels, weights, n_votes)
        return Votes(shares, rule.probabilities(class_shares(shares, labels, self.n_classes)))

    def neighbor_feature_weights(
        self, queries: Floats, indices: Indices, shares: Floats, *, n_jobs: int | None = None
    ) -> Floats:
        """Return the mean feature weights of the neighbors of each query, weighted by their vote shares.

        Parameters
        ----------
        queries : (n_queries, n_features)
        indices, shares : (n_queries, k)

        Returns
        -------
        weights : (n_queries, n_features)
        """
        return np.einsum("qk,qkf->qf", shares, self.feature_weights(n_jobs=n_jobs)[indices])

    def candidates(self, queries: Floats, *, n_jobs: int | None = None) -> Candidates:
        """Return the rows that can vote on each query, also if one of them is left out."""
        k = min(self.n_voters + 1, len(self.X))
        return Candidates(*self.kneighbors(queries, k, n_jobs=n_jobs), self.n_voters)

    def kneighbors_of_classes(
        self, queries: Floats, allowed: NDArray[np.bool_], k: int, *, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        """Return the k nearest rows of the classes that are allowed for each query.

        Parameters
        ----------
        queries : (n_queries, n_features)
        allowed : (n_queries, n_classes)
        k : int

        Returns
        -------
        indices, distances : (n_queries, k)
            Where there are fewer rows, the index is -1 and the distance infinite.
        """
        indices, distances = np.full((len(queries), k), -1), np.full((len(queries), k), np.inf)
        enough = np.minimum(allowed @ np.bincount(self.labels, minlength=self.n_classes), k)
        n_searched, missing = min(8 * k, len(self.X)), np.flatnonzero(enough > 0)
        while len(missing):  # search more neighbors, until enough of them are of allowed classes
            block, incomplete = max(HELD // n_searched, 1), []
            for start in range(0, len(missing), block):
                rows = missing[start : start + block]
                found, squared = self.kneighbors(queries[rows], n_searched, n_jobs=n_jobs)
                found = np.where(allowed[rows[:, None], self.labels[found]], found, -1)
                indices[rows], distances[rows] = smallest(squared, found, k)
                incomplete.append(rows[(indices[rows] >= 0).sum(axis=1) < enough[rows]])
            if n_searched == len(self.X):  # distances that overflow are not found
                break
            n_searched, missing = min(4 * n_searched, len(self.X)), np.concatenate(incomplete)
        return indices, distances
