"""The choice of a vote by how well it predicts held-out rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lann._support.types import Floats, Indices, Labels
from lann.vote._rule import VoteRule, with_floor

if TYPE_CHECKING:
    import pandas as pd

# The weight of a vote in the mean falls by a factor e when this is added to the sum of its log-losses; votes
# with a smaller share of the largest weight are left out.
LOSS_PER_FACTOR = 2.0
SMALLEST_WEIGHT = 0.05
# A shortlist has at least this many times as many rows as vote.
CANDIDATES_PER_NEIGHBOR = 1.5
LOG_LOSS, SQUARED_ERROR = "log-loss", "squared error"
# A vote is for noisy labels if at least this many neighbors vote with at most this power.
NOISY_NEIGHBORS, NOISY_POWER = 15, 2.0


@dataclass(frozen=True, eq=False, repr=False)
class VoteChoice:
    """The vote of a model: a weighted mean of those that predict held-out rows best.

    For regression, the log-loss stands for the squared error of standardized values.

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
    measure : {"log-loss", "squared error"}
        What the losses are.

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
    measure: str = LOG_LOSS

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
        totals, row_weights = _totals(losses, row_weights)
        weights = _weights_of(totals, LOSS_PER_FACTOR)
        own = -np.log(np.exp(-losses[:, weights > 0]) @ weights[weights > 0])
        return cls._compared(votes, weights, losses, own, row_weights, mean_weight=mean_weight)

    @classmethod
    def of_errors(
        cls, votes: Floats, errors: Floats, row_weights: Floats | None = None, mean_weight: float = 1.0
    ) -> VoteChoice:
        """Weight votes by the errors of held-out rows, as `of` does by log-losses, for normal errors.

        Parameters
        ----------
        votes : ndarray of shape (n_votes, 3)
            Number of neighbors, power and 0 of each vote; the default vote comes first.
        errors : ndarray of shape (n_rows, n_votes)
            Value minus prediction of every row under each vote, in standard deviations of the values.
        row_weights : ndarray of shape (n_rows,) or None, default=None
            Weight of each row; None is 1 for all.
        mean_weight : float, default=1.0
            Mean weight of a distinct training row.

        Returns
        -------
        choice : VoteChoice
        """
        losses = np.square(errors)
        totals, row_weights = _totals(losses, row_weights)
        variance = totals.min() / row_weights.sum() if len(errors) else 0.0
        weights = _weights_of(totals, 2.0 * variance * LOSS_PER_FACTOR or 1.0)
        own = np.square(errors @ weights)
        options = {"mean_weight": mean_weight, "measure": SQUARED_ERROR}
        return cls._compared(votes, weights, losses, own, row_weights, **options)

    @classmethod
    def _compared(
        cls, votes: Floats, weights: Floats, losses: Floats, own: Floats, row_weights: Floats, **options: Any
    ) -> VoteChoice:
        """Return the choice with these weights, given the losses of rows under each vote and their mean."""
        n_rows = len(losses)
        if n_rows < 2:
            return cls(votes, np.eye(1, len(votes))[0], np.full(len(votes), np.nan), **options)
        total, gains = row_weights.sum(), losses[:, 0] - own
        gain = float(row_weights @ gains / total)
        error = np.sqrt(np.square(row_weights * (gains - gain)).sum() * n_rows / (n_rows - 1)) / total
        log_loss = float(row_weights @ own / total)
        log_losses = row_weights @ losses / total
        return cls(votes, weights, log_losses, log_loss, gain, float(error), n_rows, **options)

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
            With the columns n_neighbors, power, floor, log_loss (or squared_error), weight and default.
        """
        import pandas as pd

        table = pd.DataFrame(self.votes, columns=["n_neighbors", "power", "floor"])
        table["n_neighbors"] = table["n_neighbors"].astype(int)
        default = np.arange(len(self.votes)) == 0
        name = self.measure.replace("-", "_").replace(" ", "_")
        table = table.assign(**{name: self.log_losses}, weight=self.weights, default=default)
        return table.sort_values(name, kind="stable", ignore_index=True)

    def __repr__(self) -> str:
        return f"<VoteChoice: {self}>"

    def __str__(self) -> str:
        used = self.votes[self.weights > 0]
        (fewest, weakest, _), (most, strongest, _) = used.min(axis=0), used.max(axis=0)
        neighbors = "1 neighbor" if most == 1 else f"{_interval(fewest, most)} neighbors"
        if self.mean_weight > 1.5:
            n_rows = _interval(round(fewest / self.mean_weight), round(most / self.mean_weight))
            neighbors = f"{_interval(fewest, most)} votes, those of about {n_rows} distinct rows"
        text = f"{neighbors}, power {_interval(weakest, strongest)}"
        if self.measure == LOG_LOSS:
            text += f", floor {self.floor:.2g}"
        if len(used) > 1:
            text = f"mean of {len(used)} votes of {text}"
        if self.log_loss is None:
            return text
        return (
            f"{text} ({self.measure} of {self.n_rows} held-out rows {self.log_loss:.3f}, "
            f"{self.gain:.3f} ± {self.gain_error:.3f} below that of the default vote)"
        )


def _totals(losses: Floats, row_weights: Floats | None) -> tuple[Floats, Floats]:
    """Return the weighted sum of the losses under each vote, and the weights of the rows."""
    row_weights = np.ones(len(losses)) if row_weights is None else row_weights
    return row_weights @ losses, row_weights


def _weights_of(totals: Floats, loss_per_factor: float) -> Floats:
    """Return the weights of votes with these total losses, of which the smallest are left out."""
    weights = np.exp((totals.min() - totals) / loss_per_factor)
    weights[weights < SMALLEST_WEIGHT] = 0.0
    return weights / weights.sum()


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
    for members, shares in _shares_of(distances, neighbor_labels, votes, rule, weights):
        found = (shares * same[:, : shares.shape[1]]).sum(axis=1)[:, None]
        losses[:, members] = -np.log(with_floor(found, votes[members, 2], n_classes))
    return losses


def held_out_means(
    distances: Floats, neighbor_values: Floats, votes: Floats, *, weights: Floats | None = None
) -> Floats:
    """Compute the mean of the neighbors' values of held-out rows under each of several votes.

    Parameters
    ----------
    distances, neighbor_values : (n_rows, n_kept)
        Squared distances, in units of ε, and values of the neighbors of each row, nearest first.
    votes : (n_votes, 3)
    weights : (n_rows, n_kept) or None

    Returns
    -------
    means : (n_rows, n_votes)
    """
    means = np.empty((len(distances), len(votes)))
    nothing = np.zeros(distances.shape, np.int64)
    for members, shares in _shares_of(distances, nothing, votes, VoteRule(), weights):
        means[:, members] = (shares * neighbor_values[:, : shares.shape[1]]).sum(axis=1)[:, None]
    return means


def _shares_of(
    distances: Floats, labels: Labels, votes: Floats, rule: VoteRule, weights: Floats | None
) -> Iterator[tuple[Indices, Floats]]:
    """Yield the votes with the same number of neighbors and power, and the shares of the neighbors."""
    kinds, position = np.unique(votes[:, :2], axis=0, return_inverse=True)
    for number, (k, power) in enumerate(kinds):
        near = slice(None if weights is not None else int(k))
        counted = None if weights is None else weights[:, near]
        shares = replace(rule, power=float(power)).shares(
            distances[:, near], labels[:, near], counted, float(k)
        )
        yield np.flatnonzero(position.ravel() == number), shares
