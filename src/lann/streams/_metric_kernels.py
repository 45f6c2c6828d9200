"""Kernels of the learned metric: transform rows, measure them, and take gradient steps."""

from __future__ import annotations

import numpy as np
from numba import njit

from lann._support.types import Floats, Labels
from lann.streams._memory import N_COMPRESSIONS, N_LONG, N_SEEN, STOP, Limits, Memories
from lann.streams._metric import (
    AXES,
    COMPRESSIONS,
    MEAN,
    NEXT_BINS,
    NEXT_REFRESH,
    POINTS,
    VALUE,
    VARIANCE,
    WEIGHT,
    WEIGHTS,
    Metric,
)
from lann.streams._neighbors import BLOCK, scale_up

# Number of rows after which the weight of a row in the standardization is half.
HALF_LIFE = 5000.0
# What is learned is applied after so many rows, or after a tenth of the rows so far.
REFRESH_INTERVAL = 10
# The bins are chosen again after so many rows, or a fifth of the rows so far; from so many rows.
BIN_INTERVAL, BIN_ROWS = 500, 1000
# Standard deviations below this share of the mean are rounding.
LEAST_VARIATION = 1e-12
# Bound of standardized values.
LARGEST_VALUE = 1e6


@njit(nogil=True, cache=True)
def oldest_recent(memories: Memories, limits: Limits) -> int:
    """Return the first column of the newest rows: those of the short-term memory, and rows before it."""
    return max(memories.counters[STOP] - limits.total, 0)


@njit(nogil=True, cache=True)
def update_moments(metric: Metric, x: Floats) -> None:
    """Update the running means and variances by a row; missing values do not count."""
    weight, mean, variance = metric.moments[WEIGHT], metric.moments[MEAN], metric.moments[VARIANCE]
    keep = 0.5 ** (1.0 / HALF_LIFE)
    for feature in range(len(x)):
        if np.isnan(x[feature]):
            continue
        weight[feature] = keep * weight[feature] + 1.0
        rate = 1.0 / weight[feature]
        step = x[feature] - mean[feature]
        mean[feature] += rate * step
        variance[feature] = (1.0 - rate) * (variance[feature] + rate * step * step)


@njit(nogil=True, cache=True)
def standardize(metric: Metric, feature: int, value: float) -> float:
    """Return a standardized value; NaN stays NaN.

    As long as all values are equal, another one is one standard deviation away from them, in any unit.
    """
    difference, center = value - metric.center[feature], metric.center[feature]
    if metric.scale[feature] == np.inf:
        is_other = abs(difference) > LEAST_VARIATION * abs(center)
        return np.sign(difference) if is_other else 0.0 * difference
    standardized = difference / metric.scale[feature]
    if standardized > LARGEST_VALUE:
        return LARGEST_VALUE
    if standardized < -LARGEST_VALUE:
        return -LARGEST_VALUE
    return standardized


@njit(nogil=True, cache=True)
def find_bin(metric: Metric, feature: int, value: float) -> int:
    """Return the bin of a standardized value: the number of edges below it."""
    number = 0
    while number < metric.edges.shape[1] and value > metric.edges[feature, number]:
        number += 1
    return number


@njit(nogil=True, cache=True)
def transform_value(metric: Metric, feature: int, value: float) -> float:
    """Return the value of a feature's curve.

    It is a sum over the edges: a line with the slope of the first bin, and a change of slope at every edge.
    """
    standardized = standardize(metric, feature, value)
    total = metric.slopes[feature, 0] * standardized
    for number in range(metric.edges.shape[1]):
        beyond = standardized - metric.edges[feature, number]
        change = metric.slopes[feature, number + 1] - metric.slopes[feature, number]
        total += change * (beyond if beyond > 0.0 else 0.0)
    return total


@njit(nogil=True, cache=True)
def transform_row(metric: Metric, x: Floats, out: Floats) -> None:
    """Transform a row: x, out (n_features,)."""
    for feature in range(len(x)):
        out[feature] = transform_value(metric, feature, x[feature])


