"""Point metrics that are matrices: the loss of a batch, its gradient, and the step on each matrix."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lann import _native
from lann._support.threads import map_blocks
from lann._support.types import Floats, Indices
from lann.metric import Levels
from lann.search import smallest
from lann.training._initial import initial_matrices
from lann.training._loss import (
    LARGEST_LOG_WEIGHT,
    Adam,
    Batch,
    Settings,
    mix_with_neighbors,
    regularization_factor,
)


class PairSlopes(NamedTuple):
    """Pairs of a query and a neighbor, those of a neighbor together, and the slope of the loss for each.

    Attributes
    ----------
    neighbors : (n_neighbors,)
        Points, distinct.
    starts : (n_neighbors + 1,)
        Where the pairs of each neighbor start.
    queries : (n_pairs,)
        Points.
    slopes : (n_pairs,)
        ∂loss/∂d.
    axis_mask : (n_axes,)
        1, or 0 for an axis that is dropped.
    """

    neighbors: Indices
    starts: Indices
    queries: Indices
    slopes: Floats
    axis_mask: Floats


# Decay of the second moments.
MATRIX_DECAY = 0.99
# Initial step sizes of the matrices and of the scales, which keep this ratio.
MATRIX_RATE, SCALE_RATE = 0.06, 0.03
# Strength of the regularization of matrices relative to that of weights.
REGULARIZATION = 0.5
# Smoothing reads all matrices, so it is done once for every ten steps.
SMOOTHING_EVERY = 10
# The scale compensates for a small matrix down to this mean squared singular value.
SMALLEST_SQUARE = 1e-30
# Pairs, and points, that a thread processes at a time.
PAIR_BLOCK, POINT_BLOCK = 1024, 128


class PointMatrices:
    """The matrix Ω_j = √s_j A_j of each point: a scale, and a matrix that starts as the identity.

    Parameters
    ----------
    levels : Levels
        Initial values; the shared levels, and weights of points, stay as they are.
    settings : Settings

    Attributes
    ----------
    matrices : (n_points, n_axes, rank)
        A.
    log_scales : (n_points,)
        log s.
    """

    name = "point matrices"
    # Step size relative to that of the shared levels.
    relative_rate = 1.2

    def __init__(self, levels: Levels, settings: Settings) -> None:
        self._settings = settings
        self._start = levels
        self._rule = settings.loss_rule(levels)
        self._targets = settings.targets(levels)
        self._points = levels.points
        self._roots = np.sqrt(levels.weights)
        self.matrices = initial_matrices(levels)
        n_points = len(self.matrices)
        self.log_scales = np.zeros(n_points)
        self._adam_scales = Adam(self.log_scales)
        self._second = np.zeros(n_points)
        self._n_steps = 0
        self._squares = np.empty(n_points)
        self._restore_bounds(np.arange(n_points))
        self._regularization = REGULARIZATION * settings.alpha * regularization_factor(n_points)

    @property
    def metric(self) -> tuple[Any, ...]:
        """The points, the roots √w of their weights, their matrices A and scales s: what kernels take."""
        return self._points, self._roots, self.matrices, np.exp(self.log_scales)

    def levels(self) -> Levels:
        """Return a snapshot of the levels."""
        roots = np.exp(0.5 * self.log_scales).astype(self.matrices.dtype)
        return self._start.replace(point_matrices=self.matrices * roots[:, None, None])

    def loss(self, batch: Batch) -> tuple[float, PairSlopes]:
        """Compute the mean loss of a batch, and its slope for each pair of a query and a neighbor."""
        distances = batch.epsilon + self._distances(batch.rows, batch.candidates, batch.axis_mask)
        near, distances = smallest(distances, batch.candidates, self._rule.n_neighbors)
        slopes = np.empty(near.shape)
        loss = _native.batch_loss(near, distances, batch.rows, self._targets, self._rule, slopes)
        pairs = _pairs_by_neighbor(near)
        distinct, starts = np.unique(near.ravel()[pairs], return_index=True)
        queries = batch.rows[pairs // near.shape[1]]
        starts = np.append(starts, len(pairs))
        return loss, PairSlopes(distinct, starts, queries, slopes.ravel()[pairs], batch.axis_mask)

    def _distances(self, rows: Indices, candidates: Indices, axis_mask: Floats) -> Floats:
        """Return the squared distances of each query to its candidates, infinite where there is none."""
        metric = self.metric
        neighbors, queries = candidates.ravel(), np.repeat(rows, candidates.shape[1])
        pairs = _pairs_by_neighbor(candidates)
        out = np.full(candidates.size, np.inf)
        map_blocks(
            lambda part: _native.matrix_pair_distances(
                pairs[part], queries, neighbors, axis_mask, *metric, out
            ),
            len(pairs), PAIR_BLOCK, n_jobs=self._settings.n_jobs,
        )  # fmt: skip
        return out.reshape(candidates.shape)

    def step(self, gradient: PairSlopes, rate: float, smoothing: float, neighbors: Indices) -> None:
        """Take one step against the gradient, smooth, and restore the bounds.

        Parameters
        ----------
        gradient : PairSlopes
            Of the mean loss of a batch.
        rate : float
            Step size of the matrices.
        smoothing : float
            Share of the parameters of a point that is replaced by those of its neighbors.
        neighbors : (n_points, k)
            Same-class neighbors; -1 for none.
        """
        self._n_steps += 1
        changed = gradient.neighbors
        by_scale = self._settings.alpha * self.log_scales
        by_scale[changed] += self._descend(gradient, rate)
        self._adam_scales.step(by_scale, rate * SCALE_RATE / MATRIX_RATE)
        if smoothing > 0:
            share = min(smoothing, 1.0)
            self.log_scales[:] = mix_with_neighbors(self.log_scales[:, None], neighbors, share)[:, 0]
            if self._n_steps % SMOOTHING_EVERY == 0:
                _native.mix_matrices(self.matrices, neighbors, 1.0 - (1.0 - share) ** SMOOTHING_EVERY)
                changed = np.arange(len(self.matrices))
        self._restore_bounds(changed)

    def _descend(self, pairs: PairSlopes, rate: float) -> Floats:
        """Take one step of the matrices of some points and return the gradients for their scales."""
        metric = self.metric
        # Few queries of a batch change a point, so its gradient counts as that of the sum over all rows.
        loss_factor = float(len(self.matrices))
        correction = 1.0 / (1.0 - MATRIX_DECAY**self._n_steps)
        options = (loss_factor, self._regularization, rate, MATRIX_DECAY, correction)
        by_scale = np.empty(len(pairs.neighbors))
        neighbors, starts, *rest = pairs

        def descend_block(part: slice) -> None:
            own_starts = starts[part.start : part.stop + 1]
            _native.descend(
                neighbors[part], own_starts, *rest, *metric, *options, self._second, by_scale[part]
            )

        map_blocks(descend_block, len(neighbors), POINT_BLOCK, n_jobs=self._settings.n_jobs)
        return by_scale

    def _restore_bounds(self, changed: Indices) -> None:
        """Scale all matrices so that the mean squared singular value of Ω is within e^±6."""
        _native.mean_squares(changed, self.matrices, self._squares)
        neutral = -np.log(np.maximum(self._squares, SMALLEST_SQUARE))
        lowest, highest = neutral - LARGEST_LOG_WEIGHT, neutral + LARGEST_LOG_WEIGHT
        np.clip(self.log_scales, lowest, highest, out=self.log_scales)


def _pairs_by_neighbor(neighbors: Indices) -> Indices:
    """Return the flat positions of all entries that are not -1, those of one neighbor together."""
    flat = neighbors.ravel()
    pairs = np.flatnonzero(flat >= 0)
    return pairs[np.argsort(flat[pairs], kind="stable")]
