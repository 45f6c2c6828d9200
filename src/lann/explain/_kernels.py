"""Compiled votes on changed rows: on the way from a query to another row, and where one number is changed."""

from __future__ import annotations

import numpy as np
from numba import njit

from lann.vote import HUGE

# Powers up to this one are products.
LARGEST_PRODUCT = 16


@njit(nogil=True, cache=True)
def _insert(keys, slots, i):
    """Move the last of the first i + 1 candidates to its place; equal distances by index."""
    key, slot = keys[i], slots[i]
    while i > 0 and (key < keys[i - 1] or (key == keys[i - 1] and slot < slots[i - 1])):
        keys[i], slots[i] = keys[i - 1], slots[i - 1]
        i -= 1
    keys[i], slots[i] = key, slot


@njit(nogil=True, cache=True)
def find_nearest(distances, k, n_found, keys, slots, is_found):
    """Update the k nearest candidates, and return their number.

    Those found so far are nearly in order if the distances have changed little.

    Parameters
    ----------
    distances : (n_candidates,)
        Infinite for candidates that do not count.
    k, n_found : int
    keys, slots : (n_candidates,)
        Their distances and positions, nearest first, equal distances by index.
    is_found : (n_candidates,)
    """
    for i in range(n_found):
        keys[i] = min(distances[slots[i]], HUGE)
        _insert(keys, slots, i)
    for slot in range(len(distances)):
        key = distances[slot]
        if is_found[slot] or key == np.inf:
            continue
        if n_found == k:
            if key >= keys[k - 1] and (key > keys[k - 1] or slot > slots[k - 1]):
                continue
            is_found[slots[k - 1]] = False
            n_found -= 1
        keys[n_found], slots[n_found], is_found[slot] = min(key, HUGE), slot, True
        _insert(keys, slots, n_found)
        n_found += 1
    return n_found


@njit(nogil=True, cache=True)
def count_votes(keys, slots, n_found, labels, row_weights, class_weight, n_votes, epsilon, power, shares):
    """Set the share of each class in the vote of the nearest candidates: (n_classes,).

    They vote until `n_votes` are counted, as by `NeighborModel.count_votes`.
    """
    exponent = int(power)
    is_product = exponent == power and exponent <= LARGEST_PRODUCT
    nearest, left, total = keys[0] + epsilon, n_votes, 0.0
    shares[:] = 0.0
    for i in range(n_found):
        counted = min(row_weights[slots[i]], left)
        left -= counted
        ratio, support = nearest / (keys[i] + epsilon), 1.0
        if is_product:
            for _ in range(exponent):
                support *= ratio
        else:
            support = ratio**power
        label = labels[slots[i]]
        support *= counted * class_weight[label]
        shares[label] += support
        total += support
    shares /= total


@njit(nogil=True, cache=True)
def vote_on_walks(distances, labels, row_weights, class_weight, k, n_votes, epsilon, power):
    """Return the share of each class in the vote at every stop: (n_walks, n_stops, n_classes).

    The k nearest candidates vote until `n_votes` are counted.

    Parameters
    ----------
    distances : (n_walks, n_stops, n_candidates)
        Squared; infinite for candidates that do not count.
    labels : (n_walks, n_candidates)
        Class indices.
    row_weights : (n_walks, n_candidates)
        Number of votes of each candidate.
    class_weight : (n_classes,)
    k : int
    n_votes, epsilon, power : float
    """
    n_walks, n_stops, n_candidates = distances.shape
    shares = np.empty((n_walks, n_stops, len(class_weight)))
    keys, slots = np.empty(n_candidates), np.empty(n_candidates, np.int64)
    is_found = np.empty(n_candidates, np.bool_)
    k = min(k, n_candidates)
    for walk in range(n_walks):
        n_found = 0
        is_found[:] = False
        for stop in range(n_stops):
            n_found = find_nearest(distances[walk, stop], k, n_found, keys, slots, is_found)
            count_votes(
                keys, slots, n_found, labels[walk], row_weights[walk], class_weight, n_votes, epsilon, power,
                shares[walk, stop],
            )  # fmt: skip
    return shares


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
