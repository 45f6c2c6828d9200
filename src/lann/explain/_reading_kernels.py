"""Votes on rows in which one number is changed."""

from __future__ import annotations

import numpy as np

from lann._compile import njit
from lann.explain._walk_kernels import count_votes, find_nearest


@njit(nogil=True, cache=True)
def vote_on_changes(
    distances, slopes, curvatures, changes, labels, row_weights, class_weight, own, k, n_votes, epsilon
):
    """Return the share of each class where a feature is changed: (n_features, n_values, n_classes).

    A change by δ in feature l changes a squared distance by 2 δ s_l + δ² c_l. The k nearest rows vote with
    1/d, until `n_votes` are counted.

    Parameters
    ----------
    distances : (n_rows,)
        Squared.
    slopes, curvatures : (n_features, n_rows)
    changes : (n_features, n_values)
    labels : (n_rows,)
        Class indices.
    row_weights : (n_rows,)
        Number of votes of each row.
    class_weight : (n_classes,)
    own : int
        A row that does not vote; -1 for none.
    k : int
    n_votes, epsilon : float
    """
    n_rows, (n_features, n_values) = len(distances), changes.shape
    shares = np.empty((n_features, n_values, len(class_weight)))
    moved, keys, slots = np.empty(n_rows), np.empty(n_rows), np.empty(n_rows, np.int64)
    is_found = np.zeros(n_rows, np.bool_)
    n_found = 0
    for feature in range(n_features):
        for value in range(n_values):
            change = changes[feature, value]
            for j in range(n_rows):
                key = distances[j] + change * (2.0 * slopes[feature, j] + change * curvatures[feature, j])
                moved[j] = max(key, 0.0)  # rounding may go below 0
            if own >= 0:
                moved[own] = np.inf
            n_found = find_nearest(moved, k, n_found, keys, slots, is_found)
            count_votes(
                keys, slots, n_found, labels, row_weights, class_weight, n_votes, epsilon, 1.0,
                shares[feature, value],
            )  # fmt: skip
    return shares
