"""The second stage: every point's own departure from its class, with curves and class weights frozen."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lann._types import Floats, Indices
from lann.metrics import DiagonalMetric, Levels, MatrixMetric
from lann.training._adam import Adam
from lann.training._candidates import find_candidates
from lann.training._kernels import backward_weights, forward, mix_with_neighbors
from lann.training._level_selection import clearly_fewer, errors
from lann.training._run import Run
from lann.training._sampling import QueryStream, asked_rows
from lann.training._settings import LARGEST_LOG_WEIGHT, Settings
from lann.vote import LOSSES, losses, zero_distance_guard

BATCH = 512
BATCHES_PER_EPOCH = 50
RATE = 0.03
N_SMOOTHING_NEIGHBORS = 5


class OwnStage(Protocol):
    """What every point owns, and how it takes a step."""

    def loss(
        self, rows: Indices, candidates: Indices, alive: NDArray, scales: Floats, epsilon: float
    ) -> tuple[float, Any]:
        """The mean loss of a batch, and what `step` needs to know to lower it."""

    def step(self, gradient: Any, rate: float, smoothing: float, neighbors: Indices) -> None:
        """One step, then the smoothing with like neighbors (n_points, 5) and the constraint."""

    def levels(self) -> Levels:
        """The levels as they are now."""


class PointStage:
    """Each point's log weights: a height of its own (how far it reaches) and a departure per feature."""

    def __init__(self, levels: Levels, settings: Settings) -> None:
        self.settings = settings
        self.start = levels
        self.votes = settings.class_weights_of(len(levels.class_log_weights))
        self.points = levels.points
        self._owners = np.arange(len(self.points))
        self._class_part = levels.class_log_weights[levels.labels]
        self.height = levels.point_log_weights.mean(axis=1, keepdims=True)
        self.by_feature = levels.point_log_weights - self.height
        self._adam_height, self._adam_feature = Adam(self.height), Adam(self.by_feature)
        self._gradient = np.zeros(self.points.shape)
        self._measure()

    def _measure(self) -> None:
        log_weights = self._class_part + self.by_feature + self.height
        if self.settings.determinant:
            log_weights -= log_weights.mean(axis=1, keepdims=True)
        np.clip(log_weights, -LARGEST_LOG_WEIGHT, LARGEST_LOG_WEIGHT, out=log_weights)
        self.weights = np.exp(log_weights, out=log_weights)
        if self.settings.fixed_norm:
            self.weights /= self.weights.mean(axis=1, keepdims=True)

    def levels(self) -> Levels:
        return self.start.replace(point_log_weights=np.log(self.weights) - self._class_part)

    def loss(
        self, rows: Indices, candidates: Indices, alive: NDArray, scales: Floats, epsilon: float
    ) -> tuple[float, Floats]:
        """The mean loss of a batch, and its gradient for every point's log weights (n_points, n_features)."""
        settings, labels = self.settings, self.start.labels
        near, distances, counts = forward(
            rows, candidates, alive, scales, self.points, self.weights, self._owners, epsilon,
            settings.n_neighbors,
        )  # fmt: skip
        loss, slopes = losses(
            LOSSES[settings.loss], distances, labels[near], labels[rows], counts,
            settings.power, settings.strength, self.votes,
        )  # fmt: skip
        slopes /= len(rows)
        self._gradient[:] = 0.0
        backward_weights(
            rows, near, counts, slopes, scales, self.points, self.weights, self._owners, self._gradient
        )
        return loss, self._gradient

    def step(self, gradient: Floats, rate: float, smoothing: float, neighbors: Indices) -> None:
        # A point is touched by few queries, so its gradient counts as much as that of a whole data set.
        gradient *= len(self.weights)
        height_gradient = gradient.sum(axis=1, keepdims=True)
        height_gradient += self.settings.alpha * self.height
        gradient += self.settings.alpha * self.by_feature
        self._adam_height.step(height_gradient, rate)
        self._adam_feature.step(gradient, rate)
        if smoothing > 0:
            self.by_feature[:] = mix_with_neighbors(self.by_feature, neighbors, smoothing)
            self.height[:] = mix_with_neighbors(self.height, neighbors, smoothing)
        self._measure()


