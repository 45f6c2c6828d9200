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
    from lann.model import NeighborModel


def build_explanation(
    model: NeighborModel,
    queries: Floats,
    *,
    classes: NDArray[Any],
    feature_names: NDArray[Any],
    ids: NDArray[Any] | None = None,
    schema: TableSchema | None = None,
    query_values: NDArray[Any] | None = None,
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
    query_values : ndarray of shape (n_queries, n_features) or None, default=None
        The queries in the user's values, with the names of unseen categories; None is those of the schema.
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
    if schema is not None and query_values is None:
        query_values = schema.values(queries)
    neighbors, squared = model.voters(queries, n_jobs=n_jobs)
    votes = model.vote(neighbors, squared)  # the vote of `predict_proba`, to the bit
    contributions = model.contributions(queries, neighbors)
    readings, near, correlated = _readings_near(model, queries, n_jobs)
    unmeasured = model.unmeasured(queries)
    return Explanation(
        queries=queries,
        predictions=classes[votes.probabilities.argmax(axis=1)],
        probabilities=votes.probabilities,
        neighbors=neighbors,
        neighbor_ids=None if ids is None else ids[neighbors],
        neighbor_labels=classes[model.labels[neighbors]],
        distances=np.sqrt(np.maximum(contributions.sum(axis=2), 0.0)),  # rounding may go below 0
        vote_shares=votes.shares,
        contributions=contributions,
        relevances=np.where(unmeasured, 0.0, readings.mean_relevances(near)),
        feature_weights=model.neighbor_feature_weights(queries, neighbors, votes.shares, n_jobs=n_jobs),
        feature_names=feature_names,
        classes=classes,
        floor=model.vote_rule.floor,
        unmeasured=unmeasured,
        unseen=np.zeros(queries.shape, bool) if schema is None else schema.unseen(queries),
        _query_values=query_values,
        _training_values=model.X if schema is None else TableValues(schema, model.X),
        _readings=readings,
        _near=near,
        _correlated=correlated,
    )


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
