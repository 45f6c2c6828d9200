"""Online updates of point weights: find the neighbors of one query, then take a step on their weights.

The published algorithm searches all points before every step. Here a block of queries is searched at once, by
one lifted product, under the weights as they were last lifted. A step changes few weights, most of them
little: as long as no weight of a point has decreased below 9/10, neither has any distance to it. The few
points with a larger decrease are measured again before each step, and a bound on the others proves that the
neighbors are the true ones (otherwise all points are measured). The result is that of the plain loop.

The bounded steps of `partial_fit`, which have few candidates, are here, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lann._support.threads import single_threaded_blas
from lann._support.types import Floats, Indices, Labels
from lann.metric import DiagonalMetric, Levels, distance, rounding_bound
from lann.search import ExactSearch, count_found, insert
from lann.training._loss import LARGEST_LOG_WEIGHT, LossRule, Targets
from lann.vote import weighted_loss


class Nearest(NamedTuple):
    """Buffers for the neighbors of one query: (k,) each.

    Attributes
    ----------
    indices, distances
        Nearest first; -1 and infinite where there are fewer. The loss changes the distances.
    labels, weights, slopes
        Class indices, weights of the votes, and ∂loss/∂d, as far as there are neighbors.
    """

    indices: Indices
    distances: Floats
    labels: Labels
    weights: Floats
    slopes: Floats


@njit(nogil=True, cache=True)
def new_nearest(k):
    """Return buffers for the k neighbors of a query: a `Nearest`."""
    return Nearest(np.empty(k, np.int64), np.empty(k), np.empty(k, np.int64), np.empty(k), np.empty(k))


@njit(nogil=True, cache=True)
def clear(nearest):
    """Remove all neighbors."""
    nearest.indices[:] = -1
    nearest.distances[:] = np.inf


@njit(nogil=True, cache=True)
def query_loss(nearest, targets, query, epsilon, rule):
    """Compute the loss of one query and its slopes, which are written; return it and the number of neighbors.

    nearest : Nearest; targets : Targets; query : the point that is the query; rule : LossRule
    """
    n_near = count_found(nearest.indices)
    if n_near == 0:
        return 0.0, 0
    distances = nearest.distances
    distances += epsilon
    labels, weights = targets
    nearest.labels[:n_near] = labels[nearest.indices[:n_near]]
    nearest.weights[:n_near] = weights[nearest.indices[:n_near]]
    loss = weighted_loss(
        rule, distances, nearest.labels, labels[query], n_near, nearest.weights, weights[query],
        nearest.slopes,
    )  # fmt: skip
    return loss, n_near


# Number of queries that are searched at once: more make the search faster, and more points decrease.
SMALLEST_BLOCK, LARGEST_BLOCK = 128, 2048
FEW_DECREASED, MANY_DECREASED = 64, 256
# Number of candidates beyond the neighbors.
SPARE = 12
# Up to this factor, a decrease of a weight is covered by the bound.
SLACK = 0.9
# A relative step changes no log weight by more than this: 1/d explodes for near duplicates.
LARGEST_STEP = 0.5
TINY = np.finfo(np.float64).tiny
NORM, DETERMINANT, BOUNDED = 0, 1, 2
CONSTRAINTS = {"norm": NORM, "determinant": DETERMINANT, "bounded": BOUNDED}


class OnlinePoints(NamedTuple):
    """Points that are trained online.

    Attributes
    ----------
    points : (n_points, n_axes)
    targets : Targets
    weights : (n_points, n_axes)
        Changed in place.
    """

    points: Floats
    targets: Targets
    weights: Floats


class _BlockSearch(NamedTuple):
    """The search of a block of queries, and what has changed since.

    rows : (n_rows,) points that are the queries
    candidates : (n_rows, n_candidates) points, -1 for none
    limits, sizes, rounding : (n_rows,), (n_rows,) and a number that bound the distances to all other points:
        see `ExactSearch.shortlists` and `DiagonalMetric.rounding`
    lifted_weights : (n_points, n_axes) for which these bounds hold
    decreased : (n_points,) all False; afterwards True for points whose weights have decreased
    """

    rows: Indices
    candidates: Indices
    limits: Floats
    sizes: Floats
    rounding: float
    lifted_weights: Floats
    decreased: NDArray[np.bool_]


class OnlineWeights:
    """Point weights that are trained by the published steps, with neighbors among all points.

    Parameters
    ----------
    levels : Levels
        Initial values.
    rule : LossRule
    epsilon : float
        ε, which is added to every squared distance.
    constraint : {"norm", "determinant", "bounded"}
        Restored after every step.
    n_jobs : int or None
        Number of threads.

    Attributes
    ----------
    metric : DiagonalMetric
        The points and their weights, which are changed in place.
    """

    name = "point weights"

    def __init__(
        self, levels: Levels, rule: LossRule, epsilon: float, constraint: str, *, n_jobs: int | None = None
    ) -> None:
        self._start = levels
        self.metric = DiagonalMetric(levels.points, levels.weights)
        self._rule, self._epsilon, self._targets = rule, epsilon, Targets.equal(levels.labels)
        self._constraint = CONSTRAINTS[constraint]
        self._n_jobs = n_jobs
        self._decreased = np.zeros(len(levels.X), np.bool_)
        self._block = LARGEST_BLOCK
        # The weights as they were last lifted, in an array of their own.
        self._lifted = DiagonalMetric(self.metric.points, self.metric.weights.copy())
        self._search = ExactSearch(self._lifted)

    def levels(self) -> Levels:
        """Return a snapshot of the levels."""
        return with_weights(self._start, self.metric.weights)

    def train_pass(self, rows: Indices, rate: float) -> float:
        """Take one step for each row, in order, and return the mean loss."""
        total, start = 0.0, 0
        with single_threaded_blas():
            while start < len(rows):
                block = rows[start : start + self._block]
                start += len(block)
                total += self._train_block(block, rate)
        return total / len(rows)

    def _train_block(self, rows: Indices, rate: float) -> float:
        """Search a block of queries, take the steps and update the search; return the total loss."""
        metric, lifted, search = self.metric, self._lifted, self._search
        queries = metric.points[rows]
        keep = min(self._rule.n_neighbors + 1 + SPARE, metric.n_points)
        candidates, limits = search.shortlists(queries, keep, n_jobs=self._n_jobs)
        sizes, rounding = lifted.rounding(queries, search.dtype)
        written = np.empty(len(rows) * self._rule.n_neighbors, np.int64)
        loss, n_decreased = _published_steps(
            _BlockSearch(rows, candidates, limits, sizes, rounding, lifted.weights, self._decreased),
            OnlinePoints(metric.points, self._targets, metric.weights),
            self._rule, self._epsilon, self._constraint, rate, written,
        )  # fmt: skip
        decreased = written[:n_decreased]
        self._decreased[decreased] = False
        lifted.weights[decreased] = metric.weights[decreased]
        search.update(decreased)
        if len(decreased) > MANY_DECREASED:
            self._block = max(self._block // 2, SMALLEST_BLOCK)
        elif len(decreased) < FEW_DECREASED:
            self._block = min(self._block * 2, LARGEST_BLOCK)
        return loss


def with_weights(levels: Levels, weights: Floats) -> Levels:
    """Return the levels with other weights of the points: (n_points, n_axes)."""
    # A published weight can be 0; its logarithm must stay finite.
    log_weights = np.log(np.maximum(weights, TINY))
    return levels.replace(point_log_weights=log_weights - levels.class_log_weights[levels.labels])


@njit(nogil=True, cache=True)
def _published_steps(search, points, rule, epsilon, constraint, rate, decreased_list):
    """Take one published step for each row; return the total loss and how many points have smaller weights.

    search : _BlockSearch; points : OnlinePoints; rule : LossRule; decreased_list : their indices, first
    """
    rows, candidates, limits, sizes, rounding, lifted_weights, decreased = search
    coordinates, targets, weights = points
    k = rule.n_neighbors
    n_decreased = 0
    nearest = new_nearest(k)
    near, distances = nearest.indices, nearest.distances
    total = 0.0
    for r in range(rows.shape[0]):
        i = rows[r]
        clear(nearest)
        for c in range(candidates.shape[1]):
            j = candidates[r, c]
            if j >= 0 and j != i and not decreased[j]:
                insert(distances, near, distance(coordinates[i], coordinates[j], weights[j]), j)
        for c in range(n_decreased):
            j = decreased_list[c]
            if j != i:
                insert(distances, near, distance(coordinates[i], coordinates[j], weights[j]), j)
        farthest = distances[k - 1] / SLACK
        if not limits[r] > farthest + rounding_bound(sizes[r], farthest, rounding):
            clear(nearest)
            for j in range(coordinates.shape[0]):
                if j != i:
                    insert(distances, near, distance(coordinates[i], coordinates[j], weights[j]), j)
        loss, n_near = query_loss(nearest, targets, i, epsilon, rule)
        total += loss
        for slot in range(n_near):
            j = near[slot]
            _take_step(coordinates[i], coordinates[j], weights[j], rate * nearest.slopes[slot], constraint)
        for slot in range(n_near):
            j = near[slot]
            if not decreased[j] and _has_decreased(weights[j], lifted_weights[j]):
                decreased[j] = True
                decreased_list[n_decreased] = j
                n_decreased += 1
    return total, n_decreased


@njit(nogil=True, cache=True)
def _has_decreased(weights, lifted_weights):
    n_less = 0
    for a in range(weights.shape[0]):
        n_less += weights[a] < SLACK * lifted_weights[a]
    return n_less > 0


@njit(nogil=True, cache=True)
def _take_step(x, point, weights, step, constraint):
    """Take one gradient step on the λ = √w of a point, for rate · ∂loss/∂d = `step`, and constrain them."""
    n_axes = x.shape[0]
    moved = np.empty(n_axes)
    total = 0.0
    for a in range(n_axes):
        # λ − rate · ∂loss/∂λ with ∂d/∂λ = 2 λ (x − p)²
        root = np.sqrt(weights[a]) * (1.0 - 2.0 * step * (x[a] - point[a]) ** 2)
        moved[a] = root * root
        total += moved[a]
    if not (0.0 < total < np.inf):
        return
    if constraint == NORM:
        scale = n_axes / total
    elif constraint == DETERMINANT:
        scale = np.exp(-np.mean(np.log(np.maximum(moved, TINY))))
    else:
        scale = 1.0
    for a in range(n_axes):
        weights[a] = moved[a] * scale if constraint == NORM else _bounded(moved[a] * scale)


@njit(nogil=True, cache=True)
def _bounded(weight):
    return min(max(weight, np.exp(-LARGEST_LOG_WEIGHT)), np.exp(LARGEST_LOG_WEIGHT))


@njit(nogil=True, cache=True)
def relative_weight_steps(rows, candidates, points, rule, epsilon, rate, smoothing):
    """Take one step on the log weights of the nearest candidates of each row; return the total loss.

    No step is larger than 0.5; weights stay bounded, and are mixed with those of same-class neighbors.

    rows : (n_rows,), in order; candidates : (n_rows, n_candidates), -1 for none
    points : OnlinePoints; rule : LossRule; smoothing : share of the weights that is replaced
    """
    coordinates, targets, weights = points
    k = rule.n_neighbors
    nearest = new_nearest(k)
    near, distances = nearest.indices, nearest.distances
    total = 0.0
    for r in range(rows.shape[0]):
        i = rows[r]
        clear(nearest)
        for j in candidates[r]:
            if j >= 0 and j != i:
                measured = distance(coordinates[i], coordinates[j], weights[j])
                insert(distances, near, measured, j)
        loss, n_near = query_loss(nearest, targets, i, epsilon, rule)
        total += loss
        for slot in range(n_near):
            j = near[slot]
            _take_relative_step(coordinates[i], coordinates[j], weights[j], rate * nearest.slopes[slot])
        if smoothing > 0.0:
            _mix_same_class(nearest, n_near, targets.labels[i], weights, smoothing)
    return total


@njit(nogil=True, cache=True)
def _take_relative_step(x, point, weights, step):
    """Take one step on the log weights of a point, for rate · ∂loss/∂d = `step`."""
    n_axes = x.shape[0]
    moved = np.empty(n_axes)
    total = 0.0
    for a in range(n_axes):
        change = -step * weights[a] * (x[a] - point[a]) ** 2
        moved[a] = weights[a] * np.exp(min(max(change, -LARGEST_STEP), LARGEST_STEP))
        total += moved[a]
    if not (0.0 < total < np.inf):
        return
    for a in range(n_axes):
        weights[a] = _bounded(moved[a])


@njit(nogil=True, cache=True)
def _mix_same_class(nearest, n_near, label, weights, share):
    """Replace a share of the weights of the neighbors with a given label by their mean."""
    for a in range(weights.shape[1]):
        mean = 0.0
        count = 0
        for slot in range(n_near):
            if nearest.labels[slot] == label:
                mean += weights[nearest.indices[slot], a]
                count += 1
        if count > 1:
            mean /= count
            for slot in range(n_near):
                if nearest.labels[slot] == label:
                    j = nearest.indices[slot]
                    weights[j, a] += share * (mean - weights[j, a])
