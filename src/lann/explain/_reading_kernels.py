"""Votes on rows in which one number is changed."""

from __future__ import annotations

import numpy as np
from numba import njit

from lann.explain._walk_kernels import find_nearest


@njit(nogil=True, cache=True)
def vote_on_changes(
    distances, slopes, curvatures, changes, labels, weights, own, k, n_votes, epsilon, n_classes
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
    weights : (n_rows, 2)
        The number of votes of each row, and the factor of their support.
    own : int
        A row that does not vote; -1 for none.
    k : int
    n_votes, epsilon : float
    n_classes : int
    """
    n_rows, (n_features, n_values) = len(distances), changes.shape
    shares = np.zeros((n_features, n_values, n_classes))
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
            left, total = n_votes, 0.0
            for i in range(n_found):
                j = slots[i]
                counted = min(weights[j, 0], left)
                left -= counted
                support = counted * weights[j, 1] * (keys[0] + epsilon) / (keys[i] + epsilon)
                shares[feature, value, labels[j]] += support
                total += support
            for label in range(n_classes):
                shares[feature, value, label] /= total
    return shares
