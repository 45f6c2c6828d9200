"""The learned metric of a stream: standardization, feature curves, weights of classes, rows and age.

The squared distance of a stored row x_j to a row x is

    d_j(x) = Σ_f w_jf (φ_f(x_jf) − φ_f(x_f))² + w_age g(age of x_j)²,    log w_jf = v_cf + u_jf,  c = y_j

with a monotone curve φ_f of standardized values, piecewise linear over bins of equal numbers of rows, with
slopes exp(a_f + s_fb); class weights v; point weights u, which are extras of the stored rows; and the age of
a row, on a logarithmic axis, in units of the typical squared distance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from lann._support.types import Floats, Indices, Labels
from lann.streams._memory import N_COMPRESSIONS, N_LONG, N_SEEN, STOP, Limits, Memories
from lann.streams._neighbors import BLOCK, scale_up

# Number of bins of a curve.
N_BINS = 8
# Log weight of the age axis before anything is learned.
FIRST_AGE = -2.0
# Parts of `Metric.features`, `classes` and `age`: the values, and the moments of their gradients.
VALUE, FIRST, SECOND = range(3)
# Entries of `Metric.moments`.
WEIGHT, MEAN, VARIANCE = range(3)
# Entries of `Metric.counters`.
N_STEPS, NEXT_REFRESH, NEXT_BINS, COMPRESSIONS = range(4)
# Groups of `n_features` extras of a stored row: its transformed values, point log weights u, and weights w.
AXES, POINTS, WEIGHTS = range(3)
N_GROUPS = 3


class Metric(NamedTuple):
    """A learned metric.

    Attributes
    ----------
    moments : (3, n_features)
        Weight, mean and variance of the values so far, with forgetting.
    center, scale : (n_features,)
        Standardization in use. A feature whose values are all equal, up to rounding, has an infinite scale.
    edges : (n_features, n_bins - 1)
        Edges between the bins, standardized, ascending.
    slopes : (n_features, n_bins)
        Of the curves in use.
    class_weights : (n_classes, n_features)
        exp(v) in use.
    features : (3, n_features, 1 + n_bins)
        a and s of each feature, and the moments of their gradients.
    classes : (3, n_classes, n_features)
        v of each class, and the moments of its gradients.
    age : (3,)
        Log weight of the age, and the moments of its gradients.
    typical : (1,)
        Typical squared distance to the fifth neighbor.
    counters : (4,)
        See the constants of this module.
    """

    moments: Floats
    center: Floats
    scale: Floats
    edges: Floats
    slopes: Floats
    class_weights: Floats
    features: Floats
    classes: Floats
    age: Floats
    typical: Floats
    counters: Indices


def new_metric(n_features: int, n_classes: int) -> Metric:
    """Return a metric with nothing learned: the features are standardized, and count alike."""
    age = np.zeros(3)
    age[VALUE] = FIRST_AGE
    # Until rows are there, bins between −1.5 and 1.5 standard deviations.
    edges = np.tile((np.arange(N_BINS - 1) + 0.5) * 3.0 / (N_BINS - 1) - 1.5, (n_features, 1))
    counters = np.zeros(4, np.int64)
    counters[NEXT_REFRESH], counters[NEXT_BINS] = 1, 50
    return Metric(
        moments=np.zeros((3, n_features)),
        center=np.zeros(n_features),
        scale=np.full(n_features, np.inf),
        edges=edges,
        slopes=np.ones((n_features, N_BINS)),
        class_weights=np.ones((n_classes, n_features)),
        features=np.zeros((3, n_features, 1 + N_BINS)),
        classes=np.zeros((3, n_classes, n_features)),
        age=age,
        typical=np.ones(1),
        counters=counters,
    )


def metric_with_classes(metric: Metric, old_positions: Indices, n_classes: int) -> Metric:
    """Return a metric with further classes, whose weights start at 1; see `with_classes` of the memories."""
    n_features = len(metric.center)
    class_weights, classes = np.ones((n_classes, n_features)), np.zeros((3, n_classes, n_features))
    class_weights[old_positions] = metric.class_weights
    classes[:, old_positions] = metric.classes
    return metric._replace(class_weights=class_weights, classes=classes)


def metric_with_feature(metric: Metric) -> Metric:
    """Return a metric with a further feature at the end, for which nothing is learned."""
    fresh = new_metric(1, metric.classes.shape[1])
    # The axis of the features in each array.
    axes = {"moments": 1, "center": 0, "scale": 0, "edges": 0, "slopes": 0}
    axes |= {"class_weights": 1, "features": 1, "classes": 2}
    joined = {
        name: np.concatenate([getattr(metric, name), getattr(fresh, name)], axis)
        for name, axis in axes.items()
    }
    return metric._replace(**joined)


# Number of rows after which the weight of a row in the standardization is half.
HALF_LIFE = 5000.0
# Learned metrics are applied after this many rows, or after a tenth of the rows so far.
REFRESH_INTERVAL = 10
# The bins are chosen again after this many rows, or a fifth of the rows so far, from this many rows.
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
