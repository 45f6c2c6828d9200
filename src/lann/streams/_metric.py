"""The learned metric of a stream, all in arrays: standardization, feature curves, weights of classes and age.

The squared distance of a stored row x_j to a row x is

    d_j(x) = Σ_f w_jf (φ_f(x_jf) − φ_f(x_f))² + w_age g(age of x_j)²,    log w_jf = v_cf + u_jf,  c = y_j

with a monotone curve φ_f of standardized values, piecewise linear over bins of equal numbers of rows, with
slopes exp(a_f + s_fb); class weights v; point weights u, which are extras of the stored rows; and the age of
a row, on a logarithmic axis, in units of the typical squared distance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lann._support.types import Floats, Indices

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


def metric_with_columns(metric: Metric, n_columns: int) -> Metric:
    """Return a metric with further features at the end, for which nothing is learned."""
    fresh = new_metric(n_columns, metric.classes.shape[1])

    def joined(mine: Floats, new: Floats, axis: int) -> Floats:
        return np.concatenate([mine, new], axis=axis)

    return metric._replace(
        moments=joined(metric.moments, fresh.moments, 1),
        center=joined(metric.center, fresh.center, 0),
        scale=joined(metric.scale, fresh.scale, 0),
        edges=joined(metric.edges, fresh.edges, 0),
        slopes=joined(metric.slopes, fresh.slopes, 0),
        class_weights=joined(metric.class_weights, fresh.class_weights, 1),
        features=joined(metric.features, fresh.features, 1),
        classes=joined(metric.classes, fresh.classes, 2),
    )
