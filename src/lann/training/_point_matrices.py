"""The second stage with matrices: every point's own Ω, with all that points share frozen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lann._threads import map_blocks
from lann._types import Floats, Indices
from lann.metrics import Levels
from lann.search import smallest
from lann.training._adam import Adam
from lann.training._kernels import mix_with_neighbors
from lann.training._matrix_kernels import descend, mean_squares, measure, mix_in_turn
from lann.training._point_weights import run_stage
from lann.training._run import Run
from lann.training._settings import LARGEST_LOG_WEIGHT, Settings, restraint
from lann.vote import LOSSES, losses

# Of A, relative to a matrix of ones on the diagonal; and of the scales, as of the weights.
RATE, SCALE_RATE = 0.06, 0.03
DECAY = 0.99
# Of a matrix, relative to that of weights.
PENALTY = 0.5
# A smoothing reads all matrices, so there is one for every ten steps.
SMOOTHING_EVERY = 10
# From so many numbers on, matrices are learned and kept in float32.
SINGLE_FROM = 2**24
# A matrix that vanishes is not stretched beyond this.
SMALLEST_SQUARE = 1e-30
# Pairs, and points, that a thread takes at once.
PAIR_BLOCK, POINT_BLOCK = 1024, 128


def starting_maps(levels: Levels) -> NDArray:
    """The points' matrices: those they have, or else I for all."""
    if levels.point_matrices is not None:
        return levels.point_matrices
    n_points, n_axes = levels.point_log_weights.shape
    dtype = np.float32 if n_points * n_axes**2 > SINGLE_FROM else np.float64
    return np.broadcast_to(np.eye(n_axes, dtype=dtype), (n_points, n_axes, n_axes))


class Pull(NamedTuple):
    """A batch's pairs of query and neighbor, those of a neighbor together, and the loss' slope for each."""

    touched: Indices  # (n_touched,) the neighbors
    starts: Indices  # (n_touched + 1,) where the pairs of each begin
    queries: Indices  # (n_pairs,)
    slopes: Floats  # (n_pairs,) ∂loss/∂d
    axes: Floats  # (n_axes,) 1, or 0 for an axis dropped from this batch


