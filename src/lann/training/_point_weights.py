"""Point metrics as weights: the log weights that each row owns, with their gradient."""

from __future__ import annotations

import numpy as np

from lann._types import Floats, Indices
from lann.metrics import Levels
from lann.training._adam import Adam
from lann.training._kernels import (
    NOT_NEEDED,
    Batch,
    WeightedPoints,
    loss_and_gradients,
    mix_with_neighbors,
)
from lann.training._settings import LARGEST_LOG_WEIGHT, Settings


class PointWeights:
    """Log weights of each point: those of its class, plus a scale and a difference per axis of its own.

        log weight of point j on axis a = class log weight + scales_j + differences_ja

    Parameters
    ----------
    levels : Levels
        Initial values; the shared levels stay as they are.
    settings : Settings
    own : (n_own,) or None
        Points whose weights are learned, ascending; all others measure with those of their class. None is
        all.

    Attributes
    ----------
    scales : (n_own, 1)
    differences : (n_own, n_axes)
    """

    name = "point weights"
    # Step size relative to that of the shared levels.
    relative_rate = 0.6

    def __init__(self, levels: Levels, settings: Settings, own: Indices | None = None) -> None:
        self._settings = settings
        self._start = levels
        self._rule = settings.loss_rule(len(levels.class_log_weights))
        self._targets = settings.targets(levels)
        self._points = levels.points
        self._own = np.arange(len(levels.X)) if own is None else own
        n_own, labels, by_class = len(self._own), levels.labels, levels.class_log_weights
        self._class_log_weights = by_class[labels[self._own]]
        start = levels.point_log_weights[self._own]
        self.scales = start.mean(axis=1, keepdims=True)
        self.differences = start - self.scales
        self._adam_scales, self._adam_differences = Adam(self.scales), Adam(self.differences)
        # The weights of the own points, then those of the classes, with which the other points measure.
        self._owners = n_own + labels.astype(np.int64)
        self._owners[self._own] = np.arange(n_own)
        n_fixed = 0 if n_own == len(labels) else len(by_class)
        self._weights = np.vstack([np.empty((n_own, by_class.shape[1])), np.exp(by_class[:n_fixed])])
        self._gradient = np.zeros(self._weights.shape)
        self._update_weights()

    def _update_weights(self) -> None:
        log_weights = self._weights[: len(self._own)]
        np.add(self._class_log_weights, self.differences, out=log_weights)
        log_weights += self.scales
        np.clip(log_weights, -LARGEST_LOG_WEIGHT, LARGEST_LOG_WEIGHT, out=log_weights)
        np.exp(log_weights, out=log_weights)

    def levels(self) -> Levels:
        """Return a snapshot of the levels."""
        own = np.log(self._weights[: len(self._own)]) - self._class_log_weights
        if len(own) == len(self._owners):
            return self._start.replace(point_log_weights=own)
        log_weights = np.zeros((len(self._owners), own.shape[1]))
        log_weights[self._own] = own
        return self._start.replace(point_log_weights=log_weights)

    def loss(self, batch: Batch) -> tuple[float, Floats]:
        """Compute the mean loss of a batch and its gradient for the log weights, (n_own, n_axes).

        The gradient is overwritten by the next call.
        """
        metric = WeightedPoints(self._points, self._weights, self._owners)
        self._gradient[:] = 0.0
        loss = loss_and_gradients(batch, metric, self._targets, self._rule, self._gradient, NOT_NEEDED)
        return loss, self._gradient[: len(self._own)]

    def step(self, gradient: Floats, rate: float, smoothing: float, neighbors: Indices) -> None:
        """Take one step against the gradient, which is changed, then smooth.

        Parameters
        ----------
        gradient : (n_own, n_axes)
            Of the mean loss of a batch.
        rate : float
            Step size.
        smoothing : float
            Share of the parameters of a point that is replaced by those of its neighbors.
        neighbors : (n_own, k)
            Same-class neighbors, counted among the own points; -1 for none.
        """
        # Few queries of a batch change a point, so its gradient counts as that of the sum over all rows.
        gradient *= len(gradient)
        by_scale = gradient.sum(axis=1, keepdims=True)
        by_scale += self._settings.alpha * self.scales
        gradient += self._settings.alpha * self.differences
        self._adam_scales.step(by_scale, rate)
        self._adam_differences.step(gradient, rate)
        if smoothing > 0:
            self.differences[:] = mix_with_neighbors(self.differences, neighbors, smoothing)
            self.scales[:] = mix_with_neighbors(self.scales, neighbors, smoothing)
        self._update_weights()
