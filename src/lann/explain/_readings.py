"""What a vote depends on: how it changes when features are replaced, one alone, or one after another.

At a row x, feature l alone is replaced by values v that occur in the data, and the neighbors vote again:

    a_l(x) = mean over v of ½ Σ_y |P(y | x, x_l = v) − P(y | x)|

is the share of the vote that changes. Where the vote is certain, or features say the same, no feature changes
anything alone. Therefore the features are also replaced one after another, until x has become a row x' of
another class (see `lann.explain._walks`): with the credits φ_yl of feature l,

    c_l(x) = mean over x' of ½ Σ_y |φ_yl|

is the share of the vote that it changes on the way. The relevance is the mean of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lann._types import Floats, Indices

if TYPE_CHECKING:
    from lann.model import CategoryValues, NeighborModel

# From rows (n, n_features), and the positions of the rows they were changed from (n,), to probabilities.
VoteFunction = Callable[[Floats, Indices], Floats]

# Numbers in the changed rows that vote in one call: 32 MB.
CHANGED_AT_ONCE = 2**22


@dataclass(frozen=True)
class Readings:
    """Votes at some rows, and what they depend on.

    Attributes
    ----------
    votes : ndarray of shape (n_rows, n_classes)
        The vote at each row.
    alone : ndarray of shape (n_rows, n_features)
        The share of the vote that changes when the value of a feature alone is replaced.
    contrast : ndarray of shape (n_rows, n_features)
        The share of the vote that a feature changes on the way to rows of other classes.
    """

    votes: Floats
    alone: Floats
    contrast: Floats

    @property
    def relevances(self) -> Floats:
        """The mean of both shares: (n_rows, n_features)."""
        return 0.5 * (self.alone + self.contrast)

    def mean_votes(self, near: Indices) -> Floats:
        """Return the mean vote over some rows for each query.

        Parameters
        ----------
        near : ndarray of shape (n_queries, n_near)
            Positions of the rows.

        Returns
        -------
        votes : ndarray of shape (n_queries, n_classes)
        """
        return _means(self.votes, near)

    def mean_relevances(self, near: Indices) -> Floats:
        """Return the mean relevances over some rows for each query.

        Parameters
        ----------
        near : ndarray of shape (n_queries, n_near)
            Positions of the rows.

        Returns
        -------
        relevances : ndarray of shape (n_queries, n_features)
        """
        return _means(self.relevances, near)


def _means(values: Floats, near: Indices) -> Floats:
    """Return the mean over some rows for each query, one column of `near` at a time to save memory."""
    total = values[near[:, 0]].copy()
    for column in near.T[1:]:
        total += values[column]
    total /= near.shape[1]
    return total


def read_alone(
    votes: VoteFunction,
    rows: Floats,
    values: Floats,
    features: Iterable[int],
    categories: Mapping[int, CategoryValues] | None = None,
) -> Floats:
    """Replace single features of each row by each value, and return how much of the vote changes.

    Parameters
    ----------
    votes : callable
    rows : (n_rows, n_features)
    values : (n_values, n_features)
        Values that count alike.
    features : iterable of int
    categories : mapping of int to CategoryValues or None
        For features with categories, values that replace those in `values`, and how much each counts.

    Returns
    -------
    changes : (n_rows, n_features)
        0 for other features.
    """
    categories = categories or {}
    n_rows, n_features = rows.shape
    before = votes(rows, np.arange(n_rows))
    changes = np.zeros((n_rows, n_features))
    for feature in features:
        codes, weights = categories.get(feature, (values[:, feature], np.full(len(values), 1 / len(values))))
        block = max(CHANGED_AT_ONCE // (n_features * len(codes)), 1)
        for start in range(0, n_rows, block):
            row = np.arange(start, min(start + block, n_rows))
            changed = np.repeat(rows[row][:, None, :], len(codes), axis=1)
            changed[:, :, feature] = codes
            after = votes(changed.reshape(-1, n_features), np.repeat(row, len(codes)))
            lost = before[row, None, :] - after.reshape(len(row), len(codes), -1)
            changes[row, feature] = 0.5 * np.abs(lost).sum(axis=2) @ weights
    return changes


def read_prototypes(model: NeighborModel, queries: Floats, *, n_jobs: int | None = None) -> Readings:
    """Compute the readings of a model with few rows at the queries themselves.

    Where one feature changes by δ, the squared distance to a row changes by 2 δ (Λ(x − p))_l + δ² Λ_ll: no
    further matrix product is needed, and the cost is that of some predictions.

    Parameters
    ----------
    model : NeighborModel
        With one constant metric matrix per row.
    queries : (n_queries, n_features)
    """
    from lann.explain._contrast_rows import nearest_contrasts
    from lann.explain._walks import walk_supports

    n_queries, n_features = queries.shape
    everyone = np.arange(len(model.X))
    matrices = model.local_matrices(everyone)  # (n_rows, n_features, n_features)
    diagonals = np.einsum("pff->pf", matrices)
    values = model.typical_values  # (n_values, n_features)
    before = model.vote(*model.voters(queries, n_jobs=n_jobs)).probabilities
    alone = np.empty((n_queries, n_features))
    block = max(CHANGED_AT_ONCE // (len(values) * n_features * len(everyone)), 1)
    for start in range(0, n_queries, block):
        part = slice(start, start + block)
        steps = queries[part, None, :] - model.X  # (n, n_rows, n_features)
        slopes = 2.0 * np.einsum("qpf,pfg->qpg", steps, matrices)
        distances = model.distances(queries[part], np.tile(everyone, (len(steps), 1)), n_jobs=n_jobs)
        for feature in range(n_features):
            change = values[:, feature] - queries[part, feature, None]  # (n, n_values)
            moved = distances[:, None, :] + change[:, :, None] * slopes[:, None, :, feature]
            moved += np.square(change)[:, :, None] * diagonals[:, feature]
            after = _vote_of_nearest(model, np.maximum(moved, 0.0).reshape(-1, len(everyone)))
            lost = before[part, None, :] - after.reshape(len(steps), len(values), -1)
            alone[part, feature] = 0.5 * np.abs(lost).sum(axis=2).mean(axis=1)
    ends = nearest_contrasts(model, queries, before.argmax(axis=1), n_jobs=n_jobs)
    return Readings(before, alone, walk_supports(model, queries, ends, n_jobs=n_jobs).changes)


def _vote_of_nearest(model: NeighborModel, distances: Floats) -> Floats:
    """Return the vote of the nearest row of every class, given the distances to all rows."""
    firsts = np.flatnonzero(np.diff(model.labels, prepend=-1))
    nearest = np.stack(
        [
            first + part.argmin(axis=1)
            for first, part in zip(firsts, np.split(distances, firsts[1:], axis=1), strict=True)
        ],
        axis=1,
    )
    return model.vote(nearest, np.take_along_axis(distances, nearest, axis=1)).probabilities
