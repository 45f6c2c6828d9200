"""The second stage: train the metric that each row owns, in batches, with the shared levels fixed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lann import _native
from lann._support.types import Floats, Indices
from lann.metric import Levels
from lann.search import CellIndex, CellSearch, coarse_search
from lann.training._candidates import (
    N_TYPICAL,
    QueryStream,
    is_significantly_better,
    same_class_candidates,
    weighted_errors,
)
from lann.training._loss import LARGEST_LOG_WEIGHT, NOT_NEEDED, Adam, Batch, Settings, mix_with_neighbors
from lann.training._point_matrices import PointMatrices
from lann.training._procedure import BATCHES_PER_EPOCH, Stage
from lann.vote import zero_distance_guard


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
        self._rule = settings.loss_rule(levels)
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
        self._gradient[:] = 0.0
        loss = _native.loss_and_gradients(
            *batch, self._points, self._weights, self._owners, self._targets, self._rule, self._gradient,
            NOT_NEEDED,
        )  # fmt: skip
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


BATCH_SIZE = 512
N_SMOOTHING_NEIGHBORS = 5


class PointStage(Stage):
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
        super().__init__(levels, settings, n_epochs, validation_rows, rng)
        self.index = index
        self._selection_rows = selection_rows if n_epochs > 1 else selection_rows[:0]
        self._selection_epoch = math.ceil(n_epochs / 2) if len(self._selection_rows) > 0 else n_epochs
        all_rows = np.arange(len(levels.X))
        self._own = all_rows if own is None else own
        self._learned = self._own if settings.form == "diagonal" else all_rows
        self._draw_queries()
        self._search_candidates()
        if settings.form == "diagonal":
            self.parameters = PointWeights(levels, settings, self._learned)
        else:
            self.parameters = PointMatrices(levels, settings)
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
        search = coarse_search(metric, len(rows)) if self.index is None else CellSearch(metric, self.index)
        queries, k = metric.points[rows], min(settings.n_candidates, metric.n_points - 1)
        self._candidates, distances = search.query(queries, k, exclude=rows, n_jobs=settings.n_jobs)
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

    def _draw_batch(self, number: int) -> Batch:
        first = number * self._batch_size
        batch = self._batch_of(self._queries[first : first + self._batch_size])
        dropped = self._rng.random(batch.candidates.shape) < self._settings.candidate_dropout
        candidates = np.where(dropped, -1, batch.candidates)
        return batch._replace(candidates=candidates, axis_mask=self._draw_axis_mask(len(batch.axis_mask)))

    def _batch_of(self, rows: Indices) -> Batch:
        n_axes = self._start.class_log_weights.shape[1]
        return Batch(rows, self._candidates[self._position[rows]], np.ones(n_axes), self._epsilon)

    def _step(self, gradient: Any, remaining: float) -> None:
        # The smoothing falls with the rate, or it would undo in the end what was learned.
        smoothing = self._settings.smoothing * remaining
        self.parameters.step(gradient, self._rate * remaining, smoothing, self._neighbors)

    def levels(self) -> Levels:
        if self.dropped_levels:
            without = np.zeros_like(self._start.point_log_weights)
            return self._start.replace(point_log_weights=without, point_matrices=None)
        return self.parameters.levels()

    def _is_harmful(self) -> bool:
        """Return whether the selection rows are classified better without point metrics."""
        rows, targets = self._selection_rows, self._settings.targets(self._start)
        without, with_point_metrics = (
            weighted_errors(metric, targets, rows, self._batch_of(rows).candidates)
            for metric in (self._start.class_metric(), self.parameters.levels().local_metric())
        )
        return is_significantly_better(without, with_point_metrics)
