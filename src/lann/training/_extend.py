"""Points' weights learned from one query after another: over epochs, and when points join."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from lann._types import Floats, Indices
from lann.metrics import Levels
from lann.search import coarse_search
from lann.training._candidates import find_candidates, usual_distances
from lann.training._initial_map import wanted_axes
from lann.training._online_matrices import OnlineMatrices, inherited_maps
from lann.training._online_weights import OnlineLearner
from lann.training._run import Run
from lann.training._sampling import asked_rows
from lann.training._settings import Settings
from lann.training._temperature import with_temperature
from lann.vote import zero_distance_guard

RATE = 0.05


def learn_online(levels: Levels, settings: Settings, run: Run) -> Levels:
    """One point at a time, plain gradient steps on λ: the published way to learn the points' weights."""
    learner = _online_learner(levels, settings, relative=False)
    snapshot = partial(_with_weights, levels, learner.metric.weights)
    return _pass_by_pass(learner, snapshot, "point weights, one by one", levels, settings, run)


def learn_matrices_online(levels: Levels, settings: Settings, run: Run) -> Levels:
    """One point at a time, plain gradient steps on Ω: the published way to learn the points' matrices."""
    learner = OnlineMatrices(levels, settings, relative=False)
    return _pass_by_pass(learner, learner.levels, "point matrices, one by one", levels, settings, run)


def _pass_by_pass(
    learner: OnlineLearner | OnlineMatrices,
    snapshot: Callable[[], Levels],
    name: str,
    levels: Levels,
    settings: Settings,
    run: Run,
) -> Levels:
    """Pass over all points again and again, at a rate that falls to 0."""
    asked = asked_rows(len(levels.X), run.held_out)

    def candidates_of(rows: Indices) -> Indices | None:
        if settings.exhaustive:
            return None
        return find_candidates(levels, rows, settings.n_candidates, n_jobs=settings.n_jobs)[0]

    candidates = candidates_of(asked)
    rate = settings.learning_rate or RATE

    def learn(epoch: int) -> float:
        order = run.rng.permutation(len(asked))
        left = 1.0 - epoch / run.n_epochs
        ordered = None if candidates is None else candidates[order]
        return learner.one_pass(asked[order], ordered, rate * left, left=left)

    watch = None
    if run.held_out is not None:
        watch = partial(learner.one_pass, run.held_out, candidates_of(run.held_out), 0.0, left=0.0)
    return run.monitor.run(name, run.n_epochs, learn, snapshot, watch)


def join(levels: Levels, X: Floats, labels: Indices, settings: Settings) -> Levels:
    """New points join: they take over the metrics of their neighbors, then each is learned from once."""
    n_old = len(levels.X)
    settings = with_temperature(settings, levels)
    near, shares = like_points(levels, X, labels, settings)
    joined = levels.replace(
        X=np.concatenate([levels.X, X]),
        labels=np.concatenate([levels.labels, labels]),
        point_log_weights=np.concatenate([levels.point_log_weights, _mean_weights(levels, near, shares)]),
    )
    if levels.point_matrices is not None:
        new_maps = inherited_maps(levels.point_matrices, near, shares)
        joined = joined.replace(point_matrices=np.concatenate([levels.point_matrices, new_maps]))
    if settings.fixed_norm:
        joined = joined.with_fixed_norm()
    if settings.determinant and joined.point_matrices is None:
        joined = joined.with_fixed_determinant()
    if not settings.point_metrics:
        return joined
    rows = np.arange(n_old, len(joined.X))
    candidates, _ = find_candidates(joined, rows, settings.n_candidates, n_jobs=settings.n_jobs)
    rate = settings.learning_rate or RATE
    if joined.point_matrices is not None:
        matrices = OnlineMatrices(joined, settings, relative=True)
        matrices.one_pass(rows, candidates, rate)
        return matrices.levels()
    learner = _online_learner(joined, settings, relative=True)
    learner.one_pass(rows, candidates, rate)
    return _with_weights(joined, learner.metric.weights)


def like_points(
    levels: Levels, X: Floats, labels: Indices, settings: Settings, *, k: int = 5
) -> tuple[Indices, Floats]:
    """The nearest points of the same class, and the part that each has in what a new point inherits.

    Returns
    -------
    near, shares : (n_new, k) the nearer the larger, adding up to 1; all 0 where the class is new
    """
    near, shares = np.zeros((len(X), k), np.int64), np.zeros((len(X), k))
    metric = levels.class_metric()
    queries = levels.transform(X)
    for label in np.unique(labels):
        old, new = np.flatnonzero(levels.labels == label), np.flatnonzero(labels == label)
        if len(old) == 0:
            continue
        n_near = min(k, len(old))
        found, distances = coarse_search(metric.subset(old), len(new)).query(
            queries[new], n_near, n_jobs=settings.n_jobs
        )
        closeness = 1.0 / (distances + 1e-9 * zero_distance_guard(distances))
        near[new, :n_near] = old[found]
        shares[new, :n_near] = closeness / closeness.sum(axis=1, keepdims=True)
    return near, shares


def warm_start(start: Levels, earlier: Levels, settings: Settings) -> Levels:
    """What an earlier fit has learned, as far as it is to be learned again, for the points of `start`.

    Points inherit from near points of the same class; one that was there already gets its own back.
    """
    if settings.curves:
        start = start.replace(curves=earlier.curves)
    n_features = start.X.shape[1]
    wanted = wanted_axes(settings, n_features)
    may_turn = settings.linear_map or wanted < n_features
    if earlier.class_log_weights.shape[1] != wanted or not (earlier.components is None or may_turn):
        return start  # class and point weights are about other axes
    start = start.replace(
        components=earlier.components,
        class_log_weights=np.zeros_like(earlier.class_log_weights),
        point_log_weights=np.zeros((len(start.X), earlier.class_log_weights.shape[1])),
    )
    if settings.class_metrics:
        start = start.replace(class_log_weights=earlier.class_log_weights)
    if settings.point_metrics:
        near, shares = like_points(earlier, start.X, start.labels, settings)
        start = start.replace(point_log_weights=_mean_weights(earlier, near, shares))
        if earlier.point_matrices is not None and settings.form != "diagonal":
            start = start.replace(point_matrices=inherited_maps(earlier.point_matrices, near, shares))
    return start


def _mean_weights(levels: Levels, near: Indices, shares: Floats) -> Floats:
    return np.einsum("qk,qkf->qf", shares, levels.point_log_weights[near])


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