class MatrixStage:
    """Each point's matrix Ω_j = √s_j A_j: a scale (how far it reaches) and how it turns and stretches."""

    def __init__(self, levels: Levels, settings: Settings) -> None:
        self.settings = settings
        self.start = levels
        self.points = levels.points
        self._roots = np.sqrt(levels.weights)
        self.votes = settings.class_weights_of(len(levels.class_log_weights))
        self.maps = starting_maps(levels).copy()
        n_points = len(self.maps)
        self.log_scales = np.zeros(n_points)
        self._adam_scales = Adam(self.log_scales)
        self._second = np.zeros(n_points)
        self._n_steps = 0
        self._sizes = np.empty(n_points)
        self._bound(np.arange(n_points))
        self._restraint = PENALTY * settings.alpha * restraint(n_points)

    def levels(self) -> Levels:
        stretch = np.exp(0.5 * self.log_scales).astype(self.maps.dtype)
        return self.start.replace(point_matrices=self.maps * stretch[:, None, None])

    def loss(
        self, rows: Indices, candidates: Indices, alive: NDArray, scales: Floats, epsilon: float
    ) -> tuple[float, Pull]:
        """The mean loss of a batch, and the slopes that pull at its neighbors' matrices."""
        settings, labels = self.settings, self.start.labels
        candidates = np.where(alive, candidates, -1)
        distances = epsilon + self._measure(rows, candidates, scales)
        near, distances = smallest(distances, candidates, settings.n_neighbors)
        counts = np.sum(near >= 0, axis=1)
        loss, slopes = losses(
            LOSSES[settings.loss], distances, labels[near], labels[rows], counts,
            settings.power, settings.strength, self.votes,
        )  # fmt: skip
        slopes /= len(rows)
        pairs = np.flatnonzero(near >= 0)
        pairs = pairs[np.argsort(near.ravel()[pairs], kind="stable")]
        touched, starts = np.unique(near.ravel()[pairs], return_index=True)
        queries = rows[pairs // near.shape[1]]
        return loss, Pull(touched, np.append(starts, len(pairs)), queries, slopes.ravel()[pairs], scales)

    def _measure(self, rows: Indices, candidates: Indices, axes: Floats) -> Floats:
        """Distances to the candidates that there are: (n_queries, n_candidates)."""
        owners, queries = candidates.ravel(), np.repeat(rows, candidates.shape[1])
        pairs = np.flatnonzero(owners >= 0)
        pairs = pairs[np.argsort(owners[pairs], kind="stable")]
        out = np.full(candidates.size, np.inf)
        scales = np.exp(self.log_scales)
        map_blocks(
            lambda part: measure(
                pairs[part], queries, owners, axes, self.points, self._roots, self.maps, scales, out
            ),
            len(pairs), PAIR_BLOCK, n_jobs=self.settings.n_jobs,
        )  # fmt: skip
        return out.reshape(candidates.shape)

    def step(self, pull: Pull, rate: float, smoothing: float, neighbors: Indices) -> None:
        self._n_steps += 1
        correction = 1.0 / (1.0 - DECAY**self._n_steps)
        # A point is touched by few queries, so its gradient counts as much as that of a whole data set.
        weight = float(len(self.maps))
        scales = np.exp(self.log_scales)

        def descend_some(part: slice) -> Floats:
            some = pull.touched[part]
            return descend(
                some, pull.starts[part.start : part.stop + 1], pull.queries, pull.slopes, pull.axes,
                self.points, self._roots, self.maps, scales, weight, self._restraint, self._pulled(some),
                rate, DECAY, correction, self._second,
            )  # fmt: skip

        by_scale = map_blocks(descend_some, len(pull.touched), POINT_BLOCK, n_jobs=self.settings.n_jobs)
        gradient = self.settings.alpha * self.log_scales
        gradient[pull.touched] += np.concatenate([np.empty(0), *by_scale])
        self._adam_scales.step(gradient, rate * SCALE_RATE / RATE)
        moved = pull.touched
        if smoothing > 0 and self._smooth(min(smoothing, 1.0), neighbors):
            moved = np.arange(len(self.maps))
        self._bound(moved)

    def _pulled(self, rows: Indices) -> Floats:
        """Where the penalty pulls some points' A: empty for I, the start."""
        if not self.settings.determinant:
            return np.empty((0, 0, 0))
        return -determinant_pull(self.maps[rows].astype(np.float64, copy=False))

    def _smooth(self, strength: float, neighbors: Indices) -> bool:
        """Mix scales and, if it is their turn, matrices with those of like neighbors; whether it was."""
        mixed = mix_with_neighbors(self.log_scales[:, None], neighbors, strength)
        self.log_scales[:] = mixed[:, 0]
        due = self._n_steps % SMOOTHING_EVERY == 0
        if due:
            mix_in_turn(self.maps, neighbors, 1.0 - (1.0 - strength) ** SMOOTHING_EVERY)
        return due

    def _bound(self, moved: Indices) -> None:
        """A trace of Λ equal to the number of axes, or a mean square singular value of Ω within e^±6."""
        fixed = self.settings.fixed_norm
        weights = np.square(self._roots) if fixed else np.ones(self._roots.shape)
        mean_squares(moved, self.maps, weights, self._sizes)
        needed = -np.log(np.maximum(self._sizes, SMALLEST_SQUARE))
        if fixed:
            self.log_scales[:] = needed
        else:
            np.clip(
                self.log_scales, needed - LARGEST_LOG_WEIGHT, needed + LARGEST_LOG_WEIGHT, out=self.log_scales
            )


def determinant_pull(maps: Floats) -> Floats:
    """The gradient of −½ log det(ΩᵀΩ) for each Ω, −Ω(ΩᵀΩ)⁻¹: as maps, (n, n_axes, rank).

    A direction narrower than some ten-millionth of the others counts as lost, and is pulled ever less.
    """
    gram = np.matmul(maps.swapaxes(1, 2), maps)  # (n, rank, rank)
    rank = maps.shape[2]
    ridge = 1e-13 * np.trace(gram, axis1=1, axis2=2) / rank + SMALLEST_SQUARE
    gram[:, np.arange(rank), np.arange(rank)] += ridge[:, None]
    return -np.asarray(np.linalg.solve(gram, maps.swapaxes(1, 2)), np.float64).swapaxes(1, 2)


def learn_matrices(levels: Levels, settings: Settings, run: Run) -> Levels:
    """Learn the points' own matrices; they start from those of `levels`, or from I."""
    rate = 1.2 * settings.learning_rate if settings.learning_rate else RATE
    return run_stage(MatrixStage(levels, settings), "point matrices", rate, levels, settings, run)
