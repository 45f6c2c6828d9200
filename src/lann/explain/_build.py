"""The builder of explanations, for every model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lann._support.types import Floats, Indices
from lann.columns.schema import TableSchema, TableValues
from lann.explain._distribution import distribution_of, find_far, nearest_distances
from lann.explain._explanation import Explanation
from lann.explain._fitted import Queries

if TYPE_CHECKING:
    from lann.explain._feature_groups import Groups
    from lann.model import NeighborModel, Votes

# Contributions that are computed at once: 32 MB.
SPLIT_AT_ONCE = 2**22


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
    from lann.explain._landmarks import landmarks_of, read_prototypes

    rows = np.array(queries)  # details are computed later, when the array may have changed
    if exclude is not None and not (exclude >= 0).any():
        exclude = None
    asked = Queries(model, rows, exclude, n_jobs)
    neighbors, distances, votes = _neighbors_and_votes(asked)
    unmeasured = model.unmeasured(rows)
    distribution = is_far = outside = pool = representatives = None
    correlated: Groups = ()
    if model.has_training_rows:
        distribution = distribution_of(model, schema)
        outside = distribution.is_outside(rows)
        is_far = find_far(asked, nearest_distances(distances, votes.shares), distribution.extremes)
        landmarks = landmarks_of(model, n_jobs=n_jobs)
        near = landmarks.near(asked)
        relevances, wide_votes = landmarks.readings.means(near)
        pool, representatives = landmarks.pool(near), landmarks.representatives
        correlated = landmarks.correlated
    else:
        readings = read_prototypes(asked)
        relevances, wide_votes = readings.relevances, readings.votes
    return Explanation(
        queries=rows,
        predictions=classes[votes.probabilities.argmax(axis=1)],
        probabilities=votes.probabilities,
        neighbors=neighbors,
        neighbor_ids=None if ids is None else ids[neighbors],
        neighbor_labels=classes[model.labels[neighbors]],
        distances=distances,
        vote_shares=votes.shares,
        relevances=np.where(unmeasured, 0.0, relevances),
        feature_names=feature_names,
        classes=classes,
        floor=model.vote_rule.floor,
        unmeasured=unmeasured,
        unseen=np.zeros(rows.shape, bool) if schema is None else schema.unseen(rows),
        left_out=np.full(len(rows), -1) if exclude is None else exclude,
        is_far=is_far,
        outside=outside,
        _query_values=None if schema is None else schema.values(rows),
        _training_values=model.X if schema is None else TableValues(schema, model.X),
        _details=Details(asked, neighbors, votes.shares, votes.probabilities, pool, representatives),
        _wide_votes=wide_votes,
        _correlated=correlated,
        _distribution=distribution,
    )


def _neighbors_and_votes(queries: Queries) -> tuple[Indices, Floats, Votes]:
    """Return the rows that vote on each query, their lengths, (n_queries, k) each, and their votes.

    Queries without an excluded row have the vote of `predict_proba`, to the bit.
    """
    from lann.model import Votes

    model, exclude = queries.model, queries.exclude
    if exclude is None or (exclude >= 0).all():
        neighbors, squared = queries.voters()
        return neighbors, np.sqrt(squared), model.vote(neighbors, squared)
    voters = replace(queries, exclude=None).voters()
    neighbors, votes = voters[0], model.vote(*voters)
    changed = exclude >= 0
    voters = queries[changed].voters()
    own_neighbors, own_votes = voters[0], model.vote(*voters)
    # Their numbers of columns can differ; the excluded row has the last columns then, and no vote.
    k = max(neighbors.shape[1], own_neighbors.shape[1])
    neighbors, shares = _widen(neighbors, votes.shares, neighbors[:, :1], k)
    neighbors[changed], shares[changed] = _widen(own_neighbors, own_votes.shares, exclude[changed, None], k)
    probabilities = votes.probabilities.copy()
    probabilities[changed] = own_votes.probabilities
    distances = np.sqrt(model.distances(queries.rows, neighbors, n_jobs=queries.n_jobs))
    return neighbors, distances, Votes(shares, probabilities)


def _widen(neighbors: Indices, shares: Floats, rows: Indices, k: int) -> tuple[Indices, Floats]:
    """Return copies with k columns, the further ones of the given rows, (n_queries, 1), without a vote."""
    n_more = k - neighbors.shape[1]
    more = np.repeat(rows, n_more, axis=1)
    return np.hstack([neighbors, more]), np.hstack([shares, np.zeros(more.shape)])


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
    queries : Queries
    neighbors : ndarray of shape (n_queries, k)
    vote_shares : ndarray of shape (n_queries, k)
    probabilities : ndarray of shape (n_queries, n_classes)
    pool : ndarray of shape (n_queries, n_pool) or None
        Rows near each query among which contrast rows are chosen; None is all rows.
    representatives : ndarray of shape (n_classes, n_representatives) or None
        Rows that represent the classes; None if there are none.
    """

    queries: Queries
    neighbors: Indices
    vote_shares: Floats
    probabilities: Floats
    pool: Indices | None
    representatives: Indices | None

    def __getitem__(self, rows: Any) -> Details:
        """Return the details of some of the queries."""
        return Details(
            self.queries[rows],
            self.neighbors[rows],
            self.vote_shares[rows],
            self.probabilities[rows],
            None if self.pool is None else self.pool[rows],
            self.representatives,
        )

    @cached_property
    def contributions(self) -> Floats:
        """What each feature adds to each squared distance: (n_queries, k, n_features)."""
        return split_distances(self.queries.model, self.queries.rows, self.neighbors)

    @cached_property
    def feature_weights(self) -> Floats:
        """Feature weights of the neighbors, averaged by vote share: (n_queries, n_features)."""
        return self.queries.model.neighbor_feature_weights(
            self.queries.rows, self.neighbors, self.vote_shares, n_jobs=self.queries.n_jobs
        )

    @cached_property
    def contrast_rows(self) -> Indices:
        """Rows of other classes, near ones first: (n_queries, n_contrasts), -1 for none."""
        from lann.explain._contrast import nearest_contrasts, nearest_representatives, spread_contrasts

        class_indices, exclude = self.probabilities.argmax(axis=1), self.queries.exclude
        if self.pool is None or self.representatives is None:
            return nearest_contrasts(self.queries, class_indices)
        near = spread_contrasts(self.queries, class_indices, self.pool)
        others = nearest_representatives(self.queries, class_indices, self.representatives)
        if exclude is not None:
            others[others == exclude[:, None]] = -1
        is_near = (others[:, :, None] == near[:, None]).any(axis=2)
        return np.concatenate([near, np.where(is_near, -1, others)], axis=1)

    @cached_property
    def supports(self) -> Floats:
        """What each feature changes on the way to the contrast rows: (n_queries, n_classes, n_features)."""
        from lann.explain._walks import walk_supports

        return walk_supports(self.queries, self.contrast_rows, probabilities=self.probabilities)[0]
