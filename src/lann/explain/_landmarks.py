"""Training rows at which it is known what the vote depends on, and how near their neighbors are.

*Landmarks* have the readings of `lann.explain._readings`. These are noisy, as few neighbors vote; those of a
query are therefore the mean over the landmarks near it, as these measure, which costs a search among a few
hundred rows and no further vote.

Rows measure on different scales, and some regions have more rows than others. The distance of a query to its
nearest neighbors is therefore compared with those of the training rows around it:

    s(x) = (d(x) + ε) / (mean over the training rows j near x of d(x_j) + ε)

where d is the mean distance to the three nearest neighbors, and that of a training row is measured without
itself. Where d(x) is not among the largest tenth of the training rows, s(x) is 0: among many copies, a row at
a small distance is not far. A query is far if s(x) is larger than for 99% of the training rows, or if one of
its numbers is outside the range of the training rows by more than the width of this range, whether it is
measured or not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._support.inputs import mean_by_class
from lann._support.rows import N_AROUND, positions_in, relative_distances
from lann._support.types import Floats, Indices
from lann.columns.inputs import read_queries
from lann.explain._feature_groups import Groups
from lann.explain._training_rows import Queries, model_of
from lann.model import NeighborModel

# Number of landmarks over which the readings of a query are averaged.
N_NEAR = 15
# Training rows whose distances are measured, at most, and multiplications for them where queries own metrics.
MOST_SPACED, WORK = 1000, 1e9
# Nearest neighbors whose distances count.
N_NEAREST = 3
# The share of the training rows that are not far.
SHARE = 0.99
# The share of the training rows that are nearer to their neighbors than a row that is far.
NEARER = 0.9


@dataclass
class RowSample:
    """Some of the training rows of a model, with a search among them that is built on first use.

    Attributes
    ----------
    rows : ndarray of shape (n_sampled,)
        Positions of the training rows, ascending.
    """

    rows: Indices

    def nearest(self, queries: Queries, k: int) -> Indices:
        """Return the nearest of the rows to each query, as these measure, without the row that it is.

        Parameters
        ----------
        queries : Queries
        k : int

        Returns
        -------
        nearest : ndarray of shape (n_queries, k)
            Positions in `rows`.
        """
        if "_search" not in self.__dict__:
            self._search = queries.model.search_among(self.rows)
        own = None if queries.exclude is None else positions_in(self.rows, queries.exclude)
        return self._search(queries.rows, k, exclude=own, n_jobs=queries.n_jobs)[0]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_search"}


@dataclass(frozen=True)
class Readings:
    """Votes at some rows, and what they depend on.

    Attributes
    ----------
    votes : ndarray of shape (n_rows, n_classes)
        The vote at each row.
    alone : ndarray of shape (n_rows, n_features)
        The share of the vote that changes when the value of a feature alone is replaced.
    stepwise : ndarray of shape (n_rows, n_features)
        The share of the vote that a feature changes on walks to reference rows.
    """

    votes: Floats
    alone: Floats
    stepwise: Floats

    @property
    def relevances(self) -> Floats:
        """The mean of both shares: (n_rows, n_features)."""
        return 0.5 * (self.alone + self.stepwise)

    def means(self, near: Indices) -> tuple[Floats, Floats]:
        """Return the mean relevances and votes over some rows for each query.

        Parameters
        ----------
        near : ndarray of shape (n_queries, n_near)
            Positions of the rows.

        Returns
        -------
        relevances : ndarray of shape (n_queries, n_features)
        votes : ndarray of shape (n_queries, n_classes)
        """

        def mean(values: Floats) -> Any:  # one landmark at a time to save memory
            return sum(values[column] for column in near.T) / near.shape[1]

        return mean(self.relevances), mean(self.votes)


@dataclass
class Landmarks(RowSample):
    """Training rows with readings.

    Attributes
    ----------
    rows : ndarray of shape (n_landmarks,)
        Positions of the training rows, ascending.
    readings : Readings
    references : ndarray of shape (n_walks, n_features)
        The reference rows of supports.
    correlated : tuple of tuple of int
        Groups of features that are correlated in the training data; of more than 1000 features, among the
        1000 with the largest weights.
    """

    readings: Readings
    references: Floats
    correlated: Groups

    def near(self, queries: Queries) -> Indices:
        """Return the landmarks nearest to each query.

        Parameters
        ----------
        queries : Queries

        Returns
        -------
        near : ndarray of shape (n_queries, n_near)
            Positions in `rows`.
        """
        n_near = min(len(self.rows), max(3, min(N_NEAR, len(self.rows) // 20)))
        return self.nearest(replace(queries, exclude=None), n_near)


def landmarks_of(model: NeighborModel, *, n_jobs: int | None = None) -> Landmarks:
    """Return the landmarks of a model; they are computed on first use, and kept and saved with it."""
    from lann.explain._readings import compute_landmarks

    if "landmarks" not in model.derived:
        model.derived["landmarks"] = compute_landmarks(model, n_jobs=n_jobs)
    return model.derived["landmarks"]


@dataclass
class Spacing(RowSample):
    """Distances of training rows to their neighbors.

    Attributes
    ----------
    rows : ndarray of shape (n_spaced,)
        Positions of training rows, ascending.
    distances : ndarray of shape (n_spaced,)
        Mean distance of each to its nearest neighbors, without itself.
    limit : float
        The relative distance above which a query is far.
    """

    distances: Floats
    limit: float

    def relative(self, queries: Queries, distances: Floats) -> Floats:
        """Return the distances of queries to their neighbors, relative to those of the rows around: s(x).

        Parameters
        ----------
        queries : Queries
        distances : ndarray of shape (n_queries,)
            Mean distance of each to its nearest neighbors.

        Returns
        -------
        relative : ndarray of shape (n_queries,)
            0 where the distance is small.
        """
        around = self.nearest(queries, min(N_AROUND, len(self.rows) - 1))
        relative = relative_distances(distances, self.distances, around)
        return np.where(distances < np.quantile(self.distances, NEARER), 0.0, relative)


def nearest_distances(distances: Floats, shares: Floats) -> Floats:
    """Return the mean distance to the nearest three of the neighbors that voted: (n_queries,).

    Parameters
    ----------
    distances, shares : ndarray of shape (n_queries, k)
        Lengths, nearest first, and shares of the vote.
    """
    voted = shares[:, :N_NEAREST] > 0
    total = distances[:, :N_NEAREST].sum(axis=1, where=voted)
    return total / np.maximum(voted.sum(axis=1), 1)


def spacing_of(model: NeighborModel, *, n_jobs: int | None = None) -> Spacing | None:
    """Return the spacing of up to 1000 training rows of a model, which is kept and saved with it.

    None if there are fewer than three.
    """
    if "spacing" in model.derived or len(model.X) < 3:
        return model.derived.get("spacing")
    n_spaced = min(len(model.X), MOST_SPACED)
    if model.work_per_query > 0:
        n_spaced = min(n_spaced, max(int(WORK / model.work_per_query), 100))
    rows = np.linspace(0, len(model.X) - 1, n_spaced).astype(np.int64)
    queries = Queries(model, model.X[rows], rows, n_jobs)
    indices, squared = queries.voters()
    distances = nearest_distances(np.sqrt(squared), model.vote(indices, squared).shares)
    spacing = Spacing(rows, distances, np.inf)
    relative = spacing.relative(queries, distances)
    spacing.limit = float(np.quantile(relative, SHARE, method="higher"))
    model.derived["spacing"] = spacing
    return spacing


def find_far(queries: Queries, distances: Floats, extremes: Floats) -> NDArray[np.bool_]:
    """Return to which queries nothing similar was seen: (n_queries,).

    Parameters
    ----------
    queries : Queries
        Of a model with training rows.
    distances : ndarray of shape (n_queries,)
        Mean distance of each to its nearest neighbors.
    extremes : ndarray of shape (2, n_features)
        The smallest and the largest number of the training rows; NaN for categories.
    """
    low, high = extremes
    width = high - low
    beyond = (queries.rows > high + width) | (queries.rows < low - width)
    is_far = (beyond & (width > 0)).any(axis=1)
    spacing = spacing_of(queries.model, n_jobs=queries.n_jobs)
    if spacing is not None and len(queries):
        is_far |= spacing.relative(queries, distances) > spacing.limit
    return is_far


def prepare_explanations(clf: Any) -> None:
    """Compute what explanations of all queries need, so that it is saved with the model.

    The first explanation computes it otherwise. Models without training rows need nothing.

    Parameters
    ----------
    clf : estimator
        A fitted LANNClassifier, or a baseline.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.explain import prepare_explanations
    >>> clf = LANNClassifier(random_state=0).fit(*load_iris(return_X_y=True))
    >>> prepare_explanations(clf)
    >>> sorted(clf.model_.derived)
    ['landmarks', 'spacing']
    """
    if clf.model_.has_training_rows:
        landmarks_of(clf.model_, n_jobs=clf.n_jobs)
        spacing_of(clf.model_, n_jobs=clf.n_jobs)


def query_relevances(clf: Any, X: ArrayLike | None = None) -> Floats:
    """Return the relevances of many rows: those of `explain`, without the time and memory for the rest.

    Parameters
    ----------
    clf : estimator
        A fitted LANNClassifier, or a baseline with neighbors.
    X : array-like of shape (n_queries, n_features) or None, default=None
        None is the training rows.

    Returns
    -------
    relevances : ndarray of shape (n_queries, n_features)

    Raises
    ------
    ValueError
        If the classifier keeps no training rows, or X does not have the features of the fit.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.explain import query_relevances
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LANNClassifier(random_state=0).fit(X, y)
    >>> bool((query_relevances(clf) == clf.explain(X).relevances).all())
    True
    """
    model = model_of(clf, needs_classes=False)
    queries = model.X if X is None else read_queries(clf, X)
    landmarks = landmarks_of(model, n_jobs=clf.n_jobs)
    near = landmarks.near(Queries(model, queries, n_jobs=clf.n_jobs))
    relevances, _ = landmarks.readings.means(near)
    return np.where(model.unmeasured(queries), 0.0, relevances)


def class_relevances(clf: Any) -> Floats:
    """Return the mean relevances of up to 500 training rows, by their class.

    Parameters
    ----------
    clf : estimator
        A fitted LANNClassifier, or a baseline with neighbors.

    Returns
    -------
    relevances : ndarray of shape (n_classes, n_features)
        How much the vote on training rows of each class depends on each feature; NaN for a class without
        rows.

    Raises
    ------
    ValueError
        If the classifier keeps no training rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.explain import class_relevances
    >>> X, y = load_iris(return_X_y=True)
    >>> class_relevances(LANNClassifier(random_state=0).fit(X, y)).shape
    (3, 4)
    """
    model = model_of(clf)
    landmarks = landmarks_of(model, n_jobs=clf.n_jobs)
    return mean_by_class(landmarks.readings.relevances, model.labels[landmarks.rows], model.n_classes)
