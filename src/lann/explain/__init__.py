"""Explanations of predictions, and what follows from them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lann.explain._build import build_explanation
from lann.explain._explained_row import LEAST_RELEVANCE, ExplainedRow, Overview
from lann.explain._explanation import Explanation
from lann.explain._exports import relevance_clusters, summarize
from lann.explain._feature_groups import correlated_groups, group_features
from lann.explain._fitted import find_training_rows
from lann.explain._page import PageDetails, explanation_page
from lann.explain._words import Decision

if TYPE_CHECKING:
    from lann.explain._landmarks import Landmarks as Landmarks
    from lann.explain._landmarks import Readings as Readings

# Imported on first use, with numba: `import lann` stays cheap.
_LAZY = {
    "_contrast": ["Contrast", "contrast_of_explanation", "nearest_other_class"],
    "_counterfactuals": ["Counterfactuals", "counterfactuals"],
    "_landmarks": ["Landmarks", "Readings", "class_relevances", "prepare_explanations", "query_relevances"],
    "_distribution": ["Spacing"],
    "_training_votes": [
        "Influence", "RowVotes", "Suspicion", "influence", "local_matrices", "prototypical_rows",
        "suspicious_rows",
    ],
}  # fmt: skip
_HOMES = {name: module for module, names in _LAZY.items() for name in names}

__all__ = [
    "LEAST_RELEVANCE", "Decision", "ExplainedRow", "Explanation", "Overview", "PageDetails",
    "build_explanation", "correlated_groups", "explanation_page", "find_training_rows", "group_features",
    "relevance_clusters", "summarize", *_HOMES,
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"lann.explain.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'lann.explain' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
