"""For every point its nearest points of the same class, and its nearest points of other classes."""

from __future__ import annotations

import numpy as np

from lann._types import Floats, Indices, Labels
from lann.metrics import DiagonalMetric
from lann.search import ExactSearch


def nearest_same_class(points: Floats, labels: Labels, k: int, *, n_jobs: int | None = None) -> Indices:
    """The k nearest others of the same class, nearest first: (n_points, k), -1 where the class has fewer."""
    found = np.full((len(points), k), -1)
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        wanted = min(k, len(members) - 1)
        if wanted > 0:
            indices, _ = euclidean_search(points[members]).query(
                points[members], wanted, exclude=np.arange(len(members)), n_jobs=n_jobs
            )
            found[members, :wanted] = members[indices]
    return found


def nearest_other_class(points: Floats, labels: Labels, k: int, *, n_jobs: int | None = None) -> Indices:
    """The k nearest of other classes, nearest first: (n_points, k), -1 where there are fewer."""
    found = np.full((len(points), k), -1)
    for label in np.unique(labels):
        members, others = np.flatnonzero(labels == label), np.flatnonzero(labels != label)
        wanted = min(k, len(others))
        indices, _ = euclidean_search(points[others]).query(points[members], wanted, n_jobs=n_jobs)
        found[members, :wanted] = others[indices]
    return found


def euclidean_search(points: Floats) -> ExactSearch:
    """Who is near when all features count alike."""
    return ExactSearch(DiagonalMetric(points, np.ones(points.shape[1])))
