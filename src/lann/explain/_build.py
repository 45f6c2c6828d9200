"""The builder of explanations, for every model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lann._types import Floats, Indices
from lann.encoding import TableSchema, TableValues
from lann.explain._explanation import Explanation

if TYPE_CHECKING:
    from lann.explain._correlation import Groups
    from lann.explain._readings import Readings
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

    if exclude is not None and not (exclude >= 0).any():
        exclude = None
    neighbors, votes = _neighbors_and_votes(model, queries, exclude, n_jobs)
    contributions = model.contributions(queries, neighbors)
    readings, near, correlated = _readings_near(model, queries, n_jobs)
    unmeasured = model.unmeasured(queries)
    distances = np.sqrt(np.maximum(contributions.sum(axis=2), 0.0))  # rounding may go below 0
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
        contributions=contributions,
        relevances=np.where(unmeasured, 0.0, readings.mean_relevances(near)),
        feature_weights=model.neighbor_feature_weights(queries, neighbors, votes.shares, n_jobs=n_jobs),
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
        _readings=readings,
        _near=near,
        _correlated=correlated,
        _rows=queries,
        _distribution=distribution,
    )


def _neighbors_and_votes(
    model: NeighborModel, queries: Floats, exclude: Indices | None, n_jobs: int | None
) -> tuple[Indices, Votes]:
    """Return the rows that vote on each query, (n_queries, k), and their votes, without excluded rows.

    Queries without an excluded row have the vote of `predict_proba`, to the bit.
    """
    from lann.model import Votes

    if exclude is None or (exclude >= 0).all():
        voters = model.voters(queries, exclude=exclude, n_jobs=n_jobs)
        return voters[0], model.vote(*voters)
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
    return neighbors, Votes(shares, probabilities)


def _widened(neighbors: Indices, shares: Floats, rows: Indices, k: int) -> tuple[Indices, Floats]:
    """Return copies with k columns, the further ones of the given rows, (n_queries, 1), without a vote."""
    n_more = k - neighbors.shape[1]
    more = np.repeat(rows, n_more, axis=1)
    return np.hstack([neighbors, more]), np.hstack([shares, np.zeros(more.shape)])


def _readings_near(
    model: NeighborModel, queries: Floats, n_jobs: int | None
) -> tuple[Readings, Indices, Groups]:
    """Return readings, those near each query (n_queries, n_near), and groups of correlated features."""
    if not model.has_training_rows:
        from lann.explain._readings import read_prototypes

        return read_prototypes(model, queries, n_jobs=n_jobs), np.arange(len(queries))[:, None], ()
    from lann.explain._landmarks import landmarks_of

    landmarks = landmarks_of(model, n_jobs=n_jobs)
    return landmarks.readings, landmarks.near(model, queries, n_jobs=n_jobs), landmarks.correlated
