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

    Attributes
    ----------
    scales : (n_points, 1)
    differences : (n_points, n_axes)
    """

    name = "point weights"
    # Step size relative to that of the shared levels.
    relative_rate = 0.6

    def __init__(self, levels: Levels, settings: Settings) -> None:
        self._settings = settings
        self._start = levels
        self._rule = settings.loss_rule(len(levels.class_log_weights))
        self._targets = settings.targets(levels)
        self._points = levels.points
        self._owners = np.arange(len(levels.X))
        self._class_log_weights = levels.class_log_weights[levels.labels]
        self.scales = levels.point_log_weights.mean(axis=1, keepdims=True)
        self.differences = levels.point_log_weights - self.scales
        self._adam_scales, self._adam_differences = Adam(self.scales), Adam(self.differences)
        self._gradient = np.zeros(self.differences.shape)
        self._update_weights()

    def _update_weights(self) -> None:
        log_weights = self._class_log_weights + self.differences + self.scales
        np.clip(log_weights, -LARGEST_LOG_WEIGHT, LARGEST_LOG_WEIGHT, out=log_weights)
        self._weights = np.exp(log_weights, out=log_weights)

    def levels(self) -> Levels:
        """Return a snapshot of the levels."""
        return self._start.replace(point_log_weights=np.log(self._weights) - self._class_log_weights)

    def loss(self, batch: Batch) -> tuple[float, Floats]:
        """Compute the mean loss of a batch and its gradient for the log weights, (n_points, n_axes).

        The gradient is overwritten by the next call.
        """
        metric = WeightedPoints(self._points, self._weights, self._owners)
        self._gradient[:] = 0.0
        loss = loss_and_gradients(batch, metric, self._targets, self._rule, self._gradient, NOT_NEEDED)
        return loss, self._gradient

    def step(self, gradient: Floats, rate: float, smoothing: float, neighbors: Indices) -> None:
        """Take one step against the gradient, which is changed, then smooth.

        Parameters
        ----------
        gradient : (n_points, n_axes)
            Of the mean loss of a batch.
        rate : float
            Step size.
        smoothing : float
            Share of the parameters of a point that is replaced by those of its neighbors.
        neighbors : (n_points, k)
            Same-class neighbors; -1 for none.
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
