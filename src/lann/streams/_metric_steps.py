"""Kernels that learn the metric: the gradient of one row's loss, and a step on every part of the metric."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from lann._support.types import Floats
from lann.streams._metric import FIRST, N_STEPS, POINTS, SECOND, VALUE, WEIGHTS, Metric
from lann.streams._metric_kernels import find_bin, standardize

# Bounds of the log weights a and of the age, and of s, v and u.
LOWEST, HIGHEST, LARGEST_DEPARTURE = -5.0, 3.0, 3.0
# Adam.
RATE, DECAY_FIRST, DECAY_SECOND, SMALLEST_ROOT = 0.01, 0.9, 0.999, 1e-4
# Penalty on s and v: its gradient per unit.
PENALTY = 0.01
# Steps on the point weights u, their largest change, and the share of u that each step forgets.
POINT_RATE, LARGEST_POINT_STEP, POINT_DECAY = 0.5, 0.5, 0.025


class Gradients(NamedTuple):
    """Gradients of the loss of one row.

    Attributes
    ----------
    features : (n_features, 1 + n_bins)
        Of a and s.
    classes : (n_classes, n_features)
        Of v.
    age : (1,)
        Of the log weight of the age.
    point : (n_features,)
        Of u of the stored row that was added last.
    """

    features: Floats
    classes: Floats
    age: Floats
    point: Floats


@njit(nogil=True, cache=True)
def new_gradients(metric: Metric) -> Gradients:
    """Return gradients that are 0."""
    n_features = len(metric.center)
    return Gradients(
        np.zeros(metric.features.shape[1:]),
        np.zeros(metric.class_weights.shape),
        np.zeros(1),
        np.zeros(n_features),
    )


@njit(nogil=True, cache=True)
def clear_gradients(gradients: Gradients) -> None:
    """Set all gradients to 0."""
    gradients.features[:] = 0.0
    gradients.classes[:] = 0.0
    gradients.age[0] = 0.0


@njit(nogil=True, cache=True)
def add_row(
    metric: Metric, x: Floats, stored: Floats, extras: Floats, label: int, slope: float, gradients: Gradients
) -> None:
    """Add the gradient through the distance of one stored row, without its age.

    Parameters
    ----------
    metric : Metric
    x : (n_features,)
        The row that is learned, as given.
    stored, extras : (n_features,), (3 * n_features,)
        The stored row, as given, and its extras.
    label : int
        Of the stored row.
    slope : float
        ∂loss/∂d of its distance.
    gradients : Gradients
    """
    n_features = len(x)
    n_common = 0
    for feature in range(n_features):
        n_common += not np.isnan(x[feature] - stored[feature])
    for feature in range(n_features):
        gradients.point[feature] = 0.0
        if np.isnan(x[feature] - stored[feature]):
            continue
        here, there = standardize(metric, feature, x[feature]), standardize(metric, feature, stored[feature])
        low, high = min(here, there), max(here, there)
        first, last = find_bin(metric, feature, low), find_bin(metric, feature, high)
        difference = 0.0  # of the curve's values
        for number in range(first, last + 1):
            difference += rise(metric, feature, number, low, high)
        # ∂loss/∂difference, of which each bin has its part of the difference.
        weight = extras[WEIGHTS * n_features + feature]
        factor = slope * weight * difference * (n_features / n_common)
        for number in range(first, last + 1):
            part = rise(metric, feature, number, low, high)
            gradients.features[feature, 1 + number] += 2.0 * factor * part
        gradients.features[feature, 0] += 2.0 * factor * difference
        gradients.classes[label, feature] += factor * difference
        gradients.point[feature] = factor * difference


@njit(nogil=True, cache=True)
def rise(metric: Metric, feature: int, number: int, low: float, high: float) -> float:
    """Return how much a curve rises within one bin, between two standardized values."""
    if number > 0:
        low = max(low, metric.edges[feature, number - 1])
    if number < metric.edges.shape[1]:
        high = min(high, metric.edges[feature, number])
    return metric.slopes[feature, number] * max(high - low, 0.0)


@njit(nogil=True, cache=True)
def step_point(extras: Floats, column: int, gradient: Floats) -> None:
    """Take a step on the point weights of a stored row: extras (3 * n_features, capacity)."""
    n_features = len(gradient)
    for feature in range(n_features):
        step = min(max(-POINT_RATE * gradient[feature], -LARGEST_POINT_STEP), LARGEST_POINT_STEP)
        before = extras[POINTS * n_features + feature, column]
        after = before * (1.0 - POINT_DECAY) + step
        after = min(max(after, -LARGEST_DEPARTURE), LARGEST_DEPARTURE)
        extras[POINTS * n_features + feature, column] = after
        extras[WEIGHTS * n_features + feature, column] *= np.exp(after - before)


@njit(nogil=True, cache=True)
def step_shared(metric: Metric, gradients: Gradients) -> None:
    """Take a step of Adam on the curves, the class weights and the weight of the age."""
    metric.counters[N_STEPS] += 1
    n_steps = metric.counters[N_STEPS]
    first, second = 1.0 - DECAY_FIRST**n_steps, 1.0 - DECAY_SECOND**n_steps
    rate = RATE / first
    n_features, n_columns = gradients.features.shape
    values = metric.features[VALUE]
    total = 0.0
    for feature in range(n_features):
        for column in range(n_columns):
            gradient, bound = gradients.features[feature, column], -LOWEST
            if column > 0:
                gradient, bound = gradient + PENALTY * values[feature, column], LARGEST_DEPARTURE
            cell = metric.features[:, feature, column]
            cell[VALUE] = min(max(cell[VALUE] - rate * _direction(cell, gradient, second), -bound), bound)
        values[feature, 0] = min(values[feature, 0], HIGHEST)
        total += np.exp(2.0 * values[feature, 0])
    # The scale of all features together changes no vote: their mean weight is 1.
    for feature in range(n_features):
        values[feature, 0] -= 0.5 * np.log(total / n_features)
    for label in range(gradients.classes.shape[0]):
        for feature in range(n_features):
            cell = metric.classes[:, label, feature]
            gradient = gradients.classes[label, feature] + PENALTY * cell[VALUE]
            moved = cell[VALUE] - rate * _direction(cell, gradient, second)
            cell[VALUE] = min(max(moved, -LARGEST_DEPARTURE), LARGEST_DEPARTURE)
    moved = metric.age[VALUE] - rate * _direction(metric.age, gradients.age[0], second)
    metric.age[VALUE] = min(max(moved, LOWEST), HIGHEST)


@njit(nogil=True, cache=True)
def _direction(cell: Floats, gradient: float, second: float) -> float:
    """Update the moments of one gradient; return their ratio, before the first is corrected for its start."""
    cell[FIRST] = DECAY_FIRST * cell[FIRST] + (1.0 - DECAY_FIRST) * gradient
    cell[SECOND] = DECAY_SECOND * cell[SECOND] + (1.0 - DECAY_SECOND) * gradient * gradient
    return cell[FIRST] / (np.sqrt(cell[SECOND] / second) + SMALLEST_ROOT)
