"""
Displays of what a model has learned and of the explanations of its predictions, drawn with matplotlib.

Every display has `from_estimator`, which draws a fitted model, and `plot(ax=None)`, which draws the display
again. The attributes `figure_` and `ax_` are the figure and the axes. Every class has one color in all
displays and pages, which `class_colors` returns. matplotlib is imported on first use.
"""

from lann.plot._beeswarm import SupportBeeswarmDisplay
from lann.plot._decision_regions import DecisionRegionsDisplay
from lann.plot._display import check_matplotlib_support, class_colors
from lann.plot._embedding import EmbeddingDisplay
from lann.plot._explanation import ExplanationDisplay
from lann.plot._feature_curves import FeatureCurvesDisplay
from lann.plot._reject import RejectCurve, RejectDisplay
from lann.plot._relevance import RelevanceDisplay, RelevanceMapDisplay
from lann.plot._stream import StreamDisplay
from lann.plot._suspicious import SuspiciousRowsDisplay

__all__ = [
    "DecisionRegionsDisplay", "EmbeddingDisplay", "ExplanationDisplay", "FeatureCurvesDisplay", "RejectCurve",
    "RejectDisplay", "RelevanceDisplay", "RelevanceMapDisplay", "StreamDisplay", "SupportBeeswarmDisplay",
    "SuspiciousRowsDisplay", "check_matplotlib_support", "class_colors",
]  # fmt: skip
