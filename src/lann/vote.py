"""The vote: from distances to probabilities of classes, the choice of a vote, and the losses that train it.

A neighbor at squared distance d supports its label with (d + ε)^−p; ε keeps zero distances finite. The
probability of a class is (share + η/C) / (1 + η): the floor η keeps it above 0 for each of the C classes. The
mean of several votes, with other numbers of neighbors and powers, is a vote, too: each neighbor has the mean
of its shares.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lann import _native
from lann._support.types import Floats, Labels

if TYPE_CHECKING:
    import pandas as pd


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


SHARES, SOFTMAX = 0, 1

# The weight of a vote in the mean falls by a factor e when this is added to the sum of its log-losses; votes
# with a smaller share of the largest weight are left out.
LOSS_PER_FACTOR = 2.0
SMALLEST_WEIGHT = 0.05
# A shortlist has at least this many times as many rows as vote.
CANDIDATES_PER_NEIGHBOR = 1.5
# A vote is for noisy labels if at least this many neighbors vote with at most this power.
NOISY_NEIGHBORS, NOISY_POWER = 15, 2.0


@dataclass(frozen=True, eq=False, repr=False)
class VoteChoice:
    """The vote of a classifier: a weighted mean of those that predict held-out rows best.

    Attributes
    ----------
    votes : ndarray of shape (n_votes, 3)
        Number of neighbors, power and floor of every vote that was compared; the default vote comes first.
    weights : ndarray of shape (n_votes,)
        Weight of each in the mean; they add up to 1.
    log_losses : ndarray of shape (n_votes,)
        Mean log-loss of held-out rows under each vote; NaN if there was nothing to compare.
    log_loss : float or None
        That of the mean vote.
    gain, gain_error : float
        By how much `log_loss` is lower than that of the default vote, and the standard error of this
        difference.
    n_rows : int
        Number of held-out rows: training rows that were neighbors of others, but not learned from.
    mean_weight : float
        Mean weight of a distinct training row. With sample weights, numbers of neighbors are numbers of
        votes, of which a row has as many as its weight.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> clf = LANNClassifier(max_iter=1, random_state=0).fit(*load_iris(return_X_y=True))
    >>> clf.vote_.n_neighbors == clf.n_neighbors_
    True
    >>> clf.vote_.to_frame().columns.tolist()
    ['n_neighbors', 'power', 'floor', 'log_loss', 'weight', 'default']
    """

    votes: Floats
    weights: Floats
    log_losses: Floats
    log_loss: float | None = None
    gain: float = 0.0
    gain_error: float = 0.0
    n_rows: int = 0
    mean_weight: float = 1.0

    @classmethod
    def of(
        cls, votes: Floats, losses: Floats, row_weights: Floats | None = None, mean_weight: float = 1.0
    ) -> VoteChoice:
        """Weight votes by the log-losses of held-out rows.

        A vote has the weight exp(−sum of its log-losses / 2): with few rows, the mean is one of many votes
        that are about as good, and with many rows of few.

        Parameters
        ----------
        votes : ndarray of shape (n_votes, 3)
            Number of neighbors, power and floor; the default vote comes first.
        losses : ndarray of shape (n_rows, n_votes)
            Log-loss of every row under each vote.
        row_weights : ndarray of shape (n_rows,) or None, default=None
            Weight of each row; None is 1 for all.
        mean_weight : float, default=1.0
            Mean weight of a distinct training row.

        Returns
        -------
        choice : VoteChoice
        """
        n_rows = len(losses)
        if n_rows < 2:
            return cls(votes, np.eye(1, len(votes))[0], np.full(len(votes), np.nan), mean_weight=mean_weight)
        row_weights = np.ones(n_rows) if row_weights is None else row_weights
        totals = row_weights @ losses
        weights = np.exp((totals.min() - totals) / LOSS_PER_FACTOR)
        weights[weights < SMALLEST_WEIGHT] = 0.0
        weights /= weights.sum()
        used, total = weights > 0, row_weights.sum()
        own = -np.log(np.exp(-losses[:, used]) @ weights[used])
        gains = losses[:, 0] - own
        gain = float(row_weights @ gains / total)
        error = np.sqrt(np.square(row_weights * (gains - gain)).sum() * n_rows / (n_rows - 1)) / total
        log_loss = float(row_weights @ own / total)
        return cls(votes, weights, totals / total, log_loss, gain, float(error), n_rows, mean_weight)

    @classmethod
    def fixed(cls, n_neighbors: int, power: float, floor: float, mean_weight: float = 1.0) -> VoteChoice:
        """Return a vote that was compared with no other.

        Parameters
        ----------
        n_neighbors : int
        power, floor : float
        mean_weight : float, default=1.0

        Returns
        -------
        choice : VoteChoice
        """
        vote = np.array([[n_neighbors, power, floor]], dtype=np.float64)
        return cls.of(vote, np.empty((0, 1)), mean_weight=mean_weight)

    @property
    def n_neighbors(self) -> int:
        """Number of neighbors that vote, at most."""
        return int(self.votes[self.weights > 0, 0].max())

    @property
    def power(self) -> float:
        """Mean exponent p of the support of a neighbor at squared distance d, d^(−p)."""
        return float(self.weights @ self.votes[:, 1])

    @property
    def floor(self) -> float:
        """η, which all classes share: their probabilities are (share of the vote + η/n_classes) / (1 + η)."""
        return float(1.0 / (self.weights @ (1.0 / (1.0 + self.votes[:, 2]))) - 1.0)

    @property
    def mixture(self) -> Floats | None:
        """Number of neighbors, power and weight of each vote: see `VoteRule`; None for a single one."""
        used = np.flatnonzero(self.weights)
        kinds, position = np.unique(self.votes[used, 1::-1], axis=0, return_inverse=True)
        if len(kinds) == 1:
            return None
        weights = np.bincount(position.ravel(), self.weights[used] / (1.0 + self.votes[used, 2]))
        return np.ascontiguousarray(np.column_stack([kinds[:, ::-1], weights / weights.sum()]))

    def rule(self, class_weight: Floats | None = None) -> VoteRule:
        """Return how neighbors vote, with an ε of 1.

        Parameters
        ----------
        class_weight : ndarray of shape (n_classes,) or None, default=None

        Returns
        -------
        rule : VoteRule
        """
        return VoteRule(self.power, 1.0, class_weight, self.floor, self.mixture)

    def shortlist_size(self, n_candidates: int | None, n_neighbors: int | str) -> int | None:
        """Return the size of the shortlist, which is larger where many neighbors were chosen to vote.

        Parameters
        ----------
        n_candidates : int or None
        n_neighbors : int or "auto"
            The parameters of the classifier.

        Returns
        -------
        size : int or None
        """
        if n_candidates is None or n_neighbors != "auto":
            return n_candidates
        least = CANDIDATES_PER_NEIGHBOR * self.n_neighbors / max(self.mean_weight, 1.0)
        return max(n_candidates, math.ceil(least))

    @property
    def is_for_noise(self) -> bool:
        """Whether most of it is for noisy labels: votes of many neighbors that count nearly alike."""
        is_wide = self.votes[:, 0] / self.mean_weight >= NOISY_NEIGHBORS
        return bool(self.weights @ (is_wide & (self.votes[:, 1] <= NOISY_POWER)) > 0.5)

    def to_frame(self) -> pd.DataFrame:
        """Return the votes that were compared, the lowest log-loss first.

        Returns
        -------
        table : pandas.DataFrame
            With the columns n_neighbors, power, floor, log_loss, weight and default.
        """
        import pandas as pd

        table = pd.DataFrame(self.votes, columns=["n_neighbors", "power", "floor"])
        table["n_neighbors"] = table["n_neighbors"].astype(int)
        default = np.arange(len(self.votes)) == 0
        table = table.assign(log_loss=self.log_losses, weight=self.weights, default=default)
        return table.sort_values("log_loss", kind="stable", ignore_index=True)

    def __repr__(self) -> str:
        return f"<VoteChoice: {self}>"

    def __str__(self) -> str:
        used = self.votes[self.weights > 0]
        (fewest, weakest, _), (most, strongest, _) = used.min(axis=0), used.max(axis=0)
        neighbors = "1 neighbor" if most == 1 else f"{_interval(fewest, most)} neighbors"
        if self.mean_weight > 1.5:
            n_rows = _interval(round(fewest / self.mean_weight), round(most / self.mean_weight))
            neighbors = f"{_interval(fewest, most)} votes, those of about {n_rows} distinct rows"
        text = f"{neighbors}, power {_interval(weakest, strongest)}, floor {self.floor:.2g}"
        if len(used) > 1:
            text = f"mean of {len(used)} votes of {text}"
        if self.log_loss is None:
            return text
        return (
            f"{text} (log-loss of {self.n_rows} held-out rows {self.log_loss:.3f}, "
            f"{self.gain:.3f} ± {self.gain_error:.3f} below that of the default vote)"
        )


def _interval(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def held_out_losses(
    distances: Floats,
    neighbor_labels: Labels,
    labels: Labels,
    n_classes: int,
    votes: Floats,
    rule: VoteRule,
    *,
    weights: Floats | None = None,
) -> Floats:
    """Compute the log-loss of held-out rows under each of several votes.

    Parameters
    ----------
    distances, neighbor_labels : (n_rows, n_kept)
        Squared distances and class indices of the neighbors of each row, itself excluded, nearest first.
    labels : (n_rows,)
        Class indices of the rows.
    n_classes : int
    votes : (n_votes, 3)
        Number of neighbors, power and floor of each vote; of more neighbors than there are, all vote.
    rule : VoteRule
        Gives ε and the class weights.
    weights : (n_rows, n_kept) or None
        Weight of each neighbor; 2 is the same as the neighbor twice, None is 1 for all.

    Returns
    -------
    losses : (n_rows, n_votes)
        −log of the probability of the row's label.
    """
    same, losses = neighbor_labels == labels[:, None], np.empty((len(distances), len(votes)))
    kinds, position = np.unique(votes[:, :2], axis=0, return_inverse=True)
    for number, (k, power) in enumerate(kinds):
        near = slice(None if weights is not None else int(k))
        counted = None if weights is None else weights[:, near]
        shares = replace(rule, power=float(power)).shares(
            distances[:, near], neighbor_labels[:, near], counted, float(k)
        )
        members = np.flatnonzero(position.ravel() == number)
        found = (shares * same[:, near]).sum(axis=1)[:, None]
        losses[:, members] = -np.log(with_floor(found, votes[members, 2], n_classes))
    return losses
