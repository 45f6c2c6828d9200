"""Explanations of predictions."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lann.explain.explanation import Explanation

if TYPE_CHECKING:
    from lann.explain.aggregate import by_class, by_group, overall, relevance_clusters
    from lann.explain.contrast import Contrast, nearest_unlike
    from lann.explain.correlation import correlated_groups
    from lann.explain.counterfactual import Counterfactuals, counterfactuals
    from lann.explain.grouping import group_features
    from lann.explain.left_out import Influence, influence
    from lann.explain.point_metrics import local_matrices
    from lann.explain.prototypical import PointVotes, prototypical_points
    from lann.explain.suspicious import Suspicion, suspicious_points

__all__ = [
    "Contrast",
    "Counterfactuals",
    "Explanation",
    "Influence",
    "PointVotes",
    "Suspicion",
    "by_class",
    "by_group",
    "correlated_groups",
    "counterfactuals",
    "group_features",
    "influence",
    "local_matrices",
    "nearest_unlike",
    "overall",
    "prototypical_points",
    "relevance_clusters",
    "suspicious_points",
]

# Imported on first use, with numba: `import lann` stays cheap. No module may be called what a function is.
_HOMES = {
    "Contrast": "contrast",
    "Counterfactuals": "counterfactual",
    "Influence": "left_out",
    "PointVotes": "prototypical",
    "Suspicion": "suspicious",
    "by_class": "aggregate",
    "by_group": "aggregate",
    "correlated_groups": "correlation",
    "counterfactuals": "counterfactual",
    "group_features": "grouping",
    "influence": "left_out",
    "local_matrices": "point_metrics",
    "nearest_unlike": "contrast",
    "overall": "aggregate",
    "prototypical_points": "prototypical",
    "relevance_clusters": "aggregate",
    "suspicious_points": "suspicious",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"lann.explain.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'lann.explain' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
