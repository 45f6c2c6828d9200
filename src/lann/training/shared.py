"""The first stage: what all points share, feature curves and class weights, learned in batches of queries."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lann._types import Floats, Indices
from lann.metrics.levels import Levels
from lann.training.adam import Adam
from lann.training.candidates import find_candidates
from lann.training.monitor import Monitor
from lann.training.queries import QueryStream, stratified_sample
from lann.training.settings import LARGEST_LOG_WEIGHT, Settings, restraint
from lann.training.walk import backward_points, backward_weights, bend, forward, gather_bins
from lann.vote import LOSSES, losses, zero_distance_guard

BATCH = 128
BATCHES_PER_EPOCH = 50
RATE = 0.05
# Curves and class weights need no more points than this to be learned from.
POOL = 20_000
# Up to here the search for candidates costs little, and all points are searched.
SMALL = 1_000
# Strengths of the pull towards equal, straight curves and equal classes.
PULL = {"height": 0.5, "bin": 0.5, "kink": 0.7, "class_height": 2.0, "class": 7.0}


class SharedStage:
    """Parameters of curves and class weights, and their gradients.

    A slope is exp(height_l + bin_lb); a class weight is exp(class_height_c + class_cl).
    """

    def __init__(self, levels: Levels, settings: Settings) -> None:
        self.settings = settings
        self.X, self.labels = levels.X, levels.labels
        self.n_classes = len(levels.class_log_weights)
        self.curves = levels.curves
        bins, self._offsets = self.curves.locate(self.X)
        features = np.arange(self.X.shape[1])
        self._cells = (features * self.curves.n_bins + bins).astype(np.uint32)
        self.points = np.empty(self.X.shape)
        self._point_gradient = np.zeros(self.X.shape)
        self._touched = np.zeros(len(self.X), np.bool_)
        self._bend()
        self._used = self.curves.used
        log_slopes = np.log(self.curves.slopes)
        self.height = log_slopes.mean(axis=1)
        self.bin = log_slopes - self.height[:, None]
        self.class_height = levels.class_log_weights.mean(axis=1)
        self.by_class = levels.class_log_weights - self.class_height[:, None]
        self._adam = {
            name: Adam(array)
            for name, array in (
                ("height", self.height),
                ("bin", self.bin),
                ("class_height", self.class_height),
                ("class", self.by_class),
            )
        }

    @property
    def class_log_weights(self) -> Floats:
        return self.class_height[:, None] + self.by_class

    def levels(self) -> Levels:
        """What has been learned so far."""
        return Levels(self.X, self.labels, self.curves, self.class_log_weights, np.zeros(self.X.shape))

    def loss(
        self, rows: Indices, candidates: Indices, alive: NDArray, scales: Floats, epsilon: float
    ) -> tuple[float, dict[str, Floats]]:
        """The mean loss of a batch and its gradient for each parameter, without the pull."""
        settings = self.settings
        weights = np.exp(self.class_log_weights)
        near, distances, counts = forward(
            rows, candidates, alive, scales, self.points, weights, self.labels, epsilon, settings.n_neighbors
        )
        loss, loss_slopes = losses(
            LOSSES[settings.loss], distances, self.labels[near], self.labels[rows], counts,
            settings.power, settings.strength, self.n_classes,
        )  # fmt: skip
        loss_slopes /= len(rows)
        gradient: dict[str, Floats] = {}
        if settings.curves:
            backward_points(
                rows, near, counts, loss_slopes, scales, self.points, weights, self.labels,
                self._point_gradient, self._touched,
            )  # fmt: skip
            sums, moments = np.zeros(self.curves.slopes.shape), np.zeros(self.curves.slopes.shape)
            gather_bins(self._cells, self._offsets, self._point_gradient, self._touched, sums, moments)
            gradient["bin"] = self.curves.slope_gradient(sums, moments) * self.curves.slopes
            gradient["height"] = gradient["bin"].sum(axis=1)
        if settings.class_weights:
            gradient["class"] = np.zeros(weights.shape)
            backward_weights(
                rows, near, counts, loss_slopes, scales, self.points, weights, self.labels, gradient["class"]
            )
            gradient["class_height"] = gradient["class"].sum(axis=1)
        return loss, gradient

    def pull(self) -> dict[str, Floats]:
        """The gradient of the penalties."""
        strength = self.settings.penalty * restraint(len(self.X)) / len(self.X)
        bin_pull = PULL["bin"] * self.bin
        kinks = PULL["kink"] * np.diff(self.bin, axis=1) * self._used[:, 1:]
        bin_pull[:, 1:] += kinks
        bin_pull[:, :-1] -= kinks
        return {
            "height": strength * PULL["height"] * (self.height - self.height.mean()),
            "bin": strength * bin_pull,
            "class_height": strength * PULL["class_height"] * self.class_height,
            "class": strength * PULL["class"] * self.by_class,
        }

    def step(self, gradient: dict[str, Floats], rate: float) -> None:
        pull = self.pull()
        for name, values in gradient.items():
            values += pull[name]
            if name == "bin":
                values *= self._used
            self._adam[name].step(values, rate)
        self._constrain()

    def _constrain(self) -> None:
        """Fix what the loss leaves free: the overall scale, and what curves and classes share."""
        if self.settings.curves:
            self.height -= self.height.max()  # no exponential may overflow
            self.height -= 0.5 * np.log(np.mean(np.exp(2.0 * self.height)))
            np.maximum(self.height, -4.0, out=self.height)
            np.clip(self.bin, -3.0, 3.0, out=self.bin)
            self.curves = self.curves.bent(np.exp(self.height[:, None] + self.bin))
            self._bend()
        if self.settings.class_weights:
            np.clip(self.class_height, -LARGEST_LOG_WEIGHT, LARGEST_LOG_WEIGHT, out=self.class_height)
            np.clip(self.by_class, -LARGEST_LOG_WEIGHT, LARGEST_LOG_WEIGHT, out=self.by_class)
            self.class_height -= self.class_height.mean()
            self.by_class -= self.by_class.mean(axis=0)

    def _bend(self) -> None:
        bend(self._cells, self._offsets, self.curves.starts, self.curves.slopes, self.points)


def learn_shared(
    levels: Levels,
    settings: Settings,
    n_epochs: int,
    rng: np.random.Generator,
    monitor: Monitor,
    held_out: Indices | None = None,
) -> Levels:
    """Learn curves and class weights; `levels` is where they start."""
    pool = stratified_sample(levels.labels, POOL, rng)
    stage = SharedStage(
        levels.replace(X=levels.X[pool], labels=levels.labels[pool], point_log_weights=np.empty((0, 0))),
        settings,
    )
    asked = np.arange(len(pool))
    if held_out is not None:
        held = np.flatnonzero(np.isin(pool, held_out))
        held_out = held if len(held) else None  # of the pool, from here on
        asked = np.setdiff1d(asked, held)
    batch = min(BATCH, len(asked))
    stream = QueryStream(asked, rng)
    rate = settings.learning_rate or RATE
    n_features = levels.X.shape[1]
    n_steps = n_epochs * BATCHES_PER_EPOCH

    def learn(epoch: int) -> float:
        rows = stream.take(BATCHES_PER_EPOCH * batch)
        reference, survival = sample_reference(len(pool), settings, rng)
        candidates, epsilon = candidates_of(stage.levels(), rows, settings, reference)
        total = 0.0
        for number in range(BATCHES_PER_EPOCH):
            part = slice(number * batch, (number + 1) * batch)
            alive = rng.random(candidates[part].shape) < survival
            scales = np.where(rng.random(n_features) < settings.feature_dropout, 0.0, 1.0)
            loss, gradient = stage.loss(rows[part], candidates[part], alive, scales, epsilon)
            stage.step(gradient, rate * (1.0 - (epoch * BATCHES_PER_EPOCH + number) / n_steps))
            total += loss
        return total / BATCHES_PER_EPOCH

    def snapshot() -> Levels:
        return levels.replace(curves=stage.curves, class_log_weights=stage.class_log_weights)

    watch = None if held_out is None else partial(held_out_loss, stage, held_out)
    return monitor.run("curves and class weights", n_epochs, learn, snapshot, watch)


def sample_reference(n_points: int, settings: Settings, rng: np.random.Generator) -> tuple[Indices, float]:
    """The points that may be candidates in this epoch, and how likely each then survives a batch's dropout.

    Of many points, part of the dropout is done here, once for the epoch: to search among a third of the
    points for a third of the candidates costs a fraction.
    """
    survival = 1.0 - settings.candidate_dropout
    fraction = min(max(SMALL / n_points, survival), 1.0)
    size = max(round(fraction * n_points), 2)
    reference = np.sort(rng.choice(n_points, size, replace=False)) if size < n_points else np.arange(n_points)
    return reference, survival / fraction


def candidates_of(
    levels: Levels, rows: Indices, settings: Settings, reference: Indices
) -> tuple[Indices, float]:
    """The candidates of some training points among the reference: (n_rows, C), and ε."""
    distinct, where = np.unique(rows, return_inverse=True)
    wanted = math.ceil(settings.n_candidates * len(reference) / len(levels.X))
    candidates, distances = find_candidates(
        levels, distinct, wanted, reference=reference, n_jobs=settings.n_jobs
    )
    return candidates[where], zero_distance_guard(distances[:, :5])


def held_out_loss(stage: SharedStage, rows: Indices) -> float:
    """The loss of queries that are not trained on, with nothing dropped."""
    candidates, epsilon = candidates_of(stage.levels(), rows, stage.settings, np.arange(len(stage.X)))
    everything = np.ones(candidates.shape, np.bool_)
    return stage.loss(rows, candidates, everything, np.ones(stage.X.shape[1]), epsilon)[0]
