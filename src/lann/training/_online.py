"""The published solver: training of point metrics one query at a time.

The published algorithm searches all points before every step. With weights, a block of queries is searched
at once, by one lifted product, under the weights as they were last lifted. A step changes few weights, most
of them little: as long as no weight of a point has decreased below 9/10, neither has any distance to it. The
few points with a larger decrease are measured again before each step, and a bound on the others proves that
the neighbors are the true ones (otherwise all points are measured). The result is that of the plain loop.
"""

from __future__ import annotations

import math

import numpy as np

from lann import _native
from lann._support.threads import single_threaded_blas
from lann._support.types import Floats, Indices
from lann.metric import DiagonalMetric, Levels
from lann.search import ExactSearch
from lann.training._candidates import typical_distances
from lann.training._initial import check_matrix_memory, initial_matrices, n_axes_of, with_initial_map
from lann.training._loss import LossRule, OnlineSettings, Targets
from lann.training._procedure import Callback, Epoch
from lann.vote import zero_distance_guard

# Number of queries that are searched at once: more make the search faster, and more points decrease.
SMALLEST_BLOCK, LARGEST_BLOCK = 128, 2048
FEW_DECREASED, MANY_DECREASED = 64, 256
# Number of candidates beyond the neighbors.
SPARE = 12
# Up to this factor, a decrease of a weight is covered by the bound.
SLACK = 0.9
# Nearer to 1, the determinant would vanish.
LARGEST_DETERMINANT_STEP = 0.9
TINY = np.finfo(np.float64).tiny
# What keeps a point metric bounded; the kernels know them by their position.
CONSTRAINTS = ("norm", "determinant", "bounded")


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
        self._constraint = CONSTRAINTS.index(constraint)
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
        decreased = np.empty(len(rows) * self._rule.n_neighbors, np.int64)
        loss, n_decreased = _native.published_steps(
            rows, candidates, limits, sizes, rounding, lifted.weights, self._decreased, decreased,
            metric.points, self._targets, metric.weights, self._rule, self._epsilon, self._constraint, rate,
            SLACK,
        )  # fmt: skip
        decreased = decreased[:n_decreased]
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


class OnlineMatrices:
    """Point matrices that are trained by the published steps, with neighbors among all points.

    Parameters
    ----------
    levels : Levels
        Initial values.
    rule : LossRule
    epsilon : float
        ε, which is added to every squared distance.
    constraint : {"norm", "determinant", "bounded"}
        Restored after every step.
    """

    name = "point matrices"

    def __init__(self, levels: Levels, rule: LossRule, epsilon: float, constraint: str) -> None:
        self._start = levels
        self._points, self._roots = levels.points, np.sqrt(levels.weights)
        self._matrices = initial_matrices(levels)
        self._targets, self._rule, self._epsilon = Targets.equal(levels.labels), rule, epsilon
        self._constraint = CONSTRAINTS.index(constraint)
        self._largest_step = LARGEST_DETERMINANT_STEP if constraint == "determinant" else np.inf

    def levels(self) -> Levels:
        """Return a snapshot of the levels."""
        return self._start.replace(point_matrices=self._matrices.copy())

    def train_pass(self, rows: Indices, rate: float) -> float:
        """Take one step for each row, in order, and return the mean loss."""
        everyone = np.empty((len(rows), 0), np.int64)
        total: float = _native.matrix_steps(
            rows, everyone, self._points, self._targets, self._roots, self._matrices, self._rule,
            self._epsilon, rate, self._largest_step, self._constraint, 0.0,
        )  # fmt: skip
        return total / len(rows)


def choose_temperature(levels: Levels, *, n_jobs: int | None = None) -> float:
    """Return β for data of any scale: the typical vote of a neighbor, divided by log(L − 1) + 1.

    A class without a neighbor has exp(0) in the softmax. Against the L − 1 others, a class with a single
    neighbor at a typical distance thus has the probability e / (e + 1), for any number of classes.
    """
    distances = typical_distances(levels, n_jobs=n_jobs)
    votes = (distances + zero_distance_guard(distances)) ** -1.0
    n_classes = len(levels.class_log_weights)
    return float(np.median(votes.mean(axis=1))) / (math.log(max(n_classes - 1, 1)) + 1.0)


def train_online(
    start: Levels, settings: OnlineSettings, rng: np.random.Generator, *, callback: Callback | None = None
) -> tuple[Levels, list[float], float]:
    """Train point metrics one query at a time, as published, in random order at a rate that falls to 0.

    Parameters
    ----------
    start : Levels
        Rows and initial metrics.
    settings : OnlineSettings
    rng : Generator
        Determines the order of the rows.
    callback : callable or None
        Called with an `Epoch` after every epoch; training stops if it returns True.

    Returns
    -------
    levels : Levels
    losses : list of float
        Mean loss of every epoch.
    temperature : float
        β of the softmax.
    """
    levels, n_epochs, temperature = start, settings.max_iter, settings.temperature
    losses: list[float] = []
    if temperature is None:
        temperature = choose_temperature(start, n_jobs=settings.n_jobs)
    if n_epochs > 0:
        # The same bits for any number of BLAS threads.
        with single_threaded_blas():
            n_axes = n_axes_of(settings.form, settings.n_components, start.X.shape[1])
            levels = with_initial_map(levels, n_axes, shrink=False)
            rule = settings.loss_rule(len(levels.class_log_weights), temperature)
            rule = rule._replace(n_neighbors=min(rule.n_neighbors, len(levels.X) - 1))
            epsilon = zero_distance_guard(typical_distances(levels, n_jobs=settings.n_jobs))
            updates: OnlineWeights | OnlineMatrices
            if settings.form == "diagonal":
                updates = OnlineWeights(levels, rule, epsilon, settings.constraint, n_jobs=settings.n_jobs)
            else:
                check_matrix_memory(len(levels.X), levels.class_log_weights.shape[1])
                updates = OnlineMatrices(levels, rule, epsilon, settings.constraint)
            # The n_axes weights of a point share each distance, which a matrix changes by itself.
            n_shares = levels.class_log_weights.shape[1] if settings.form == "diagonal" else 1
            for epoch in range(n_epochs):
                rate = settings.learning_rate * n_shares * (1.0 - epoch / n_epochs)
                losses.append(updates.train_pass(rng.permutation(len(levels.X)), rate))
                state = Epoch(updates.name, epoch + 1, n_epochs, losses[-1], None, updates.levels)
                if callback is not None and callback(state):
                    break
            levels = updates.levels()
    if settings.constraint == "norm":
        levels = levels.with_fixed_norm()
    elif settings.constraint == "determinant" and settings.form == "diagonal":
        levels = levels.with_fixed_determinant()
    return levels, losses, temperature
