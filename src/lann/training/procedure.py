"""The order of the stages: what all points share, then every point's own weights; and how points join."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lann.curves import FeatureCurves
from lann.metrics.levels import Levels
from lann.search.shortlist import coarse_search
from lann.training.candidates import find_candidates
from lann.training.monitor import Epoch, Listener, Monitor
from lann.training.online import OnlineLearner
from lann.training.points import learn_points
from lann.training.queries import hold_out
from lann.training.settings import Settings
from lann.training.shared import learn_shared
from lann.vote import zero_distance_guard

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

SHARED_EPOCHS = 12
POINT_EPOCHS = {"staged": 2, "online": 20}
ONLINE_RATE = 0.05
# Training points whose neighbours give the scale of distances.
SCALE_SAMPLE = 2_000


@dataclass(frozen=True)
class Units:
    """Curves are learned over z-scored data, so that no scaling is needed beforehand."""

    center: Floats
    scale: Floats

    @classmethod
    def of(cls, X: Floats) -> Units:
        """Mean and standard deviation of each feature.

        A feature that is constant but for rounding is measured by its own size, so that a query which is a
        little off does not drown all that varies.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            center, scale = X.mean(axis=0), X.std(axis=0)
        if not np.all(np.isfinite(scale)):
            worst = int(np.flatnonzero(~np.isfinite(scale))[0])
            raise ValueError(f"The values of feature {worst} are too large to be squared; scale them down.")
        rounding = len(X) * np.finfo(np.float64).eps * np.abs(center)
        return cls(center, np.where(scale > rounding, scale, np.maximum(np.abs(center), 1.0)))

    def enter(self, levels: Levels, n_bins: int) -> Levels:
        """The same levels over z-scored data, with curves to bend."""
        X = (levels.X - self.center) / self.scale
        if levels.curves.is_identity:
            curves = FeatureCurves.straight(X, n_bins)
        else:
            curves = levels.curves.rescaled(-self.center / self.scale, 1.0 / self.scale)
        return levels.replace(X=X, curves=curves)

    def leave(self, levels: Levels, X: Floats) -> Levels:
        return levels.replace(X=X, curves=levels.curves.rescaled(self.center, self.scale))


def planned_epochs(settings: Settings, max_epochs: int | None) -> tuple[int, int]:
    """How many epochs go to the shared levels, and how many to the points."""
    shared = SHARED_EPOCHS if settings.curves or settings.class_weights else 0
    points = POINT_EPOCHS[settings.solver] if settings.point_weights else 0
    if max_epochs is None or shared + points == 0:
        return shared, points
    to_shared = math.ceil(max_epochs * shared / (shared + points))
    return to_shared, max_epochs - to_shared


def train(
    start: Levels,
    settings: Settings,
    rng: np.random.Generator,
    *,
    max_epochs: int | None = None,
    validation_fraction: float | None = None,
    patience: int = 3,
    listener: Listener | None = None,
) -> tuple[Levels, Monitor, float | None]:
    """Learn the levels that are switched on, from where `start` stands.

    Returns
    -------
    levels : what was learned
    monitor : the losses on the way
    temperature : of the softmax, where that is the loss
    """
    shared_epochs, point_epochs = planned_epochs(settings, max_epochs)
    units = Units.of(start.X) if settings.curves and shared_epochs > 0 else None
    levels = start if units is None else units.enter(start, settings.n_bins)

    def in_data_units(learned: Levels) -> Levels:
        return learned if units is None else units.leave(learned, start.X)

    def report(epoch: Epoch) -> bool:
        return listener is not None and listener(
            replace(epoch, snapshot=lambda: in_data_units(epoch.snapshot()))
        )

    monitor = Monitor(shared_epochs + point_epochs, listener=report, patience=patience)
    held_out = None
    if validation_fraction is not None and monitor.n_epochs > 0:
        _, held_out = hold_out(len(start.X), validation_fraction, rng)
    temperature = None
    if settings.loss == "softmax":
        temperature = settings.temperature or usual_temperature(levels, settings)
        settings = settings.replace(temperature=temperature)

    if shared_epochs > 0:
        levels = learn_shared(levels, settings, shared_epochs, rng, monitor, held_out)
    if point_epochs > 0 and not monitor.told_to_stop:
        learn = learn_points if settings.solver == "staged" else learn_online
        levels = learn(levels, settings, point_epochs, rng, monitor, held_out)
    if settings.fixed_norm:
        levels = with_fixed_norm(levels)
    return in_data_units(levels), monitor, temperature


