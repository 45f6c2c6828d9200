"""From a fitted model and queries to their explanation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lann._types import Floats
from lann.explain.explanation import Explanation

if TYPE_CHECKING:
    from lann.model import LocalModel


def build_explanation(
    model: LocalModel,
    queries: Floats,
    *,
    classes: NDArray[Any],
    point_relevances: Floats,
    feature_names: NDArray[Any],
    ids: NDArray[Any] | None,
    n_jobs: int | None,
) -> Explanation:
    """What made the predictions for some queries.

    Parameters
    ----------
    model
        Fitted.
    queries : (n_queries, n_features)
    classes : (n_classes,)
    point_relevances : (n_points, n_features) how much a difference from each training point counts
    feature_names : (n_features,)
    ids : (n_points,) what the training points are called, or None
    n_jobs
        Threads.
    """
    levels = model.levels
    curved = levels.curves.transform(queries)
    placed = levels.turn(curved)
    indices, found = model.nearest(placed, model.n_voters, n_jobs=n_jobs)
    contributions = levels.contributions(curved, indices)
    shares = model.shares(indices, found)  # the vote that `predict` counts, to the bit
    votes = model.votes(shares, indices)
    landmarks = model.landmarks(n_jobs)
    near = landmarks.near(placed, n_jobs=n_jobs)
    return Explanation(
        queries=queries,
        predictions=classes[votes.argmax(axis=1)],
        probabilities=votes,
        neighbors=indices,
        neighbor_ids=None if ids is None else ids[indices],
        neighbor_labels=classes[levels.labels[indices]],
        distances=contributions.sum(axis=2),
        vote_shares=shares,
        contributions=contributions,
        relevances=landmarks.readings.relevances_near(near),
        feature_weights=np.einsum("qk,qkf->qf", shares, point_relevances[indices]),
        feature_names=feature_names,
        classes=classes,
        near=near,
        readings=landmarks.readings,
        correlated_places=landmarks.correlated_places,
    )
