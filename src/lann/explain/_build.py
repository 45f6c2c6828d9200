"""The builder of explanations, for every model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lann._types import Floats, Indices
from lann.encoding import TableSchema, TableValues
from lann.explain._details import Details
from lann.explain._explanation import Explanation

if TYPE_CHECKING:
    from lann.explain._correlation import Groups
    from lann.model import NeighborModel, Votes


def build_explanation(
    model: NeighborModel,
    queries: Floats,
    *,
    classes: NDArray[Any],
    feature_names: NDArray[Any],
    ids: NDArray[Any] | None = None,
    schema: TableSchema | None = None,
    exclude: Indices | None = None,
    n_jobs: int | None = None,
) -> Explanation:
    """Explain the predictions of a model.

    Parameters
    ----------
    model : NeighborModel
        The fitted model.
    queries : ndarray of shape (n_queries, n_features)
    classes : ndarray of shape (n_classes,)
        Labels of the classes.
    feature_names : ndarray of shape (n_features,)
    ids : ndarray of shape (n_rows,) or None, default=None
        Names of the rows of the model.
    schema : TableSchema or None, default=None
        What the numbers in the rows mean; None is numbers.
    exclude : ndarray of shape (n_queries,) or None, default=None
        For each query the training row that it is, which does not vote on it; -1 for none.
    n_jobs : int or None, default=None
        Number of threads.

    Returns
    -------
    explanation : Explanation

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.explain import build_explanation
    >>> iris = load_iris()
    >>> clf = LANNClassifier(random_state=0).fit(iris.data, iris.target)
    >>> build_explanation(
    ...     clf.model_, iris.data[:3], classes=clf.classes_, feature_names=iris.feature_names
    ... ).predictions
    array([0, 0, 0])
    """
    from lann.explain._distribution import distribution_of
    from lann.explain._spacing import find_far, nearest_distances

    queries = np.array(queries)  # details are computed later, when the array may have changed
    if exclude is not None and not (exclude >= 0).any():
        exclude = None
    neighbors, distances, votes = _neighbors_and_votes(model, queries, exclude, n_jobs)
    around = _around(model, queries, n_jobs)
    unmeasured = model.unmeasured(queries)
    distribution, is_far = None, None
    if model.has_training_rows:
        distribution = distribution_of(model, schema)
        nearest = nearest_distances(distances, votes.shares)
        is_far = find_far(model, queries, nearest, distribution.extremes, exclude=exclude, n_jobs=n_jobs)
    return Explanation(
        queries=queries,
        predictions=classes[votes.probabilities.argmax(axis=1)],
        probabilities=votes.probabilities,
        neighbors=neighbors,
        neighbor_ids=None if ids is None else ids[neighbors],
        neighbor_labels=classes[model.labels[neighbors]],
        distances=distances,
        vote_shares=votes.shares,
        relevances=np.where(unmeasured, 0.0, around.relevances),
        feature_names=feature_names,
        classes=classes,
        floor=model.vote_rule.floor,
        unmeasured=unmeasured,
        unseen=np.zeros(queries.shape, bool) if schema is None else schema.unseen(queries),
        left_out=np.full(len(queries), -1) if exclude is None else exclude,
        is_far=is_far,
        outside=None if distribution is None else distribution.is_outside(queries),
        _query_values=None if schema is None else schema.values(queries),
        _training_values=model.X if schema is None else TableValues(schema, model.X),
        _details=Details(
            model,
            queries,
            neighbors,
            votes.shares,
            votes.probabilities,
            exclude,
            around.pool,
            around.representatives,
            n_jobs,
        ),
        _wide_votes=around.votes,
        _correlated=around.correlated,
        _rows=queries,
        _distribution=distribution,
    )


def _neighbors_and_votes(
    model: NeighborModel, queries: Floats, exclude: Indices | None, n_jobs: int | None
) -> tuple[Indices, Floats, Votes]:
    """Return the rows that vote on each query, their lengths, (n_queries, k) each, and their votes.

    Queries without an excluded row have the vote of `predict_proba`, to the bit.
    """
    from lann.model import Votes

    if exclude is None or (exclude >= 0).all():
        neighbors, squared = model.voters(queries, exclude=exclude, n_jobs=n_jobs)
        return neighbors, np.sqrt(squared), model.vote(neighbors, squared)
    voters = model.voters(queries, n_jobs=n_jobs)
    neighbors, votes = voters[0], model.vote(*voters)
    changed = exclude >= 0
    voters = model.voters(queries[changed], exclude=exclude[changed], n_jobs=n_jobs)
    own_neighbors, own_votes = voters[0], model.vote(*voters)
    # Their numbers of columns can differ; the excluded row has the last columns then, and no vote.
    k = max(neighbors.shape[1], own_neighbors.shape[1])
    neighbors, shares = _widened(neighbors, votes.shares, neighbors[:, :1], k)
    neighbors[changed], shares[changed] = _widened(own_neighbors, own_votes.shares, exclude[changed, None], k)
    probabilities = votes.probabilities.copy()
    probabilities[changed] = own_votes.probabilities
    distances = np.sqrt(model.distances(queries, neighbors, n_jobs=n_jobs))
    return neighbors, distances, Votes(shares, probabilities)


def _widened(neighbors: Indices, shares: Floats, rows: Indices, k: int) -> tuple[Indices, Floats]:
    """Return copies with k columns, the further ones of the given rows, (n_queries, 1), without a vote."""
    n_more = k - neighbors.shape[1]
    more = np.repeat(rows, n_more, axis=1)
    return np.hstack([neighbors, more]), np.hstack([shares, np.zeros(more.shape)])


class _Around(NamedTuple):
    """What is known around queries.

    Attributes
    ----------
    relevances : (n_queries, n_features)
    votes : (n_queries, n_classes)
        Of a wide neighborhood.
    pool : (n_queries, n_pool) or None
        Rows among which contrast rows are chosen; None is all rows.
    representatives : (n_classes, n_representatives) or None
        Rows that represent the classes.
    correlated : tuple of tuple of int
        Groups of correlated features.
    """

    relevances: Floats
    votes: Floats
    pool: Indices | None
    representatives: Indices | None
    correlated: Groups


def _around(model: NeighborModel, queries: Floats, n_jobs: int | None) -> _Around:
    if not model.has_training_rows:
        from lann.explain._readings import read_prototypes

        readings = read_prototypes(model, queries, n_jobs=n_jobs)
        return _Around(readings.relevances, readings.votes, None, None, ())
    from lann.explain._landmarks import landmarks_near

    landmarks, near = landmarks_near(model, queries, n_jobs=n_jobs)
    readings = landmarks.readings
    return _Around(
        readings.mean_relevances(near),
        readings.mean_votes(near),
        landmarks.pool(near),
        landmarks.representatives,
        landmarks.correlated,
    )
