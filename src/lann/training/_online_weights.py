"""One point at a time: its nearest neighbors are found, and their own metrics take a step.

The published method searches all points before every step. Here a block of points is searched at once, by
one matrix product, under the metrics as they were last lifted. A step changes a few metrics, most of them
little: as long as no weight of a point has shrunk below 9/10, neither has any distance to it. The few points
that shrank more are measured again before each step, and a bound on the rest proves that the neighbors are
the true ones (or else all points are measured). The result is that of the plain loop.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from lann._threads import single_threaded_blas
from lann._types import Floats, Indices
from lann.metrics import DiagonalMetric, distance, rounding_bound
from lann.search import ExactSearch, count_found, insert
from lann.training._settings import LARGEST_LOG_WEIGHT, Settings
from lann.vote import LOSSES, weighted_loss

# Points searched at once: more make the search faster and the list of shrunk points longer.
SMALLEST_BLOCK, LARGEST_BLOCK = 128, 2048
FEW_SHRUNK, MANY_SHRUNK = 64, 256
SPARE = 12
SLACK = 0.9
# A relative step changes no logarithm by more than this: 1/d explodes for near duplicates.
LARGEST_STEP = 0.5
TINY = np.finfo(np.float64).tiny


class OnlineLearner:
    """Point weights that learn from one query after another.

    Parameters
    ----------
    points : (n_points, n_features) on their curves
    labels : (n_points,)
    weights : (n_points, n_features), changed in place
    k, epsilon : neighbors of a query, and the guard for zero distances
    relative : steps on log w, none larger than 0.5; otherwise plain gradient steps on λ = √w
    """

    def __init__(
        self,
        points: Floats,
        labels: Indices,
        weights: Floats,
        n_classes: int,
        settings: Settings,
        *,
        k: int,
        epsilon: float,
        relative: bool,
    ) -> None:
        self.metric = DiagonalMetric(points, weights)
        self.labels = labels
        self._lifted_weights = self.metric.weights.copy()
        self._shrunk = np.zeros(len(points), np.bool_)
        self._rules = (
            k, epsilon, LOSSES[settings.loss], settings.power, settings.strength,
            settings.class_weights_of(n_classes), relative, settings.fixed_norm,
            settings.determinant,
        )  # fmt: skip
        self._smoothing = settings.smoothing
        self._n_jobs = settings.n_jobs
        self._block = LARGEST_BLOCK
        self._search: ExactSearch | None = None

    def one_pass(self, rows: Indices, candidates: Indices | None, rate: float, *, left: float = 1.0) -> float:
        """One step per row; its neighbors are found among its candidates (n_rows, C), or all points.

        Returns the mean loss. `left` is the part of the smoothing that is left, as training goes on; at 0,
        and a rate of 0, the pass only measures.
        """
        if candidates is None:
            return self.exhaustive_pass(rows, rate, left=left)
        return self.shortlist_pass(rows, candidates, rate, left=left)

    def exhaustive_pass(self, rows: Indices, rate: float, *, left: float = 1.0) -> float:
        """One step per row, its neighbors found among all points."""
        if self._search is None:
            self._lifted_weights[:] = self.metric.weights
            self._search = ExactSearch(DiagonalMetric(self.metric.points, self._lifted_weights))
        keep = min(self._rules[0] + 1 + SPARE, self.metric.n_points)
        total, start = 0.0, 0
        with single_threaded_blas():
            while start < len(rows):
                block = rows[start : start + self._block]
                start += len(block)
                queries = self.metric.points[block]
                lists, limits = self._search.shortlists(queries, keep, n_jobs=self._n_jobs)
                sizes, rounding = self._search.metric.rounding(queries, self._search.dtype)
                loss, shrunk = self._steps(block, lists, limits, sizes, rounding, True, rate, left)
                self._lifted_weights[shrunk] = self.metric.weights[shrunk]
                self._search.update(shrunk)
                total += loss
                if len(shrunk) > MANY_SHRUNK:
                    self._block = max(self._block // 2, SMALLEST_BLOCK)
                elif len(shrunk) < FEW_SHRUNK:
                    self._block = min(self._block * 2, LARGEST_BLOCK)
        return total / len(rows)

    def shortlist_pass(self, rows: Indices, candidates: Indices, rate: float, *, left: float = 1.0) -> float:
        """One step per row, its neighbors found among its own candidates (n_rows, C)."""
        self._search = None  # what was lifted is out of date afterwards
        nothing = np.zeros(len(rows))
        loss, _ = self._steps(rows, candidates, nothing, nothing, 0.0, False, rate, left)
        return loss / len(rows)

    def _steps(
        self, rows: Indices, lists: Indices, limits: Floats, sizes: Floats, rounding: float,
        exhaustive: bool, rate: float, left: float,
    ) -> tuple[float, Indices]:  # fmt: skip
        loss, n_shrunk, shrunk = _steps(
            rows, lists, limits, sizes, rounding, exhaustive, self.metric.points, self.labels,
            self.metric.weights, self._lifted_weights, self._shrunk, rate, *self._rules,
            left * self._smoothing,
        )  # fmt: skip
        shrunk = shrunk[:n_shrunk]
        self._shrunk[shrunk] = False
        return loss, shrunk


@njit(nogil=True, cache=True)
def _steps(
    rows, lists, limits, sizes, rounding, exhaustive, points, labels, weights, lifted_weights, shrunk, rate,
    k, epsilon, kind, power, strength, votes, relative, fixed_norm, determinant, smoothing,
):  # fmt: skip
    """Walk through the rows in order; returns the summed loss and the points whose weights shrank.

    lists : (n_rows, C) candidates of each row, -1 for none
    limits, sizes : (n_rows,) bound the distances, as lifted, to all points outside the list
    lifted_weights : (n_points, n_features) the weights those bounds hold for
    shrunk : (n_points,) all False at the start
    """
    n_rows = rows.shape[0]
    shrunk_list = np.empty(n_rows * k, np.int64)
    n_shrunk = 0
    near = np.empty(k, np.int64)
    near_labels = np.empty(k, np.int64)
    distances = np.empty(k)
    slopes = np.empty(k)
    total = 0.0
    for r in range(n_rows):
        i = rows[r]
        near[:] = -1
        distances[:] = np.inf
        for c in range(lists.shape[1]):
            j = lists[r, c]
            if j >= 0 and j != i and not (exhaustive and shrunk[j]):
                insert(distances, near, distance(points[i], points[j], weights[j]), j)
        if exhaustive:
            for c in range(n_shrunk):
                j = shrunk_list[c]
                if j != i:
                    insert(distances, near, distance(points[i], points[j], weights[j]), j)
            farthest = distances[k - 1] / SLACK
            if not limits[r] > farthest + rounding_bound(sizes[r], farthest, rounding):
                near[:] = -1
                distances[:] = np.inf
                for j in range(points.shape[0]):
                    if j != i:
                        insert(distances, near, distance(points[i], points[j], weights[j]), j)
        n_near = count_found(near)
        if n_near == 0:
            continue
        distances += epsilon
        near_labels[:n_near] = labels[near[:n_near]]
        total += weighted_loss(
            kind, distances, near_labels, labels[i], n_near, power, strength, votes, slopes
        )
        for slot in range(n_near):
            j = near[slot]
            _move(points[i], points[j], weights[j], rate * slopes[slot], relative, fixed_norm, determinant)
        if smoothing > 0.0:
            _mix_alike(near, near_labels, labels[i], n_near, weights, smoothing)
        for slot in range(n_near):
            j = near[slot]
            if exhaustive and not shrunk[j] and _has_shrunk(weights[j], lifted_weights[j]):
                shrunk[j] = True
                shrunk_list[n_shrunk] = j
                n_shrunk += 1
    return total, n_shrunk, shrunk_list


@njit(nogil=True, cache=True)
def _has_shrunk(weights, lifted_weights):
    lost = 0
    for f in range(weights.shape[0]):
        lost += weights[f] < SLACK * lifted_weights[f]
    return lost > 0


@njit(nogil=True, cache=True)
def _move(x, point, weights, step, relative, fixed_norm, determinant):
    """One gradient step on a point's weights, for ∂loss/∂d · rate = `step`, then the constraint."""
    n_features = x.shape[0]
    moved = np.empty(n_features)
    total = 0.0
    for f in range(n_features):
        squared = (x[f] - point[f]) ** 2
        if relative:
            change = -step * weights[f] * squared
            moved[f] = weights[f] * np.exp(min(max(change, -LARGEST_STEP), LARGEST_STEP))
        else:
            # λ − rate · ∂E/∂λ with ∂d/∂λ = 2 λ (x − p)²
            root = np.sqrt(weights[f]) * (1.0 - 2.0 * step * squared)
            moved[f] = root * root
        total += moved[f]
    if not (0.0 < total < np.inf):
        return
    scale = n_features / total if fixed_norm else 1.0
    if determinant:
        scale = np.exp(-np.mean(np.log(np.maximum(moved, TINY))))
    for f in range(n_features):
        weights[f] = moved[f] * scale
        if not fixed_norm:
            weights[f] = min(max(weights[f], np.exp(-LARGEST_LOG_WEIGHT)), np.exp(LARGEST_LOG_WEIGHT))


@njit(nogil=True, cache=True)
def _mix_alike(near, near_labels, label, n_near, weights, strength):
    """Mix the weights of the neighbors that have the query's label with their mean."""
    n_features = weights.shape[1]
    for f in range(n_features):
        mean = 0.0
        count = 0
        for slot in range(n_near):
            if near_labels[slot] == label:
                mean += weights[near[slot], f]
                count += 1
        if count > 1:
            mean /= count
            for slot in range(n_near):
                if near_labels[slot] == label:
                    j = near[slot]
                    weights[j, f] += strength * (mean - weights[j, f])
