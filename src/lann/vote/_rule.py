"""The vote: from distances to shares of neighbors, and to probabilities of classes.

A neighbor at squared distance d supports its label with (d + ε)^−p; ε keeps zero distances finite. The
probability of a class is (share + η/C) / (1 + η): the floor η keeps it above 0 for each of the C classes. The
mean of several votes, with other numbers of neighbors and powers, is a vote, too: each neighbor has the mean
of its shares.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lann import _native
from lann._support.types import Floats, Labels

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
    mixture : (n_votes, 3) or None
        Number of neighbors, power and weight of each of several votes, of which the weighted mean is taken,
        by power and number; the weights add up to 1. `power` is then their mean power. None is one vote.
    """

    power: float = 1.0
    epsilon: float = 1.0
    class_weight: Floats | None = None
    floor: float = 0.0
    mixture: Floats | None = None

    def votes(self, n_votes: float) -> Floats:
        """Return number of neighbors, power and weight of each vote, with `n_votes` for a single one."""
        return np.array([[float(n_votes), self.power, 1.0]]) if self.mixture is None else self.mixture

    def with_one_vote(self) -> VoteRule:
        """Return the rule with one vote of the mean power, for any number of neighbors."""
        return replace(self, mixture=None)

    def shares(
        self, distances: Floats, labels: Labels, weights: Floats | None = None, n_votes: float | None = None
    ) -> Floats:
        """Return each neighbor's share of the vote; rows add up to 1.

        Parameters
        ----------
        distances : (n_queries, k)
            Squared, ascending.
        labels : (n_queries, k)
            Class indices of the neighbors.
        weights : (n_queries, k) or None
            Weight of each neighbor; 2 is the same as the neighbor twice, None is 1 for all.
        n_votes : float or None
            The nearest vote until this number is counted, the last one with what is left of its weight; None
            is all of them. Ignored where the rule has several votes.
        """
        if distances.size == 0:
            return np.zeros(distances.shape)
        # Relative to the nearest, so that neither tiny nor huge distances leave the range of a float.
        guarded = np.minimum(distances, HUGE) + self.epsilon
        factors = np.ones(distances.shape) if self.class_weight is None else self.class_weight[labels]
        counts = np.ones(distances.shape) if weights is None else weights
        values = (np.ascontiguousarray(v, np.float64) for v in (guarded[:, :1] / guarded, factors, counts))
        shares = np.empty(distances.shape)
        _native.mean_vote(*values, self.votes(np.inf if n_votes is None else n_votes), shares)
        return shares

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
    """Return the smallest n such that any n of the rows weigh at least `n_votes`; weights are (n_rows,)."""
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