@njit(nogil=True, cache=True)
def weighted_distances(extras: Floats, start: int, stop: int, axes: Floats, gaps: bool, out: Floats) -> None:
    """Compute the squared distances of a transformed row to stored rows, without their ages.

    With gaps, a sum over the features that both have counts for all, as in `squared_distances`.

    Parameters
    ----------
    extras : (3 * n_features, capacity)
        Of the stored rows.
    start, stop : int
        The columns that are measured.
    axes : (n_features,)
    gaps : bool
        Whether values can be missing.
    out : (stop - start,)
    """
    for first in range(start, stop, BLOCK):
        last = min(first + BLOCK, stop)
        target = out[first - start : last - start]
        if gaps:
            _measure_with_gaps(extras, first, last, axes, target)
        else:
            _measure(extras, first, last, axes, target)


@njit(nogil=True, cache=True)
def _measure(extras: Floats, first: int, last: int, axes: Floats, out: Floats) -> None:
    n_features, n_rows = len(axes), last - first
    out[:] = 0.0
    feature = 0
    # Two features at once, to load and store the sums less often.
    while feature + 2 <= n_features:
        one, w_one = extras[feature][first:last], extras[WEIGHTS * n_features + feature][first:last]
        two, w_two = extras[feature + 1][first:last], extras[WEIGHTS * n_features + feature + 1][first:last]
        a, b = axes[feature], axes[feature + 1]
        for row in range(n_rows):
            step = one[row] - a
            total = out[row] + w_one[row] * step * step
            step = two[row] - b
            out[row] = total + w_two[row] * step * step
        feature += 2
    if feature < n_features:
        one, w_one = extras[feature][first:last], extras[WEIGHTS * n_features + feature][first:last]
        a = axes[feature]
        for row in range(n_rows):
            step = one[row] - a
            out[row] += w_one[row] * step * step


@njit(nogil=True, cache=True)
def _measure_with_gaps(extras: Floats, first: int, last: int, axes: Floats, out: Floats) -> None:
    n_features, n_rows = len(axes), last - first
    common = np.zeros(n_rows)
    out[:] = 0.0
    for feature in range(n_features):
        if np.isnan(axes[feature]):
            continue
        values, weights = extras[feature][first:last], extras[WEIGHTS * n_features + feature][first:last]
        for row in range(n_rows):
            step = values[row] - axes[feature]
            both = step == step  # not NaN
            out[row] += weights[row] * step * step if both else 0.0
            common[row] += 1.0 if both else 0.0
    scale_up(out, common, n_features)