def learn_online(
    levels: Levels,
    settings: Settings,
    n_epochs: int,
    rng: np.random.Generator,
    monitor: Monitor,
    held_out: Indices | None = None,
) -> Levels:
    """One point at a time, plain gradient steps on λ: the published way to learn the points' weights."""
    n_points = len(levels.X)
    asked = np.arange(n_points) if held_out is None else np.setdiff1d(np.arange(n_points), held_out)
    learner = _online_learner(levels, settings, relative=False)
    candidates = None
    if not settings.exhaustive:
        candidates, _ = find_candidates(levels, asked, settings.n_candidates, n_jobs=settings.n_jobs)
    rate = settings.learning_rate or ONLINE_RATE
    best = levels
    monitor.start_stage("point weights, one by one")
    for epoch in range(n_epochs):
        order = rng.permutation(len(asked))
        left = 1.0 - epoch / n_epochs
        if candidates is None:
            loss = learner.exhaustive_pass(asked[order], rate * left, left=left)
        else:
            loss = learner.shortlist_pass(asked[order], candidates[order], rate * left, left=left)
        held_out_loss = None
        if held_out is not None:
            held_out_loss = learner.exhaustive_pass(held_out, 0.0, left=0.0)
        learned = _with_weights(levels, learner.metric.weights)
        stop = monitor.epoch(loss, held_out_loss, partial(_itself, learned))
        if held_out is None or monitor.is_best:
            best = learned
        if stop:
            break
    return best


def join(levels: Levels, X: Floats, labels: Indices, settings: Settings) -> Levels:
    """New points join: they take over the metrics of their neighbours, then each is learned from once."""
    n_old = len(levels.X)
    inherited = inherit(levels, X, labels, settings)
    joined = levels.replace(
        X=np.concatenate([levels.X, X]),
        labels=np.concatenate([levels.labels, labels]),
        point_log_weights=np.concatenate([levels.point_log_weights, inherited]),
    )
    if settings.fixed_norm:
        joined = with_fixed_norm(joined)
    if not settings.point_weights:
        return joined
    rows = np.arange(n_old, len(joined.X))
    candidates, _ = find_candidates(joined, rows, settings.n_candidates, n_jobs=settings.n_jobs)
    learner = _online_learner(joined, settings, relative=True)
    learner.shortlist_pass(rows, candidates, settings.learning_rate or ONLINE_RATE)
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
        near, distances = coarse_search(metric.subset(old)).query(
            queries[new], min(k, len(old)), n_jobs=settings.n_jobs
        )
        closeness = 1.0 / (distances + 1e-9 * zero_distance_guard(distances))
        closeness /= closeness.sum(axis=1, keepdims=True)
        inherited[new] = np.einsum("qk,qkf->qf", closeness, levels.point_log_weights[old[near]])
    return inherited


def with_fixed_norm(levels: Levels) -> Levels:
    """The same levels, with the weights of every class, and of every point, adding up to n_features."""
    by_class = levels.class_log_weights
    by_class = by_class - np.log(np.mean(np.exp(by_class), axis=1, keepdims=True))
    scaled = levels.replace(class_log_weights=by_class)
    excess = np.log(np.mean(scaled.weights, axis=1, keepdims=True))
    return scaled.replace(point_log_weights=scaled.point_log_weights - excess)


def usual_temperature(levels: Levels, settings: Settings) -> float:
    """β for data of any scale: the usual support of a point, divided by what a clear winner needs.

    Classes without a neighbour hold exp(0) each, so with L classes a share near 1 takes log(L − 1) and more.
    """
    distances = _usual_distances(levels, settings)
    support = (distances + zero_distance_guard(distances)) ** -settings.power
    n_classes = len(levels.class_log_weights)
    return float(np.median(support.sum(axis=1))) / (math.log(max(n_classes - 1, 1)) + 3.0)


def _online_learner(levels: Levels, settings: Settings, *, relative: bool) -> OnlineLearner:
    distances = _usual_distances(levels, settings)
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


def _itself(levels: Levels) -> Levels:
    return levels


def _usual_distances(levels: Levels, settings: Settings) -> Floats:
    """Distances of some training points to their neighbours: (n_rows, k)."""
    rows = np.linspace(0, len(levels.X) - 1, min(SCALE_SAMPLE, len(levels.X))).astype(np.int64)
    return find_candidates(levels, rows, 5, n_jobs=settings.n_jobs)[1]
