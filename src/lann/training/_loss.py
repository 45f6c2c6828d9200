"""Settings of the two solvers, the loss that they minimize, its compiled gradients, and Adam."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from lann import _native
from lann._support.types import Floats, Indices, Labels
from lann.metric import Levels
from lann.vote import CRPS, SHARES, SOFTMAX

# Bounded weights stay within e^±6.
LARGEST_LOG_WEIGHT = 6.0
# With more rows than this, fewer features are dropped.
ROWS_FOR_DROPOUT = 500
# The CRPS counts this many times, in standard deviations of the values: about as much as the loss of shares.
CRPS_FACTOR = 3.0


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
        Of the loss; the floor is that of shares. It is sharper than the vote and includes more neighbors, so
        that a query changes more of them.
    vote_neighbors, vote_power, slope_share : int or None, float or None, float or None
        What is fixed of the vote, and the share of local slopes; None chooses it.
    mean_weight : float
        Mean weight of a distinct training row, relative to which the row weights of training are.
    value_scale : float
        Unit of the values: their standard deviation, or 1 where they are standardized.
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
    vote_neighbors: int | None = None
    vote_power: float | None = None
    slope_share: float | None = None
    mean_weight: float = 1.0
    value_scale: float = 1.0

    def for_noise(self) -> Settings:
        """Return the settings with a loss of more neighbors and less power, for noisy labels."""
        return self.replace(n_neighbors=20, power=3.0)

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

    def loss_rule(self, levels: Levels) -> LossRule:
        """Return the rule of the loss: shares of classes, or the CRPS of values."""
        is_of_values, n_classes = levels.values is not None, len(levels.class_log_weights)
        kind, strength = (CRPS, CRPS_FACTOR / self.value_scale) if is_of_values else (SHARES, self.floor)
        return LossRule(kind, self.n_neighbors, self.power, strength, n_classes)

    def targets(self, levels: Levels) -> Targets:
        """Return what the rows are to predict, and their weights times those of their classes."""
        weights = np.ones(len(levels.labels))
        if self.class_weight is not None:
            weights = self.class_weight[levels.labels]
        if levels.row_weights is not None:
            weights = weights * levels.row_weights
        return Targets(levels.labels, NO_VALUES if levels.values is None else levels.values, weights)


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
        Initial step size, for weights that add up to 1 or for matrices; it falls to 0 over the epochs.
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
    temperature: float | None = None
    learning_rate: float = 0.02
    constraint: str = "bounded"
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
    """How the loss of a query is computed from its neighbors: see `vote.hpp`.

    Attributes
    ----------
    kind : int
        SHARES, SOFTMAX or CRPS.
    n_neighbors : int
        Number of neighbors that count.
    power : float
        Exponent of the support.
    strength : float
        Constant of the loss: the floor of the shares, the temperature of the softmax, or the factor of the
        CRPS.
    n_classes : int
    """

    kind: int
    n_neighbors: int
    power: float
    strength: float
    n_classes: int


# Instead of the values of points that have classes.
NO_VALUES = np.empty(0)


class Targets(NamedTuple):
    """What the points of a training are to predict, and how much each of them counts.

    Attributes
    ----------
    labels : (n_points,)
        Class indices; groups of similar values for regression.
    values : (n_points,)
        For regression; empty for classes.
    weights : (n_points,)
        Factor of the votes, and of the loss, of each point; all 1 where points count alike.
    """

    labels: Labels
    values: Floats
    weights: Floats

    @classmethod
    def equal(cls, labels: Labels) -> Targets:
        """Return targets of points that count alike."""
        return cls(labels, NO_VALUES, np.ones(len(labels)))

    def subset(self, points: Indices) -> Targets:
        """Return the targets of some of the points."""
        values = self.values[points] if len(self.values) else NO_VALUES
        return Targets(self.labels[points], values, self.weights[points])


# Instead of an array to which a kernel adds a gradient, where that is not needed.
NOT_NEEDED = np.empty((0, 0))


class Batch(NamedTuple):
    """Training rows as queries, and the candidates for their neighbors.

    Attributes
    ----------
    rows : (n_queries,)
        Points that are the queries.
    candidates : (n_queries, n_candidates)
        Points; -1 for none, or where they are dropped.
    axis_mask : (n_axes,)
        1, or 0 for an axis that is dropped.
    epsilon : float
        ε, which is added to every squared distance.
    """

    rows: Indices
    candidates: Indices
    axis_mask: Floats
    epsilon: float


def mix_with_neighbors(values: Floats, neighbors: Indices, share: float) -> Floats:
    """Return rows of which a share is replaced by the mean of the rows of their neighbors, all at once.

    values : (n_rows, n_columns); neighbors : (n_rows, k), -1 for none; returns (n_rows, n_columns)
    """
    mixed = np.empty_like(values)
    _native.mix_with_neighbors(values, neighbors, share, mixed)
    return mixed


class Adam:
    """Adam (Kingma & Ba 2015) for one array of parameters.

    Parameters
    ----------
    parameters : ndarray
        Changed in place.
    """

    def __init__(self, parameters: Floats) -> None:
        self._parameters = parameters.reshape(-1)
        self._first, self._second = np.zeros_like(self._parameters), np.zeros_like(self._parameters)
        self._n_steps = 0

    def step(self, gradient: Floats, rate: float) -> None:
        """Take one step of size `rate`, for a gradient of the shape of the parameters."""
        self._n_steps += 1
        gradient = np.ascontiguousarray(gradient).reshape(-1)
        _native.adam_step(self._parameters, gradient, self._first, self._second, rate, self._n_steps)
