"""The second stage: train the metric that each row owns, in batches, with the shared levels fixed.

A point metric is a weight per axis (`PointWeights`) or a matrix (`PointMatrices`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lann._support.threads import map_blocks
from lann._support.types import Floats, Indices
from lann.metric import DiagonalMetric, Levels, MatrixMetric, project, squared_norm
from lann.search import CellIndex, CellSearch, ExactSearch, coarse_search, smallest
from lann.training._candidates import (
    N_TYPICAL,
    QueryStream,
    draw_axis_mask,
    is_significantly_better,
    query_other_points,
    same_class_candidates,
    weighted_errors,
)
from lann.training._initial import initial_matrices
from lann.training._loss import (
    LARGEST_LOG_WEIGHT,
    NOT_NEEDED,
    Adam,
    Batch,
    Neighbors,
    Settings,
    WeightedPoints,
    batch_loss,
    loss_and_gradients,
    mix_with_neighbors,
    regularization_factor,
)
from lann.vote import HUGE, zero_distance_guard


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


class MatrixPoints(NamedTuple):
    """Points and the matrices with which they measure.

    Attributes
    ----------
    points : (n_points, n_axes)
    roots : (n_points, n_axes)
        √w, the roots of the weights.
    matrices : (n_points, n_axes, rank)
        A.
    scales : (n_points,)
        s.
    """

    points: Floats
    roots: Floats
    matrices: NDArray
    scales: Floats


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


@njit(nogil=True, cache=True)
def pair_distances(pairs, queries, neighbors, axis_mask, metric, out):
    """Write the squared distance of some pairs, d = s ‖Aᵀ u‖², to `out`.

    pairs : (n,) entries of the following arrays, those of one neighbor together
    queries, neighbors, out : (n_pairs,)
    axis_mask : (n_axes,); metric : MatrixPoints
    """
    points, roots, matrices, scales = metric
    n_axes, rank = matrices.shape[1:]
    step, projected = np.empty(n_axes), np.empty(rank)
    for pair in pairs:
        j = neighbors[pair]
        weighted_step(points[j], points[queries[pair]], roots[j], axis_mask, step)
        project(step, matrices[j], projected)
        out[pair] = scales[j] * squared_norm(projected)


@njit(nogil=True, cache=True)
def weighted_step(point, query, roots, axis_mask, step):
    """Write u = √w ⊙ (point − query), 0 for axes that are dropped, to `step`; all arrays are (n_axes,)."""
    for a in range(step.shape[0]):
        step[a] = roots[a] * axis_mask[a] * (point[a] - query[a])


@njit(nogil=True, cache=True)
def matrix_gradient(number, pairs, metric, out):
    """Write ∂loss/∂A = Σ 2 s · slope · u (Aᵀu)ᵀ of one neighbor to `out` and return ∂loss/∂log s.

    number : position of the neighbor; pairs : PairSlopes; metric : MatrixPoints; out : (n_axes, rank)
    """
    neighbors, starts, queries, slopes, axis_mask = pairs
    points, roots, matrices, scales = metric
    j = neighbors[number]
    own, scale = matrices[j], scales[j]
    n_axes, rank = own.shape
    step, projected = np.empty(n_axes), np.empty(rank)
    by_scale = 0.0
    out[:] = 0.0
    for pair in range(starts[number], starts[number + 1]):
        weighted_step(points[j], points[queries[pair]], roots[j], axis_mask, step)
        project(step, own, projected)
        by_scale += slopes[pair] * scale * squared_norm(projected)
        slope = 2.0 * scale * slopes[pair]
        for a in range(n_axes):
            change, row = slope * step[a], out[a]
            for r in range(rank):
                row[r] += change * projected[r]
    return by_scale


@njit(nogil=True, cache=True)
def descend(pairs, metric, descent, second):
    """Take one step of the A of each neighbor and return the gradients for log s, (n_neighbors,).

    pairs : PairSlopes; metric : MatrixPoints, matrices changed in place;
    descent : factor of the gradient of the loss, factor of the penalty ½ ‖A − I‖², step size, decay of the
        second moments, and the correction of their bias
    second : (n_points,) second moments, changed in place
    """
    neighbors, matrices = pairs[0], metric[2]
    loss_factor, regularization = descent[:2]
    n_axes, rank = matrices.shape[1:]
    gradient = np.empty((n_axes, rank))
    by_scale = np.empty(neighbors.shape[0])
    for number in range(neighbors.shape[0]):
        j = neighbors[number]
        own = matrices[j]
        by_scale[number] = loss_factor * matrix_gradient(number, pairs, metric, gradient)
        for a in range(n_axes):
            row, own_row = gradient[a], own[a]
            for r in range(rank):
                row[r] = loss_factor * row[r] + regularization * own_row[r]
            if a < rank:
                row[a] -= regularization
        _take_step(own, gradient, descent, second, j)
    return by_scale


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _take_step(own, gradient, descent, second, j):
    """Take one step of the A of point j.

    Its entries share one second moment, the mean over the axes of the squared gradient: a direction that
    hardly matters hardly changes, and only A itself takes memory.
    """
    rate, decay, correction = descent[2:]
    n_axes, rank = own.shape
    size = squared_norm(gradient.ravel()) / n_axes
    if not size < HUGE:
        return
    second[j] += (1.0 - decay) * (size - second[j])
    length = rate / (np.sqrt(second[j] * correction) + 1e-4)
    for a in range(n_axes):
        row, own_row = gradient[a], own[a]
        for r in range(rank):
            own_row[r] -= length * row[r]


@njit(nogil=True, cache=True)
def write_mean_squares(rows, matrices, out):
    """Write Σ A² / n_axes, the mean squared singular value, of some points to `out` (n_points,)."""
    n_axes = matrices.shape[1]
    for j in rows:
        total = 0.0
        for a in range(n_axes):
            total += squared_norm(matrices[j, a])
        out[j] = total / n_axes


@njit(nogil=True, cache=True)
def mix_matrices(matrices, neighbors, share):
    """Replace a share of each matrix by the mean of its neighbors, one after another, in place.

    neighbors : (n_points, k), -1 for none
    """
    n_axes, rank = matrices.shape[1:]
    for i in range(matrices.shape[0]):
        count = np.sum(neighbors[i] >= 0)
        if count == 0:
            continue
        each = share / count
        for a in range(n_axes):
            own = matrices[i, a]
            for r in range(rank):
                own[r] *= 1.0 - share
            for j in neighbors[i]:
                if j >= 0:
                    other = matrices[j, a]
                    for r in range(rank):
                        own[r] += each * other[r]


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
        correction = 1.0 / (1.0 - MATRIX_DECAY**self._n_steps)
        descent = (loss_factor, self._regularization, rate, MATRIX_DECAY, correction)
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


BATCH_SIZE = 512
BATCHES_PER_EPOCH = 50
N_SMOOTHING_NEIGHBORS = 5


class PointStage:
    """Training of the point metrics, at a rate that falls to 0.

    The candidates are those under the class metrics. The selection rows are no queries in the first half of
    the epochs; if more of them are misclassified with point metrics than without by then, the level is
    dropped and the stage ends.

    Parameters
    ----------
    levels : Levels
        Initial values; the shared levels stay as they are.
    settings : Settings
    n_epochs : int
    validation_rows : (n,)
        Rows for early stopping, which are no queries.
    selection_rows : (n,)
        Other rows, which decide whether point metrics help.
    rng : Generator
    own : (n_own,) or None
        Rows that are queries, ascending; the others are candidates only. Weights are learned for these rows,
        matrices for all. None is all.
    index : CellIndex or None
        The cells of the rows under the class metrics, if they are known.

    Attributes
    ----------
    index : CellIndex or None
        The cells under the class metrics in which the candidates were searched, if there were any.
    """

    def __init__(
        self,
        levels: Levels,
        settings: Settings,
        n_epochs: int,
        validation_rows: Indices,
        selection_rows: Indices,
        rng: np.random.Generator,
        *,
        own: Indices | None = None,
        index: CellIndex | None = None,
    ) -> None:
        self.n_epochs, self.index = n_epochs, index
        self.dropped_levels: list[str] = []
        self._start, self._settings, self._rng = levels, settings, rng
        self._widths = None if levels.encoding.is_numeric else levels.encoding.n_axes_of_features
        self._validation_rows = validation_rows
        self._selection_rows = selection_rows if n_epochs > 1 else selection_rows[:0]
        self._selection_epoch = math.ceil(n_epochs / 2) if len(self._selection_rows) > 0 else n_epochs
        all_rows = np.arange(len(levels.X))
        self._own = all_rows if own is None else own
        self._learned = self._own if settings.form == "diagonal" else all_rows
        self._draw_queries()
        self._search_candidates()
        self.parameters: Any = (
            PointWeights(levels, settings, self._learned)
            if settings.form == "diagonal"
            else PointMatrices(levels, settings)
        )
        self.name = self.parameters.name
        self._rate = self.parameters.relative_rate * settings.learning_rate

    def _draw_queries(self) -> None:
        """Draw the queries of all epochs."""
        rows = np.setdiff1d(self._own, self._validation_rows)
        first_rows = np.setdiff1d(rows, self._selection_rows)
        self._batch_size = min(BATCH_SIZE, len(first_rows))
        per_epoch = BATCHES_PER_EPOCH * self._batch_size
        first = QueryStream(first_rows, self._rng).take(self._selection_epoch * per_epoch)
        then = QueryStream(rows, self._rng).take((self.n_epochs - self._selection_epoch) * per_epoch)
        self._queries = np.concatenate([first, then])

    def _search_candidates(self) -> None:
        """Search the candidates of all rows that are used, and the neighbors to smooth with."""
        labels, settings = self._start.labels, self._settings
        rows = np.unique(np.concatenate([self._queries, self._selection_rows, self._validation_rows]))
        metric = self._start.class_metric()
        if self.index is None:
            search: ExactSearch | CellSearch = coarse_search(metric, len(rows))
        else:
            search = CellSearch(metric, self.index)
        self._candidates, distances = query_other_points(
            search, rows, settings.n_candidates, n_jobs=settings.n_jobs
        )
        self.index = search.index if isinstance(search, CellSearch) else None
        self._epsilon = zero_distance_guard(distances[:, :N_TYPICAL])
        self._position = np.full(len(labels), -1)
        self._position[rows] = np.arange(len(rows))
        number = np.full(len(labels) + 1, -1)  # among the rows that learn; the last entry is for none
        number[self._learned] = np.arange(len(self._learned))
        learning = np.where(number[self._candidates] >= 0, self._candidates, -1)
        same = same_class_candidates(labels, rows, learning, N_SMOOTHING_NEIGHBORS)
        self._neighbors = np.full((len(self._learned), N_SMOOTHING_NEIGHBORS), -1)
        self._neighbors[number[rows]] = number[same]

    def prepare_epoch(self, epoch: int) -> bool:
        if epoch == self._selection_epoch and self._is_harmful():
            self.dropped_levels.append("point")
        return not self.dropped_levels

    def train_epoch(self, epoch: int) -> float:
        settings, rng, n_axes = self._settings, self._rng, self._start.class_log_weights.shape[1]
        total = 0.0
        for number in range(BATCHES_PER_EPOCH):
            first = (epoch * BATCHES_PER_EPOCH + number) * self._batch_size
            rows = self._queries[first : first + self._batch_size]
            candidates = self._candidates_of(rows)
            kept = rng.random(candidates.shape) >= settings.candidate_dropout
            mask = draw_axis_mask(n_axes, settings.feature_dropout, rng, widths=self._widths)
            loss, gradient = self.parameters.loss(Batch(rows, candidates, kept, mask, self._epsilon))
            # The smoothing falls with the rate, or it would undo in the end what was learned.
            remaining = 1.0 - first / len(self._queries)
            self.parameters.step(
                gradient, self._rate * remaining, settings.smoothing * remaining, self._neighbors
            )
            total += loss
        return total / BATCHES_PER_EPOCH

    def validation_loss(self) -> float | None:
        if len(self._validation_rows) == 0:
            return None
        rows, n_axes = self._validation_rows, self._start.class_log_weights.shape[1]
        batch = Batch.without_dropout(rows, self._candidates_of(rows), n_axes, self._epsilon)
        return self.parameters.loss(batch)[0]

    def levels(self) -> Levels:
        if self.dropped_levels:
            without = np.zeros_like(self._start.point_log_weights)
            return self._start.replace(point_log_weights=without, point_matrices=None)
        return self.parameters.levels()

    def _candidates_of(self, rows: Indices) -> Indices:
        return self._candidates[self._position[rows]]

    def _is_harmful(self) -> bool:
        """Return whether the selection rows are classified better without point metrics."""
        without, with_point_metrics = (
            self._selection_errors(metric)
            for metric in (self._start.class_metric(), self.parameters.levels().local_metric())
        )
        return is_significantly_better(without, with_point_metrics)

    def _selection_errors(self, metric: DiagonalMetric | MatrixMetric) -> Floats:
        rows, targets = self._selection_rows, self._settings.targets(self._start)
        return weighted_errors(metric, targets, rows, self._candidates_of(rows))
