"""The vote: from distances to probabilities of classes, the choice of a vote, and the losses that train it.

A neighbor at squared distance d supports its label with (d + ε)^−p; ε keeps zero distances finite. The
probability of a class is (share + η/C) / (1 + η): the floor η keeps it above 0 for each of the C classes.

The compiled functions compute the loss of training, and its slopes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numpy.typing import NDArray

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


@njit(nogil=True, cache=True)
def share_loss(distances, labels, label, n_near, power, floor, slopes):
    """Compute −log of the label's share of the support, and its slope with respect to each distance.

    With s_j = d_j^−p, T = Σ s_j and A = Σ_{same label} s_j, the loss is −log[(A + ηT) / ((1 + η) T)]:
    independent of the scale of d, and bounded through η (`floor`) where no neighbor has the label.
    `distances` include ε; the first `n_near` entries count. `slopes` is written.
    """
    nearest = np.inf
    for j in range(n_near):
        nearest = min(nearest, distances[j])
    total = 0.0
    same = 0.0
    for j in range(n_near):
        support = (nearest / distances[j]) ** power
        slopes[j] = support
        total += support
        if labels[j] == label:
            same += support
    padded = same + floor * total
    for j in range(n_near):
        support = slopes[j]
        inside = (1.0 + floor) if labels[j] == label else floor
        slopes[j] = power * support * (inside / padded - 1.0 / total) / distances[j]
    return -np.log(padded / ((1.0 + floor) * total))


@njit(nogil=True, cache=True)
def softmax_loss(distances, labels, label, n_near, power, temperature, n_classes, slopes):
    """Compute −log P(label), P = softmax(S / β) of the supports S(y) = Σ_{y_j = y} d_j^−p, and its slopes.

    The published loss has p = 1. A class without a neighbor contributes exp(0).
    """
    scores = np.zeros(n_classes)
    for j in range(n_near):
        scores[labels[j]] += distances[j] ** -power / temperature
    highest = scores.max()
    total = 0.0
    for y in range(n_classes):
        total += np.exp(scores[y] - highest)
    for j in range(n_near):
        probability = np.exp(scores[labels[j]] - highest) / total
        residual = (1.0 - probability) if labels[j] == label else -probability
        slope = power * distances[j] ** (-power - 1.0) / temperature
        if not 0.0 < slope < np.inf:  # d^(−p−1) is out of range, d^−p/β is not
            slope = power * (distances[j] ** -power / temperature) / distances[j]
        slopes[j] = slope * residual
    return -(scores[label] - highest - np.log(total))


@njit(nogil=True, cache=True)
def neighbor_loss(kind, distances, labels, label, n_near, power, strength, n_classes, slopes):
    """Compute one of the two losses; `strength` is its constant: the floor η, or the temperature β."""
    if kind == SHARES:
        return share_loss(distances, labels, label, n_near, power, strength, slopes)
    return softmax_loss(distances, labels, label, n_near, power, strength, n_classes, slopes)


@njit(nogil=True, cache=True)
def weighted_loss(rule, distances, labels, label, n_near, weights, weight, slopes):
    """Compute `neighbor_loss` with the support of each neighbor, and the loss, multiplied by weights.

    rule : LossRule; weights : (n_near,) of the neighbors; weight : of the query. Changes `distances`.
    """
    kind, _, power, strength, n_classes = rule
    for slot in range(n_near):
        # c d^−p is (c^(−1/p) d)^−p: a larger weight is a shorter distance.
        if weights[slot] != 1.0:
            distances[slot] *= weights[slot] ** (-1.0 / power)
    loss = neighbor_loss(kind, distances, labels, label, n_near, power, strength, n_classes, slopes)
    for slot in range(n_near):
        slopes[slot] *= weight
        if weights[slot] != 1.0:
            slopes[slot] *= weights[slot] ** (-1.0 / power)
    return weight * loss


# By how many standard errors of the paired differences a vote has to be better than the default.
N_STANDARD_ERRORS = 2.0
# A vote is for noisy labels if at least this many neighbors vote with at most this power.
NOISY_NEIGHBORS, NOISY_POWER = 15, 2.0


@dataclass(frozen=True, eq=False, repr=False)
class VoteChoice:
    """The vote of a classifier, and the votes it was compared with.

    Attributes
    ----------
    n_neighbors : int
        Number of neighbors that vote.
    power : float
        Exponent p of the support of a neighbor at squared distance d, d^(−p).
    floor : float
        η, which all classes share: the probability of each is (share of the vote + η/n_classes) / (1 + η).
    votes : ndarray of shape (n_votes, 3)
        Number of neighbors, power and floor of every vote that was compared; the default vote comes first.
    log_losses : ndarray of shape (n_votes,)
        Mean leave-one-out log-loss of plain kNN with each vote, on the standardized training rows; NaN if
        there was nothing to compare.
    chosen : int
        Position of the vote in `votes`.
    best : int
        Position of the vote with the lowest log-loss.
    gain, gain_error : float
        By how much the log-loss of the best vote is lower than that of the default vote, and the standard
        error of this difference. The best vote is chosen if `gain` exceeds twice `gain_error`.
    mean_weight : float
        Mean weight of a distinct training row. With sample weights, `n_neighbors` is a number of votes, of
        which a row has as many as its weight.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> clf = LANNClassifier(max_iter=1, random_state=0).fit(*load_iris(return_X_y=True))
    >>> clf.vote_.n_neighbors == clf.n_neighbors_
    True
    >>> clf.vote_.to_frame().columns.tolist()
    ['n_neighbors', 'power', 'floor', 'log_loss', 'default', 'chosen']
    """

    n_neighbors: int
    power: float
    floor: float
    votes: Floats
    log_losses: Floats
    chosen: int
    best: int
    gain: float
    gain_error: float
    mean_weight: float = 1.0

    @classmethod
    def of(
        cls, votes: Floats, losses: Floats, weights: Floats | None = None, mean_weight: float = 1.0
    ) -> VoteChoice:
        """Choose among votes, given the log-loss of every row under each of them.

        Parameters
        ----------
        votes : ndarray of shape (n_votes, 3)
            Number of neighbors, power and floor; the default vote comes first.
        losses : ndarray of shape (n_rows, n_votes)
            Log-loss of every row under each vote.
        weights : ndarray of shape (n_rows,) or None, default=None
            Weight of each row; None is 1 for all.
        mean_weight : float, default=1.0
            Mean weight of a distinct training row.

        Returns
        -------
        choice : VoteChoice
        """
        n_rows = len(losses)
        if n_rows < 2:
            log_losses, best, gain, error = np.full(len(votes), np.nan), 0, 0.0, 0.0
        else:
            weights = np.ones(n_rows) if weights is None else weights
            log_losses = weights @ losses / weights.sum()
            best = int(np.argmin(log_losses))
            gain = float(log_losses[0] - log_losses[best])
            deviations = weights * (losses[:, 0] - losses[:, best] - gain)
            error = float(np.sqrt(np.square(deviations).sum() * n_rows / (n_rows - 1)) / weights.sum())
        chosen = best if gain > N_STANDARD_ERRORS * error else 0
        n_neighbors, power, floor = votes[chosen].tolist()
        return cls(int(n_neighbors), power, floor, votes, log_losses, chosen, best, gain, error, mean_weight)

    @classmethod
    def fixed(cls, n_neighbors: int, power: float, floor: float) -> VoteChoice:
        """Return a vote that was compared with no other.

        Parameters
        ----------
        n_neighbors : int
        power, floor : float

        Returns
        -------
        choice : VoteChoice
        """
        return cls.of(np.array([[n_neighbors, power, floor]], dtype=np.float64), np.empty((0, 1)))

    @property
    def is_for_noise(self) -> bool:
        """Whether it is a vote for noisy labels: of many neighbors that count nearly alike."""
        return self.n_neighbors / self.mean_weight >= NOISY_NEIGHBORS and self.power <= NOISY_POWER

    def to_frame(self) -> pd.DataFrame:
        """Return the votes that were compared, the lowest log-loss first.

        Returns
        -------
        table : pandas.DataFrame
            With the columns n_neighbors, power, floor, log_loss, default and chosen.
        """
        import pandas as pd

        positions = np.arange(len(self.votes))
        table = pd.DataFrame(self.votes, columns=["n_neighbors", "power", "floor"])
        table["n_neighbors"] = table["n_neighbors"].astype(int)
        table = table.assign(
            log_loss=self.log_losses, default=positions == 0, chosen=positions == self.chosen
        )
        return table.sort_values("log_loss", kind="stable", ignore_index=True)

    def __repr__(self) -> str:
        return f"<VoteChoice: {self}>"

    def __str__(self) -> str:
        neighbors = "1 neighbor" if self.n_neighbors == 1 else f"{self.n_neighbors} neighbors"
        if self.mean_weight > 1.5:
            n_rows = self.n_neighbors / self.mean_weight
            neighbors = f"{self.n_neighbors:.6g} votes, those of about {n_rows:.0f} distinct rows"
        vote = f"{neighbors}, power {self.power:g}, floor {self.floor:g}"
        if not np.isfinite(self.log_losses[0]) or len(self.votes) == 1:
            return vote
        default = f"{self.log_losses[0]:.3f}"
        if self.chosen != 0:
            return (
                f"{vote} (leave-one-out log-loss {self.log_losses[self.chosen]:.3f}, default vote {default})"
            )
        return f"{vote} (the default vote: leave-one-out log-loss {default}, no other is clearly better)"


def leave_one_out_losses(
    distances: Floats,
    neighbor_labels: Labels,
    labels: Labels,
    n_classes: int,
    votes: Floats,
    rule: VoteRule,
    *,
    weights: Floats | None = None,
) -> Floats:
    """Compute the log-loss of every row under each of several votes.

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
    same = neighbor_labels == labels[:, None]
    losses = np.empty((len(distances), len(votes)))
    last = np.minimum(votes[:, 0], distances.shape[1]).astype(np.int64) - 1
    for power in np.unique(votes[:, 1]):
        support = replace(rule, power=float(power)).shares(distances, neighbor_labels)
        members = np.flatnonzero(votes[:, 1] == power)
        if weights is None:
            shares = (np.cumsum(support * same, axis=1) / np.cumsum(support, axis=1))[:, last[members]]
        else:
            shares = _same_shares(support, same, weights, votes[members, 0])
        losses[:, members] = -np.log(with_floor(shares, votes[members, 2], n_classes))
    return losses


def _same_shares(support: Floats, same: NDArray[np.bool_], weights: Floats, n_votes: Floats) -> Floats:
    """Return the share of the neighbors with the row's label, for several numbers of votes.

    The neighbors vote as in `counted_weights`.

    Parameters
    ----------
    support, same, weights : (n_rows, n_kept)
        Of the neighbors, nearest first: support per vote, whether the label is that of the row, and weight.
    n_votes : (n_votes,)

    Returns
    -------
    shares : (n_rows, n_votes)
    """
    rows = np.arange(len(support))
    votes_before, total_before = sums_before(weights), sums_before(weights * support)
    same_before = sums_before(weights * support * same)
    distinct, position = np.unique(n_votes, return_inverse=True)
    shares = np.empty((len(support), len(distinct)))
    for number, k in enumerate(distinct):
        last = np.maximum((votes_before < k).sum(axis=1) - 1, 0)
        left = np.minimum(k - votes_before[rows, last], weights[rows, last]) * support[rows, last]
        total = np.maximum(total_before[rows, last] + left, np.finfo(np.float64).tiny)
        shares[:, number] = (same_before[rows, last] + left * same[rows, last]) / total
    return shares[:, position]
