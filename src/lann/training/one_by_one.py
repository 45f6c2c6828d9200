"""Points' weights learned from one query after another: over epochs, and when points join."""

from __future__ import annotations

from functools import partial

import numpy as np

from lann._types import Floats, Indices
from lann.metrics.levels import Levels
from lann.search.shortlist import coarse_search
from lann.training.candidates import find_candidates, usual_distances
from lann.training.monitor import Monitor
from lann.training.online import OnlineLearner
from lann.training.queries import asked_rows
from lann.training.settings import Settings
from lann.training.temperature import with_temperature
from lann.vote import zero_distance_guard

RATE = 0.05


def learn_online(
    levels: Levels,
    settings: Settings,
    n_epochs: int,
    rng: np.random.Generator,
    monitor: Monitor,
    held_out: Indices | None = None,
) -> Levels:
    """One point at a time, plain gradient steps on λ: the published way to learn the points' weights."""
    asked = asked_rows(len(levels.X), held_out)
    learner = _online_learner(levels, settings, relative=False)

    def candidates_of(rows: Indices) -> Indices | None:
        if settings.exhaustive:
            return None
        return find_candidates(levels, rows, settings.n_candidates, n_jobs=settings.n_jobs)[0]

    candidates = candidates_of(asked)
    rate = settings.learning_rate or RATE

    def learn(epoch: int) -> float:
        order = rng.permutation(len(asked))
        left = 1.0 - epoch / n_epochs
        ordered = None if candidates is None else candidates[order]
        return learner.one_pass(asked[order], ordered, rate * left, left=left)

    watch = None
    if held_out is not None:
        watch = partial(learner.one_pass, held_out, candidates_of(held_out), 0.0, left=0.0)
    snapshot = partial(_with_weights, levels, learner.metric.weights)
    return monitor.run("point weights, one by one", n_epochs, learn, snapshot, watch)


def join(levels: Levels, X: Floats, labels: Indices, settings: Settings) -> Levels:
    """New points join: they take over the metrics of their neighbours, then each is learned from once."""
    n_old = len(levels.X)
    settings = with_temperature(settings, levels)
    inherited = inherit(levels, X, labels, settings)
    joined = levels.replace(
        X=np.concatenate([levels.X, X]),
        labels=np.concatenate([levels.labels, labels]),
        point_log_weights=np.concatenate([levels.point_log_weights, inherited]),
    )
    if settings.fixed_norm:
        joined = joined.with_fixed_norm()
    if not settings.point_weights:
        return joined
    rows = np.arange(n_old, len(joined.X))
    candidates, _ = find_candidates(joined, rows, settings.n_candidates, n_jobs=settings.n_jobs)
    learner = _online_learner(joined, settings, relative=True)
    learner.one_pass(rows, candidates, settings.learning_rate or RATE)
    return _with_weights(joined, learner.metric.weights)


def inherit(levels: Levels, X: Floats, labels: Indices, settings: Settings, *, k: int = 5) -> Floats:
    """Point weights for new points: the mean over near points of the same class, the nearer the more.

    A point that is there already gets its own back.
    """
    inherited = np.zeros(X.shape)
    metric = levels.class_metric()
    queries = levels.curves.transform(X)
    for label in np.unique(labels):
        old, new = np.flatnonzero(levels.labels == label), np.flatnonzero(labels == label)
        if len(old) == 0:
            continue
        near, distances = coarse_search(metric.subset(old), len(new)).query(
            queries[new], min(k, len(old)), n_jobs=settings.n_jobs
        )
        closeness = 1.0 / (distances + 1e-9 * zero_distance_guard(distances))
        closeness /= closeness.sum(axis=1, keepdims=True)
        inherited[new] = np.einsum("qk,qkf->qf", closeness, levels.point_log_weights[old[near]])
    return inherited


def _online_learner(levels: Levels, settings: Settings, *, relative: bool) -> OnlineLearner:
    distances = usual_distances(levels, settings.n_jobs)
    return OnlineLearner(
        levels.points,
        levels.labels,
        levels.weights,
        len(levels.class_log_weights),
        settings,
        k=min(settings.n_neighbors, len(levels.X) - 1),
        epsilon=zero_distance_guard(distances),
        relative=relative,
    )


def _with_weights(levels: Levels, weights: Floats) -> Levels:
    # A weight may be 0 in the published method; its logarithm must stay finite.
    log_weights = np.log(np.maximum(weights, np.finfo(np.float64).tiny))
    return levels.replace(point_log_weights=log_weights - levels.class_log_weights[levels.labels])
