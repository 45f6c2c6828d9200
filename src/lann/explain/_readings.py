"""What a vote depends on: how it changes when the value of a feature is replaced.

At a row x, feature l is replaced by values v that occur in the data, and the neighbors vote again:

    r_l(x) = mean over v of ½ Σ_y |P(y | x, x_l = v) − P(y | x)|

is the share of the vote that changes. It reflects the whole metric, whichever of its levels a feature acts
through, and the neighbors of the changed rows, not only the nearest few of x.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
    """Votes, relevances and supports at some rows.

    Attributes
    ----------
    votes : ndarray of shape (n_rows, n_classes)
        The vote at each row.
    relevances : ndarray of shape (n_rows, n_features)
        The share of the vote that changes when the value of a feature is replaced.
    supports : ndarray of shape (n_rows, n_classes, n_features)
        How much more of the vote a class has with the value of the feature than with other values.
    """

    votes: Floats
    relevances: Floats
    supports: Floats

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

    def mean_supports(self, near: Indices) -> Floats:
        """Return the mean supports over some rows for each query.

        Parameters
        ----------
        near : ndarray of shape (n_queries, n_near)
            Positions of the rows.

        Returns
        -------
        supports : ndarray of shape (n_queries, n_classes, n_features)
        """
        return _means(self.supports, near)

    def mean_support_of(self, near: Indices, class_indices: Indices) -> Floats:
        """Return the mean supports of one class for each query.

        Parameters
        ----------
        near : ndarray of shape (n_queries, n_near)
            Positions of the rows.
        class_indices : ndarray of shape (n_queries,)

        Returns
        -------
        support : ndarray of shape (n_queries, n_features)
        """
        total = np.zeros((len(near), self.supports.shape[2]))
        for column in near.T:
            total += self.supports[column, class_indices]
        return total / near.shape[1]


def _means(values: Floats, near: Indices) -> Floats:
    """Return the mean over some rows for each query, one column of `near` at a time to save memory."""
    total = values[near[:, 0]].copy()
    for column in near.T[1:]:
        total += values[column]
    total /= near.shape[1]
    return total


def read(
    votes: VoteFunction,
    rows: Floats,
    values: Floats,
    categories: Mapping[int, CategoryValues] | None = None,
) -> Readings:
    """Replace each feature of each row by each value, and compare the votes.

    Parameters
    ----------
    votes : callable
    rows : (n_rows, n_features)
    values : (n_values, n_features)
        Values that count alike.
    categories : mapping of int to CategoryValues or None
        For features with categories, values that replace those in `values`, and how much each counts.
    """
    categories = categories or {}
    n_rows, n_features = rows.shape
    n_values = len(values)
    numbers = np.array([f for f in range(n_features) if f not in categories], np.int64)
    before = votes(rows, np.arange(n_rows))
    relevances = np.empty((n_rows, n_features))
    supports = np.empty((n_rows, before.shape[1], n_features))
    # Pairs of a row and a feature, in blocks.
    block = max(CHANGED_AT_ONCE // (n_features * n_values), 1)
    for start in range(0, n_rows * len(numbers), block):
        row, number = np.divmod(np.arange(start, min(start + block, n_rows * len(numbers))), len(numbers))
        feature = numbers[number]
        changed = np.repeat(rows[row][:, None, :], n_values, axis=1)  # (n_pairs, n_values, n_features)
        changed[np.arange(len(row)), :, feature] = values[:, feature].T
        after = votes(changed.reshape(-1, n_features), np.repeat(row, n_values))
        lost = before[row, None, :] - after.reshape(len(row), n_values, -1)
        relevances[row, feature] = 0.5 * np.abs(lost).sum(axis=2).mean(axis=1)
        supports[row, :, feature] = lost.mean(axis=1)
    for category, (codes, weights) in categories.items():
        block = max(CHANGED_AT_ONCE // (n_features * len(codes)), 1)
        for start in range(0, n_rows, block):
            row = np.arange(start, min(start + block, n_rows))
            changed = np.repeat(rows[row][:, None, :], len(codes), axis=1)
            changed[:, :, category] = codes
            after = votes(changed.reshape(-1, n_features), np.repeat(row, len(codes)))
            lost = before[row, None, :] - after.reshape(len(row), len(codes), -1)
            relevances[row, category] = 0.5 * np.abs(lost).sum(axis=2) @ weights
            supports[row, :, category] = np.einsum("rvc,v->rc", lost, weights)
    return Readings(before, relevances, supports)


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
    n_queries, n_features = queries.shape
    everyone = np.arange(len(model.X))
    matrices = model.local_matrices(everyone)  # (n_rows, n_features, n_features)
    diagonals = np.einsum("pff->pf", matrices)
    values = model.typical_values  # (n_values, n_features)
    before = model.vote(*model.voters(queries, n_jobs=n_jobs)).probabilities
    relevances = np.empty((n_queries, n_features))
    supports = np.empty((n_queries, before.shape[1], n_features))
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
            relevances[part, feature] = 0.5 * np.abs(lost).sum(axis=2).mean(axis=1)
            supports[part, :, feature] = lost.mean(axis=1)
    return Readings(before, relevances, supports)


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