def learn_points(levels: Levels, settings: Settings, run: Run) -> Levels:
    """Learn the points' own weights; `levels` is where they start."""
    rate = 0.6 * settings.learning_rate if settings.learning_rate else RATE
    return run_stage(PointStage(levels, settings), "point weights", rate, levels, settings, run)


def run_stage(
    stage: OwnStage, name: str, rate: float, levels: Levels, settings: Settings, run: Run
) -> Levels:
    """Learn what every point owns, batch after batch, at a rate that falls to 0.

    The candidates are those of the start, under what all points share. Judges are not asked in the first
    half; if they are clearly more often wrong by then, the level is left out.
    """
    n_epochs, rng, monitor, held_out = run.n_epochs, run.rng, run.monitor, run.held_out
    n_points = len(levels.X)
    asked = asked_rows(n_points, held_out)
    judges = asked[:0] if run.judges is None or n_epochs < 2 else np.intersect1d(run.judges, asked)
    judged_after = math.ceil(n_epochs / 2) if len(judges) > 0 else n_epochs
    batch = min(BATCH, len(asked) - len(judges))
    per_epoch = BATCHES_PER_EPOCH * batch
    before = QueryStream(np.setdiff1d(asked, judges), rng).take(judged_after * per_epoch)
    after = QueryStream(asked, rng).take((n_epochs - judged_after) * per_epoch)
    all_rows = np.concatenate([before, after])
    listed = np.unique(np.concatenate([all_rows, judges, asked[:0] if held_out is None else held_out]))
    candidates, distances = find_candidates(levels, listed, settings.n_candidates, n_jobs=settings.n_jobs)
    epsilon = zero_distance_guard(distances[:, :5])
    position = np.full(n_points, -1)
    position[listed] = np.arange(len(listed))
    neighbors = np.full((n_points, N_SMOOTHING_NEIGHBORS), -1)
    neighbors[listed] = like_neighbors(levels.labels, listed, candidates)
    n_axes = levels.class_log_weights.shape[1]

    def learn(epoch: int) -> float:
        total = 0.0
        for number in range(BATCHES_PER_EPOCH):
            first = epoch * per_epoch + number * batch
            rows = all_rows[first : first + batch]
            own = candidates[position[rows]]
            alive = rng.random(own.shape) >= settings.candidate_dropout
            scales = np.where(rng.random(n_axes) < settings.feature_dropout, 0.0, 1.0)
            loss, gradient = stage.loss(rows, own, alive, scales, epsilon)
            # The smoothing falls with the rate, or else it would undo in the end what was learned.
            left = 1.0 - first / len(all_rows)
            stage.step(gradient, rate * left, settings.smoothing * left, neighbors)
            total += loss
        return total / BATCHES_PER_EPOCH

    def loss_of(rows: Indices) -> float:
        own = candidates[position[rows]]
        return stage.loss(rows, own, np.ones(own.shape, np.bool_), np.ones(n_axes), epsilon)[0]

    watch = None if held_out is None else partial(loss_of, held_out)

    def errors_of(metric: DiagonalMetric | MatrixMetric) -> Floats:
        own, n_classes = candidates[position[judges]], len(levels.class_log_weights)
        return errors(metric, levels.labels, n_classes, judges, own, settings)

    def does_harm(epoch: int) -> bool:
        if len(judges) == 0 or epoch != judged_after:
            return False
        without = errors_of(levels.class_metric())
        if not clearly_fewer(without, errors_of(stage.levels().local_metric())):
            return False
        monitor.left_out.append("point")
        return True

    learned = monitor.run(name, n_epochs, learn, stage.levels, watch, does_harm)
    if "point" in monitor.left_out:
        return levels.replace(point_log_weights=np.zeros_like(levels.point_log_weights), point_matrices=None)
    return learned


def like_neighbors(labels: Indices, rows: Indices, candidates: Indices) -> Indices:
    """The nearest candidates with the row's own label: (n_rows, 5), -1 where there are fewer."""
    like = (labels[np.maximum(candidates, 0)] == labels[rows][:, None]) & (candidates >= 0)
    order = np.argsort(~like, axis=1, kind="stable")[:, :N_SMOOTHING_NEIGHBORS]
    chosen = np.where(
        np.take_along_axis(like, order, axis=1), np.take_along_axis(candidates, order, axis=1), -1
    )
    padded = np.full((len(rows), N_SMOOTHING_NEIGHBORS), -1)
    padded[:, : chosen.shape[1]] = chosen
    return padded
