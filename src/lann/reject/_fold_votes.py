"""Classifiers of folds that vote as the classifier of all rows does."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

from lann.reject._held_out import Fold


def vote_as(folds: Sequence[Fold], estimator: Any) -> list[Fold]:
    """Return folds whose classifiers vote as that of all rows does, which may have chosen another vote.

    Otherwise their certainties could not be compared: with more neighbors, fewer votes are unanimous.

    Parameters
    ----------
    folds : sequence of Fold
    estimator : classifier
        Fitted to all rows.
    """
    vote = getattr(_last_step(estimator), "vote_", None)
    return [fold._replace(estimator=_with_vote(fold.estimator, vote)) for fold in folds]


def _last_step(estimator: Any) -> Any:
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator


def _with_vote(estimator: Any, vote: Any) -> Any:
    """Return a fitted classifier, also at the end of a pipeline, with another vote if it can have one."""
    own = _last_step(estimator)
    if vote is None or not hasattr(own, "with_vote") or _figures(own.vote_) == _figures(vote):
        return estimator
    changed = own.with_vote(vote)
    if own is estimator:
        return changed
    pipeline = copy(estimator)
    pipeline.steps = [*estimator.steps[:-1], (estimator.steps[-1][0], changed)]
    return pipeline


def _figures(vote: Any) -> tuple[int, float, float]:
    return vote.n_neighbors, vote.power, vote.floor
