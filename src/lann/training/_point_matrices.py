"""Point metrics as matrices: the matrix that each row owns, with its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from lann._threads import map_blocks
from lann._types import Floats, Indices
from lann.metrics import Levels
from lann.search import smallest
from lann.training._adam import Adam
from lann.training._initial_matrices import initial_matrices
from lann.training._kernels import Batch, mix_with_neighbors
from lann.training._loss import Neighbors, batch_loss
from lann.training._matrix_kernels import (
    Descent,
    MatrixPoints,
    PairSlopes,
    descend,
    mix_matrices,
    pair_distances,
    write_mean_squares,
)
from lann.training._settings import LARGEST_LOG_WEIGHT, Settings, regularization_factor

# Decay of the second moments.
DECAY = 0.99
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
        self._rule = settings.loss_rule(len(levels.class_log_weights))
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
    def metric(self) -> MatrixPoints:
        """The points and their matrices, as kernels take them."""
        return MatrixPoints(self._points, self._roots, self.matrices, np.exp(self.log_scales))

    def _plain_metric(self) -> tuple[Any, ...]:
        # numba recognizes plain tuples faster than named ones, and blocks are small.
        return tuple(self.metric)

    def levels(self) -> Levels:
        """Return a snapshot of the levels."""
        roots = np.exp(0.5 * self.log_scales).astype(self.matrices.dtype)
        return self._start.replace(point_matrices=self.matrices * roots[:, None, None])

    def loss(self, batch: Batch) -> tuple[float, PairSlopes]:
        """Compute the mean loss of a batch, and its slope for each pair of a query and a neighbor."""
        candidates = np.where(batch.kept, batch.candidates, -1)
        distances = batch.epsilon + self._distances(batch.rows, candidates, batch.axis_mask)
        near, distances = smallest(distances, candidates, self._rule.n_neighbors)
        neighbors = Neighbors(near, distances, np.sum(near >= 0, axis=1))
        loss, slopes = batch_loss(neighbors, batch.rows, self._targets, self._rule)
        pairs = _pairs_by_neighbor(near)
        distinct, starts = np.unique(near.ravel()[pairs], return_index=True)
        queries = batch.rows[pairs // near.shape[1]]
        starts = np.append(starts, len(pairs))
        return loss, PairSlopes(distinct, starts, queries, slopes.ravel()[pairs], batch.axis_mask)

    def _distances(self, rows: Indices, candidates: Indices, axis_mask: Floats) -> Floats:
        """Return the squared distances of each query to its candidates, infinite where there is none."""
        metric = self._plain_metric()
        neighbors, queries = candidates.ravel(), np.repeat(rows, candidates.shape[1])
        pairs = _pairs_by_neighbor(candidates)
        out = np.full(candidates.size, np.inf)
        map_blocks(
            lambda part: pair_distances(pairs[part], queries, neighbors, axis_mask, metric, out),
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
                mix_matrices(self.matrices, neighbors, 1.0 - (1.0 - share) ** SMOOTHING_EVERY)
                changed = np.arange(len(self.matrices))
        self._restore_bounds(changed)

    def _descend(self, pairs: PairSlopes, rate: float) -> Floats:
        """Take one step of the matrices of some points and return the gradients for their scales."""
        metric = self._plain_metric()
        # Few queries of a batch change a point, so its gradient counts as that of the sum over all rows.
        loss_factor = float(len(self.matrices))
        correction = 1.0 / (1.0 - DECAY**self._n_steps)
        descent = tuple(Descent(loss_factor, self._regularization, rate, DECAY, correction))
        neighbors, starts, *rest = pairs

        def descend_block(part: slice) -> Floats:
            block = (neighbors[part], starts[part.start : part.stop + 1], *rest)
            return descend(block, metric, descent, self._second)

        by_scale = map_blocks(descend_block, len(neighbors), POINT_BLOCK, n_jobs=self._settings.n_jobs)
        return np.concatenate([np.empty(0), *by_scale])

    def _restore_bounds(self, changed: Indices) -> None:
        """Scale all matrices so that the mean squared singular value of Ω is within e^±6."""
        write_mean_squares(changed, self.matrices, self._squares)
        neutral = -np.log(np.maximum(self._squares, SMALLEST_SQUARE))
        lowest, highest = neutral - LARGEST_LOG_WEIGHT, neutral + LARGEST_LOG_WEIGHT
        np.clip(self.log_scales, lowest, highest, out=self.log_scales)


def _pairs_by_neighbor(neighbors: Indices) -> Indices:
    """Return the flat positions of all entries that are not -1, those of one neighbor together."""
    flat = neighbors.ravel()
    pairs = np.flatnonzero(flat >= 0)
    return pairs[np.argsort(flat[pairs], kind="stable")]
