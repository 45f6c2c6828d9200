"""Relevances of many points in few numbers."""

from __future__ import annotations

import numpy as np

from lann._types import Floats, Labels


def mean_by_class(relevances: Floats, labels: Labels, n_classes: int) -> Floats:
    """The mean over the points of each class: (n_classes, n_features), NaN for a class without points.

    relevances : (n_points, n_features)
    labels : (n_points,) in 0 … n_classes − 1
    """
    means = np.full((n_classes, relevances.shape[1]), np.nan)
    for label in np.unique(labels):
        means[label] = relevances[labels == label].mean(axis=0)
    return means