@njit(nogil=True, cache=True)
def refresh(metric: Metric, memories: Memories, limits: Limits) -> None:
    """Apply what was learned, if it is time: standardization, bins and weights; transform the stored rows."""
    seen, counters = memories.counters[N_SEEN], metric.counters
    compressed = counters[COMPRESSIONS] != memories.counters[N_COMPRESSIONS]
    if seen < counters[NEXT_REFRESH] and not compressed:
        return
    counters[NEXT_REFRESH] = seen + min(REFRESH_INTERVAL, max(1, seen // 10))
    counters[COMPRESSIONS] = memories.counters[N_COMPRESSIONS]
    for feature in range(len(metric.center)):
        mean, variance = metric.moments[MEAN, feature], metric.moments[VARIANCE, feature]
        metric.center[feature] = mean
        is_constant = not variance > (LEAST_VARIATION * mean) ** 2
        metric.scale[feature] = np.inf if is_constant else np.sqrt(variance)
    if seen >= counters[NEXT_BINS]:
        counters[NEXT_BINS] = seen + min(BIN_INTERVAL, max(20, seen // 5))
        choose_bins(metric, memories, limits)
    update_curves(metric)
    ratios = np.exp(metric.classes[VALUE]) / metric.class_weights
    metric.class_weights[:] = np.exp(metric.classes[VALUE])
    stop, n_long = memories.counters[STOP], memories.counters[N_LONG]
    start = oldest_recent(memories, limits)
    transform_stored(metric, memories.short_X, memories.short_extras, start, stop)
    transform_stored(metric, memories.long_X, memories.long_extras, 0, n_long)
    scale_stored(ratios, memories.short_extras, memories.short_labels, start, stop)
    if compressed:
        # The weights of a mean of rows are those of the mean of their log weights.
        weigh_stored(metric, memories.long_extras, memories.long_labels, 0, n_long)
    else:
        scale_stored(ratios, memories.long_extras, memories.long_labels, 0, n_long)


@njit(nogil=True, cache=True)
def update_curves(metric: Metric) -> None:
    """Compute the slopes of the curves in use from what was learned."""
    for feature in range(len(metric.center)):
        for number in range(metric.slopes.shape[1]):
            log_slope = metric.features[VALUE, feature, 0] + metric.features[VALUE, feature, 1 + number]
            metric.slopes[feature, number] = np.exp(log_slope)


@njit(nogil=True, cache=True)
def choose_bins(metric: Metric, memories: Memories, limits: Limits) -> None:
    """Choose bins with equal numbers of stored rows, standardized."""
    stop, n_long = memories.counters[STOP], memories.counters[N_LONG]
    start = oldest_recent(memories, limits)
    n_rows = stop - start + n_long
    n_used = min(n_rows, BIN_ROWS)
    values = np.empty(n_used)
    for feature in range(len(metric.center)):
        n_values = 0
        for i in range(n_used):
            position = (i * n_rows) // n_used
            if position < n_long:
                value = memories.long_X[feature, position]
            else:
                value = memories.short_X[feature, start + position - n_long]
            if not np.isnan(value):
                values[n_values] = standardize(metric, feature, value)
                n_values += 1
        if n_values == 0:
            continue
        ordered = np.sort(values[:n_values])
        edges = metric.edges[feature]
        for number in range(len(edges)):
            edges[number] = ordered[((number + 1) * n_values) // (len(edges) + 1)]


@njit(nogil=True, cache=True)
def transform_stored(metric: Metric, X: Floats, extras: Floats, start: int, stop: int) -> None:
    """Transform the stored rows in the columns from `start` to `stop`, as `transform_value` does."""
    for feature in range(X.shape[0]):
        values, axes = X[feature][start:stop], extras[AXES * X.shape[0] + feature][start:stop]
        standardized = np.empty(stop - start)
        center, scale, slope = metric.center[feature], metric.scale[feature], metric.slopes[feature, 0]
        for row in range(stop - start):
            value = (values[row] - center) / scale
            value = LARGEST_VALUE if value > LARGEST_VALUE else value
            standardized[row] = -LARGEST_VALUE if value < -LARGEST_VALUE else value
        if scale == np.inf:
            for row in range(stop - start):
                standardized[row] = standardize(metric, feature, values[row])
        for row in range(stop - start):
            axes[row] = slope * standardized[row]
        for number in range(metric.edges.shape[1]):
            edge = metric.edges[feature, number]
            change = metric.slopes[feature, number + 1] - metric.slopes[feature, number]
            for row in range(stop - start):
                beyond = standardized[row] - edge
                axes[row] += change * (beyond if beyond > 0.0 else 0.0)


@njit(nogil=True, cache=True)
def weigh_stored(metric: Metric, extras: Floats, labels: Labels, start: int, stop: int) -> None:
    """Compute the weights of the stored rows in the columns from `start` to `stop`."""
    n_features = len(metric.center)
    for feature in range(n_features):
        logs, weights = extras[POINTS * n_features + feature], extras[WEIGHTS * n_features + feature]
        for column in range(start, stop):
            weights[column] = metric.class_weights[labels[column], feature] * np.exp(logs[column])


@njit(nogil=True, cache=True)
def scale_stored(ratios: Floats, extras: Floats, labels: Labels, start: int, stop: int) -> None:
    """Multiply the weights of the stored rows by ratios of their classes: (n_classes, n_features)."""
    n_features = ratios.shape[1]
    for feature in range(n_features):
        weights = extras[WEIGHTS * n_features + feature]
        for column in range(start, stop):
            weights[column] *= ratios[labels[column], feature]


@njit(nogil=True, cache=True)
def store_extras(metric: Metric, extras: Floats, column: int, axes: Floats, label: int) -> None:
    """Set the extras of a new row: its transformed values, no point weights, and the weights of its class."""
    n_features = len(axes)
    for feature in range(n_features):
        extras[AXES * n_features + feature, column] = axes[feature]
        extras[POINTS * n_features + feature, column] = 0.0
        extras[WEIGHTS * n_features + feature, column] = metric.class_weights[label, feature]
