"""Displays: pictures of what a model has learned and of what made its predictions, drawn with matplotlib.

Each has `from_estimator`, which asks a fitted model, and `plot(ax=None)`, which draws again; what was drawn
is in `ax_` and `figure_`. matplotlib is imported when something is drawn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lann.plot.beeswarm import ContributionBeeswarmDisplay
    from lann.plot.decision_regions import DecisionRegionsDisplay
    from lann.plot.embedding import EmbeddingDisplay
    from lann.plot.explanation import ExplanationDisplay
    from lann.plot.feature_curves import FeatureCurvesDisplay
    from lann.plot.relevance import RelevanceDisplay
    from lann.plot.relevance_map import RelevanceMapDisplay
    from lann.plot.suspicious import SuspiciousPointsDisplay

_HOMES = {
    "ContributionBeeswarmDisplay": "beeswarm",
    "DecisionRegionsDisplay": "decision_regions",
    "EmbeddingDisplay": "embedding",
    "ExplanationDisplay": "explanation",
    "FeatureCurvesDisplay": "feature_curves",
    "RelevanceDisplay": "relevance",
    "RelevanceMapDisplay": "relevance_map",
    "SuspiciousPointsDisplay": "suspicious",
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
