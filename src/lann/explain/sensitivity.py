"""Which features a vote hangs on: what becomes of it when a feature's value is another's.

At a place x, feature l is replaced by values v that the data has, and the neighbors vote again:

    r_l(x) = mean over v of ½ Σ_y |P(y | x, x_l = v) − P(y | x)|

the share of the vote that changes. It is read from the whole metric, whatever level of it carries a feature,
and from the neighbors of the changed places too: it sees what lies beyond the nearest few.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lann._types import Floats, Indices

Votes = Callable[[Floats, Indices], Floats]

# Values that stand for all that a feature has: quantiles.
N_VALUES = 8
# Numbers in the changed places that vote in one call: 32 MB.
CHANGED_AT_ONCE = 2**22


@dataclass(frozen=True)
class Readings:
    """What was read at some places.

    Parameters
    ----------
    votes : (n_places, n_classes) the vote there
    relevances : (n_places, n_features) the share of it that hangs on each feature
    supports : (n_places, n_classes, n_features) how much more of the vote a class has by the feature's value
        than it would have by others: above 0 the value speaks for the class, below 0 against it
    """

    votes: Floats
    relevances: Floats
    supports: Floats

    def votes_near(self, near: Indices) -> Floats:
        """The mean vote over some places for each query, near : (n_queries, n_near)."""
        return _means(self.votes, near)

    def relevances_near(self, near: Indices) -> Floats:
        return _means(self.relevances, near)

    def supports_near(self, near: Indices) -> Floats:
        return _means(self.supports, near)

    def support_near(self, near: Indices, places: Indices) -> Floats:
        """As `supports_near`, of one class for each query, places : (n_queries,)."""
        total = np.zeros((len(near), self.supports.shape[2]))
        for column in near.T:
            total += self.supports[column, places]
        return total / near.shape[1]


def _means(values: Floats, near: Indices) -> Floats:
    """For each query the mean over some places, one place of all queries after the other: little memory."""
    total = values[near[:, 0]].copy()
    for column in near.T[1:]:
        total += values[column]
    total /= near.shape[1]
    return total


def usual_values(X: Floats, n_values: int = N_VALUES) -> Floats:
    """Values that stand for all that each feature has: (n_values, n_features), of the data itself.

    X : (n_samples, n_features)
    """
    middles = (np.arange(n_values) + 0.5) / n_values
    return np.quantile(X, middles, axis=0, method="nearest")


def read(votes: Votes, places: Floats, values: Floats) -> Readings:
    """Replace each feature of each place by each value, and compare the votes.

    Parameters
    ----------
    votes
        From places (n, n_features), and the rows of `places` that they are or were changed from (n,), to the
        shares of the classes (n, n_classes).
    places : (n_places, n_features)
    values : (n_values, n_features)
    """
    n_places, n_features = places.shape
    n_values = len(values)
    before = votes(places, np.arange(n_places))
    relevances = np.empty((n_places, n_features))
    supports = np.empty((n_places, before.shape[1], n_features))
    # Pairs of a place and a feature, a block of them at a time.
    block = max(CHANGED_AT_ONCE // (n_features * n_values), 1)
    for start in range(0, n_places * n_features, block):
        which, feature = np.divmod(np.arange(start, min(start + block, n_places * n_features)), n_features)
        changed = np.repeat(places[which][:, None, :], n_values, axis=1)  # (n_pairs, n_values, n_features)
        changed[np.arange(len(which)), :, feature] = values[:, feature].T
        after = votes(changed.reshape(-1, n_features), np.repeat(which, n_values))
        lost = before[which, None, :] - after.reshape(len(which), n_values, -1)
        relevances[which, feature] = 0.5 * np.abs(lost).sum(axis=2).mean(axis=1)
        supports[which, :, feature] = lost.mean(axis=1)
    return Readings(before, relevances, supports)
