"""Settings of the two solvers, the loss that they minimize, its compiled gradients, and Adam."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lann._support.types import Floats, Indices, Labels
from lann.metric import Levels
from lann.vote import SHARES, SOFTMAX, VoteChoice, weighted_loss

# Bounded weights stay within e^±6.
LARGEST_LOG_WEIGHT = 6.0
# With more rows than this, fewer features are dropped.
ROWS_FOR_DROPOUT = 500


@dataclass(frozen=True)
class Settings:
    """Settings of the staged solver; the defaults are good on all data sets that were tried.

    Attributes
    ----------
    curves, linear_map, class_metrics, point_metrics : bool
        Which levels are learned.
    n_bins : int
        Number of bins of each feature curve.
    n_steps : int
        Number of thresholds at which each feature curve can jump, at most.
    form : {"diagonal", "low_rank", "full"}
        Form of the point metrics.
    n_components : int or None
        Number of axes for "low_rank"; None depends on the number of features.
    drop_levels : bool
        Whether to drop levels that do not help.
    n_candidates : int
        Number of candidates of a query.
    candidate_dropout, feature_dropout : float
        Share of the candidates that are dropped for a query, and of the axes for a batch.
    alpha : float
        Strength of the regularization.
    smoothing : float
        Share of a point metric that is replaced by those of same-class neighbors in the first step.
    max_iter : int or None
        Number of epochs of all stages; None is the default of each stage.
    learning_rate : float
        Initial step size of the shared levels; those of the point metrics are proportional to it.
    validation_fraction : float or None
        Share of the rows that are validation rows; None is no early stopping.
    class_weight : (n_classes,) or None
        Factor of the votes, and of the loss, of each class; None is 1 for all.
    n_jobs : int or None
        Number of threads.
    n_shared_rows : int
        Number of rows from which the shared levels are learned, at most.
    n_neighbors, power, floor : int, float, float
        Of the share loss. It is sharper than the vote and includes more neighbors, so that a query changes
        more of them.
    """

    curves: bool = True
    linear_map: bool = True
    class_metrics: bool = True
    point_metrics: bool = True
    n_bins: int = 16
    n_steps: int = 4
    form: str = "diagonal"
    n_components: int | None = None
    drop_levels: bool = True
    n_candidates: int = 50
    candidate_dropout: float = 0.7
    feature_dropout: float = 0.25
    alpha: float = 1.0
    smoothing: float = 0.06
    max_iter: int | None = None
    learning_rate: float = 0.05
    validation_fraction: float | None = None
    class_weight: Floats | None = None
    n_jobs: int | None = None
    n_shared_rows: int = 20_000
    n_neighbors: int = 10
    power: float = 4.0
    floor: float = 0.02

    def for_vote(self, vote: VoteChoice) -> Settings:
        """Return the settings with a loss of more neighbors and less power for the votes of noisy labels."""
        return self.replace(n_neighbors=20, power=3.0) if vote.is_for_noise else self

    def for_rows(self, n_rows: int) -> Settings:
        """Return the settings with less dropout of features, the more rows there are."""
        return self.replace(feature_dropout=self.feature_dropout * min(1.0, ROWS_FOR_DROPOUT / n_rows))

    def replace(self, **changes: Any) -> Settings:
        """Return the settings with some attributes replaced."""
        return replace(self, **changes)

    @property
    def shared_levels(self) -> bool:
        """Whether any level is learned that all rows share."""
        return self.curves or self.linear_map or self.class_metrics

    def loss_rule(self, n_classes: int) -> LossRule:
        """Return the rule of the share loss."""
        return LossRule(SHARES, self.n_neighbors, self.power, self.floor, n_classes)

    def targets(self, levels: Levels) -> Targets:
        """Return the labels of the rows, and their weights times those of their classes."""
        weights = np.ones(len(levels.labels))
        if self.class_weight is not None:
            weights = self.class_weight[levels.labels]
        if levels.row_weights is not None:
            weights = weights * levels.row_weights
        return Targets(levels.labels, weights)


@dataclass(frozen=True)
class OnlineSettings:
    """Settings of the online solver, the published algorithm.

    Attributes
    ----------
    n_neighbors : int
        Number of neighbors that vote, in the loss too.
    temperature : float or None
        β of the softmax; None derives it from the typical votes in the data.
    learning_rate : float
        Initial step size; it falls to 0 over the epochs.
    constraint : {"norm", "determinant", "bounded"}
        What keeps a point metric bounded.
    form : {"diagonal", "low_rank", "full"}
        Form of the point metrics.
    n_components : int or None
        Number of axes for "low_rank"; None depends on the number of features.
    max_iter : int
        Number of epochs.
    n_jobs : int or None
        Number of threads.
    """

    n_neighbors: int = 5
    temperature: float | None = 1.0
    learning_rate: float = 0.05
    constraint: str = "norm"
    form: str = "diagonal"
    n_components: int | None = None
    max_iter: int = 20
    n_jobs: int | None = None

    def loss_rule(self, n_classes: int, temperature: float) -> LossRule:
        """Return the rule of the softmax loss."""
        return LossRule(SOFTMAX, self.n_neighbors, 1.0, temperature, n_classes)


def regularization_factor(n_rows: int) -> float:
    """Return the factor of all penalties: few rows need more regularization, many need less."""
    return min(max(500.0 / n_rows, 0.3), 6.0)


class LossRule(NamedTuple):
    """How the loss of a query is computed from its neighbors: see `lann.vote.weighted_loss`.

    Attributes
    ----------
    kind : int
        SHARES or SOFTMAX.
    n_neighbors : int
        Number of neighbors that count.
    power : float
        Exponent of the support.
    strength : float
        Constant of the loss: the floor of the shares, or the temperature of the softmax.
    n_classes : int
    """

    kind: int
    n_neighbors: int
    power: float
    strength: float
    n_classes: int


class Targets(NamedTuple):
    """What the points of a training are to predict, and how much each of them counts.

    Attributes
    ----------
    labels : (n_points,)
        Class indices.
    weights : (n_points,)
        Factor of the votes, and of the loss, of each point; all 1 where points count alike.
    """

    labels: Labels
    weights: Floats

    @classmethod
    def equal(cls, labels: Labels) -> Targets:
        """Return targets of points that count alike."""
        return cls(labels, np.ones(len(labels)))

    def subset(self, points: Indices) -> Targets:
        """Return the targets of some of the points."""
        return Targets(self.labels[points], self.weights[points])


class Neighbors(NamedTuple):
    """The nearest candidates of each query.

    Attributes
    ----------
    indices : (n_queries, k)
        Points; -1 for none.
    distances : (n_queries, k)
        Squared, with ε.
    counts : (n_queries,)
        Number of neighbors; they come first.
    """

    indices: Indices
    distances: Floats
    counts: Indices


def batch_loss(neighbors: Neighbors, rows: Indices, targets: Targets, rule: LossRule) -> tuple[float, Floats]:
    """Compute the mean loss of a batch, and its slope for each distance.

    Parameters
    ----------
    neighbors : Neighbors
        The distances are changed.
    rows : (n_queries,)
        Points that are the queries.
    targets : Targets
    rule : LossRule

    Returns
    -------
    loss : float
    slopes : (n_queries, k)
    """
    slopes = np.zeros(neighbors.distances.shape)
    return loss_with_slopes(neighbors, rows, targets, rule, slopes), slopes


@njit(nogil=True, cache=True, inline="always")
def loss_with_slopes(neighbors, rows, targets, rule, slopes):
    """Write the slopes to an array of zeros, and return the loss: see `batch_loss`."""
    near, distances, counts = neighbors
    labels, weights = targets
    k = rule.n_neighbors
    near_labels, near_weights = np.empty(k, np.int64), np.empty(k)
    n_queries, total = near.shape[0], 0.0
    for q in range(n_queries):
        if counts[q] == 0:
            continue
        for slot in range(counts[q]):
            near_labels[slot] = labels[near[q, slot]]
            near_weights[slot] = weights[near[q, slot]]
        total += weighted_loss(
            rule, distances[q], near_labels, labels[rows[q]], counts[q],
            near_weights, weights[rows[q]], slopes[q],
        )  # fmt: skip
        for slot in range(counts[q]):
            slopes[q, slot] /= n_queries
    return total / n_queries


# Instead of a gradient that is not needed.
NOT_NEEDED = np.empty((0, 0))


class Batch(NamedTuple):
    """Training rows as queries, and the candidates for their neighbors.

    Attributes
    ----------
    rows : (n_queries,)
        Points that are the queries.
    candidates : (n_queries, n_candidates)
        Points; -1 for none.
    kept : (n_queries, n_candidates)
        Which candidates are not dropped.
    axis_mask : (n_axes,)
        1, or 0 for an axis that is dropped.
    epsilon : float
        ε, which is added to every squared distance.
    """

    rows: Indices
    candidates: Indices
    kept: NDArray[np.bool_]
    axis_mask: Floats
    epsilon: float

    @classmethod
    def without_dropout(cls, rows: Indices, candidates: Indices, n_axes: int, epsilon: float) -> Batch:
        """Return a batch from which nothing is dropped."""
        return cls(rows, candidates, np.ones(candidates.shape, np.bool_), np.ones(n_axes), epsilon)


class WeightedPoints(NamedTuple):
    """Points and the weights with which they measure.

    Attributes
    ----------
    points : (n_points, n_axes)
    weights : (n_owners, n_axes)
    owners : (n_points,)
        The row of `weights` that a point measures with: its class, or itself.
    """

    points: Floats
    weights: Floats
    owners: Indices


@njit(nogil=True, cache=True)
def loss_and_gradients(batch, metric, targets, rule, by_weight, by_point):
    """Compute the mean loss of a batch and add its gradients to two arrays.

    Parameters
    ----------
    batch : Batch
    metric : WeightedPoints
    targets : Targets
    rule : LossRule
    by_weight : (n_owners, n_axes) or empty
        The gradient for the log weights is added to it; it is not computed if the array is empty.
    by_point : (n_points, n_axes) or empty
        The same for the points.

    Returns
    -------
    loss : float
    """
    neighbors = _nearest_candidates(batch, metric, rule.n_neighbors)
    slopes = np.zeros(neighbors.distances.shape)
    loss = loss_with_slopes(neighbors, batch.rows, targets, rule, slopes)
    if by_weight.size > 0:
        _add_weight_gradient(batch, neighbors, slopes, metric, by_weight)
    if by_point.size > 0:
        _add_point_gradient(batch, neighbors, slopes, metric, by_point)
    return loss


# Functions that are inlined are compiled once, with the function that calls them.
@njit(inline="always")
def _nearest_candidates(batch, metric, k):
    """Return the k nearest kept candidates of each query, in no particular order: a `Neighbors`.

    batch : Batch; metric : WeightedPoints
    """
    rows, candidates, kept, axis_mask, epsilon = batch
    points, weights, owners = metric
    n_queries, n_candidates = candidates.shape
    near = np.full((n_queries, k), -1, np.int64)
    distances = np.full((n_queries, k), np.inf)
    counts = np.zeros(n_queries, np.int64)
    for q in range(n_queries):
        query = points[rows[q]]
        count, farthest = 0, 0
        for c in range(n_candidates):
            j = candidates[q, c]
            if j < 0 or not kept[q, c]:
                continue
            found = epsilon + _masked_distance(query, points[j], weights[owners[j]], axis_mask)
            if count < k:
                slot = count
                count += 1
            elif found < distances[q, farthest]:
                slot = farthest
            else:
                continue
            distances[q, slot], near[q, slot] = found, j
            farthest = 0
            for other in range(1, count):
                if distances[q, other] > distances[q, farthest]:
                    farthest = other
        counts[q] = count
    return Neighbors(near, distances, counts)


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _masked_distance(x, point, weights, axis_mask):
    """Return Σ w (x − p)² over the axes that are not dropped."""
    total = 0.0
    for a in range(x.shape[0]):
        difference = axis_mask[a] * (x[a] - point[a])
        total += weights[a] * difference * difference
    return total


@njit(inline="always")
def _add_weight_gradient(batch, neighbors, slopes, metric, gradient):
    """Add ∂loss/∂log w = slope · w · difference², over all pairs, to the gradient of each neighbor's owner.

    slopes : (n_queries, k) ∂loss/∂d; gradient : (n_owners, n_axes), changed in place
    """
    points, weights, owners = metric
    axis_mask = batch.axis_mask
    near, counts = neighbors.indices, neighbors.counts
    for q in range(near.shape[0]):
        query = points[batch.rows[q]]
        for slot in range(counts[q]):
            point, owner = points[near[q, slot]], owners[near[q, slot]]
            slope = slopes[q, slot]
            for a in range(query.shape[0]):
                difference = point[a] - query[a]
                gradient[owner, a] += slope * axis_mask[a] * weights[owner, a] * difference * difference


@njit(inline="always")
def _add_point_gradient(batch, neighbors, slopes, metric, gradient):
    """Add ∂loss/∂point = 2 · slope · w · difference, over all pairs, to the gradients of both points.

    slopes : (n_queries, k) ∂loss/∂d; gradient : (n_points, n_axes), changed in place
    """
    points, weights, owners = metric
    axis_mask = batch.axis_mask
    near, counts = neighbors.indices, neighbors.counts
    for q in range(near.shape[0]):
        i = batch.rows[q]
        for slot in range(counts[q]):
            j = near[q, slot]
            owner = owners[j]
            slope = 2.0 * slopes[q, slot]
            for a in range(gradient.shape[1]):
                change = slope * axis_mask[a] * weights[owner, a] * (points[j, a] - points[i, a])
                gradient[j, a] += change
                gradient[i, a] -= change


@njit(nogil=True, cache=True)
def mix_with_neighbors(values, neighbors, share):
    """Replace a share of each row by the mean of the rows of its neighbors, all at once.

    values : (n_rows, n_columns); neighbors : (n_rows, k), -1 for none; returns (n_rows, n_columns)
    """
    n_rows, n_columns = values.shape
    mixed = values.copy()
    mean = np.empty(n_columns)
    for i in range(n_rows):
        mean[:] = 0.0
        count = 0
        for slot in range(neighbors.shape[1]):
            j = neighbors[i, slot]
            if j >= 0:
                count += 1
                for column in range(n_columns):
                    mean[column] += values[j, column]
        if count > 0:
            for column in range(n_columns):
                mixed[i, column] += share * (mean[column] / count - values[i, column])
    return mixed


# Decay of the first and of the second moment.
DECAY = (0.9, 0.99)


class Adam:
    """Adam (Kingma & Ba 2015) for one array of parameters.

    Parameters
    ----------
    parameters : ndarray
        Changed in place.
    """

    def __init__(self, parameters: Floats) -> None:
        self.parameters = parameters
        self._first = np.zeros_like(parameters)
        self._second = np.zeros_like(parameters)
        self._n_steps = 0

    def step(self, gradient: Floats, rate: float) -> None:
        """Take one step of size `rate`, for a gradient of the shape of the parameters."""
        self._n_steps += 1
        _step(
            self.parameters.reshape(-1), gradient.reshape(-1), self._first.reshape(-1),
            self._second.reshape(-1), rate, DECAY, self._n_steps,
        )  # fmt: skip


@njit(nogil=True, cache=True)
def _step(parameters, gradient, first, second, rate, decay, n_steps):
    first_decay, second_decay = decay
    first_scale = 1.0 / (1.0 - first_decay**n_steps)
    second_scale = 1.0 / (1.0 - second_decay**n_steps)
    for i in range(parameters.shape[0]):
        first[i] += (1.0 - first_decay) * (gradient[i] - first[i])
        second[i] += (1.0 - second_decay) * (gradient[i] ** 2 - second[i])
        parameters[i] -= rate * (first[i] * first_scale) / (np.sqrt(second[i] * second_scale) + 1e-4)
