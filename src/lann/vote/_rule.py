"""How neighbors vote: from distances to shares and class probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lann._types import Floats, Labels

# Distances that overflow count as equally far.
HUGE = 1e300


@dataclass(frozen=True)
class VoteRule:
    """How neighbors vote.

    Attributes
    ----------
    power : float
        Exponent p of the support; 0 counts every neighbor alike.
    epsilon : float
        ε, which is added to every squared distance.
    class_weight : (n_classes,) or None
        Factor of the support of each class; None is 1 for all.
    floor : float
        η, which is shared by all classes alike; 0 gives a class without a neighbor the probability 0.
    """

    power: float = 1.0
    epsilon: float = 1.0
    class_weight: Floats | None = None
    floor: float = 0.0

    def shares(self, distances: Floats, labels: Labels, weights: Floats | None = None) -> Floats:
        """Return each neighbor's share of the vote; rows add up to 1.

        Parameters
        ----------
        distances : (n_queries, k)
            Squared, ascending.
        labels : (n_queries, k)
            Class indices of the neighbors.
        weights : (n_queries, k) or None
            Factor of the support of each neighbor; None is 1 for all.
        """
        # Relative to the nearest, so that neither tiny nor huge distances leave the range of a float.
        guarded = np.minimum(distances, HUGE) + self.epsilon
        support = (guarded / guarded[:, :1]) ** -self.power
        if self.class_weight is not None:
            support = support * self.class_weight[labels]
        if weights is None:
            return support / support.sum(axis=1, keepdims=True)
        support = support * weights
        # One after another, so that further neighbors of weight 0 do not change the rounding.
        return support / np.cumsum(support, axis=1)[:, -1:]

    def probabilities(self, class_shares: Floats) -> Floats:
        """Return the probability of each class, given its share of the vote: (n_queries, n_classes)."""
        return with_floor(class_shares, self.floor, class_shares.shape[1])


def with_floor(shares: Floats, floor: float | Floats, n_classes: int) -> Floats:
    """Return the probabilities of classes with given shares of the vote: (share + η/C) / (1 + η)."""
    return (shares + floor / n_classes) / (1.0 + floor)


def counted_weights(weights: Floats, n_votes: float) -> Floats:
    """Return how much of each neighbor's weight is counted, if the nearest vote until `n_votes` are counted.

    The last neighbor counts with what is left: with integer weights, these are the votes of the `n_votes`
    nearest rows, if every row is repeated by its weight.

    Parameters
    ----------
    weights : (n_queries, k)
        Of the neighbors, nearest first.
    n_votes : float

    Returns
    -------
    counted : (n_queries, k)
    """
    return np.clip(n_votes - sums_before(weights), 0.0, weights)


def n_rows_for(n_votes: float, weights: Floats) -> int:
    """Return the number of rows of which any that many have so many votes, by their weights: (n_rows,)."""
    return int(np.searchsorted(np.cumsum(np.sort(weights)), n_votes)) + 1


def sums_before(values: Floats) -> Floats:
    """Return the sum of the values before each value, along the rows: (n_rows, n_columns)."""
    sums = np.zeros(values.shape)
    np.cumsum(values[:, :-1], axis=1, out=sums[:, 1:])
    return sums


def class_shares(shares: Floats, labels: Labels, n_classes: int) -> Floats:
    """Add up the shares of each class.

    Parameters
    ----------
    shares, labels : (n_queries, k)
        Shares and class indices of the neighbors.
    n_classes : int

    Returns
    -------
    class_shares : (n_queries, n_classes)
        Rows add up to 1, and no entry exceeds it.
    """
    n_queries = len(shares)
    cells = (np.arange(n_queries)[:, None] * n_classes + labels).ravel()
    total = np.bincount(cells, weights=shares.ravel(), minlength=n_queries * n_classes)
    by_class: Floats = total.astype(np.float64, copy=False).reshape(n_queries, n_classes)
    return by_class / by_class.sum(axis=1, keepdims=True)  # rounding may have exceeded 1


def zero_distance_guard(distances: Floats) -> float:
    """Return ε: a thousandth of the median squared distance to a neighbor.

    Parameters
    ----------
    distances : (n_queries, k)
        Squared distances of training rows to their neighbors.
    """
    distances = np.minimum(distances, HUGE)
    positive = distances[distances > 0]
    if len(positive) == 0:
        return 1.0
    return 1e-3 * (float(np.median(distances)) or float(np.median(positive)))
