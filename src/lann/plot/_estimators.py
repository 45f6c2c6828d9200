"""Access to fitted estimators: the last step of a pipeline, training rows and votes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lann._types import Floats, Indices, Labels


class NeighborVotes(NamedTuple):
    """The neighbors that vote on some rows, and their vote.

    Attributes
    ----------
    neighbors, shares : (n_rows, k)
    probabilities : (n_rows, n_classes)
    """

    neighbors: Indices
    shares: Floats
    probabilities: Floats


def last_step(estimator: Any) -> Any:
    """Return the last step of a fitted pipeline, or the fitted estimator itself."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)
    return estimator[-1] if hasattr(estimator, "named_steps") else estimator


def training_rows(estimator: Any) -> tuple[Floats, Labels]:
    """Return the training rows of a fitted classifier or embedding, and their class indices."""
    model = getattr(estimator, "model_", None)
    if model is None or not model.has_training_rows:
        raise ValueError(f"{type(estimator).__name__} does not keep its training rows; pass X.")
    return model.X, model.labels


def neighbor_votes(classifier: Any, X: Floats | None) -> NeighborVotes:
    """Return the votes on queries, or on all training rows if X is None, each without itself."""
    model = classifier.model_
    queries, exclude = (model.X, np.arange(len(model.X))) if X is None else (X, None)
    neighbors, distances = model.voters(queries, exclude=exclude, n_jobs=classifier.n_jobs)
    return NeighborVotes(neighbors, *model.vote(neighbors, distances))
