"""
Displays of what a model has learned and of the explanations of its predictions, drawn with matplotlib.

Every display has `from_estimator`, which draws a fitted model, and `plot(ax=None)`, which draws the display
again. The attributes `figure_` and `ax_` are the figure and the axes. Every class has one color in all
displays and pages, which `class_colors` returns. matplotlib is imported on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lann.plot._beeswarm import SupportBeeswarmDisplay
    from lann.plot._colors import class_colors
    from lann.plot._decision_regions import DecisionRegionsDisplay
    from lann.plot._embedding.display import EmbeddingDisplay
    from lann.plot._explanation import ExplanationDisplay
    from lann.plot._feature_curves import FeatureCurvesDisplay
    from lann.plot._matplotlib import check_matplotlib_support
    from lann.plot._reject import RejectCurve, RejectDisplay
    from lann.plot._relevance import RelevanceDisplay
    from lann.plot._relevance_map import RelevanceMapDisplay
    from lann.plot._stream import StreamDisplay
    from lann.plot._suspicious import SuspiciousRowsDisplay

_MODULES = {
    "DecisionRegionsDisplay": "_decision_regions",
    "EmbeddingDisplay": "_embedding.display",
    "ExplanationDisplay": "_explanation",
    "FeatureCurvesDisplay": "_feature_curves",
    "RejectCurve": "_reject",
    "RejectDisplay": "_reject",
    "RelevanceDisplay": "_relevance",
    "RelevanceMapDisplay": "_relevance_map",
    "StreamDisplay": "_stream",
    "SupportBeeswarmDisplay": "_beeswarm",
    "SuspiciousRowsDisplay": "_suspicious",
    "check_matplotlib_support": "_matplotlib",
    "class_colors": "_colors",
}

__all__ = [
    "DecisionRegionsDisplay",
    "EmbeddingDisplay",
    "ExplanationDisplay",
    "FeatureCurvesDisplay",
    "RejectCurve",
    "RejectDisplay",
    "RelevanceDisplay",
    "RelevanceMapDisplay",
    "StreamDisplay",
    "SupportBeeswarmDisplay",
    "SuspiciousRowsDisplay",
    "check_matplotlib_support",
    "class_colors",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"lann.plot.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'lann.plot' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULES])
