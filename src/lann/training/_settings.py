"""Settings of the two solvers, and the loss that they minimize."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from lann._support.types import Floats, Indices, Labels
from lann.metric import Levels
from lann.vote import SHARES, SOFTMAX, VoteChoice, weighted_loss


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
