"""Displays: pictures of what a model has learned and of what made its predictions, drawn with matplotlib.

Each has `from_estimator`, which asks a fitted model, and `plot(ax=None)`, which draws again; what was drawn
is in `ax_` and `figure_`. matplotlib is imported when something is drawn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lann.plot._beeswarm import ContributionBeeswarmDisplay
    from lann.plot._decision_regions import DecisionRegionsDisplay
    from lann.plot._embedding.display import EmbeddingDisplay
    from lann.plot._explanation import ExplanationDisplay
    from lann.plot._feature_curves import FeatureCurvesDisplay
    from lann.plot._relevance import RelevanceDisplay
    from lann.plot._relevance_map import RelevanceMapDisplay
    from lann.plot._suspicious import SuspiciousPointsDisplay

_HOMES = {
    "ContributionBeeswarmDisplay": "_beeswarm",
    "DecisionRegionsDisplay": "_decision_regions",
    "EmbeddingDisplay": "_embedding.display",
    "ExplanationDisplay": "_explanation",
    "FeatureCurvesDisplay": "_feature_curves",
    "RelevanceDisplay": "_relevance",
    "RelevanceMapDisplay": "_relevance_map",
    "SuspiciousPointsDisplay": "_suspicious",
}

__all__ = [
    "ContributionBeeswarmDisplay",
    "DecisionRegionsDisplay",
    "EmbeddingDisplay",
    "ExplanationDisplay",
    "FeatureCurvesDisplay",
    "RelevanceDisplay",
    "RelevanceMapDisplay",
    "SuspiciousPointsDisplay",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"lann.plot.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'lann.plot' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
