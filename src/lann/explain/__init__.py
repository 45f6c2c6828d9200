"""Explanations of predictions, and what follows from them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lann.explain._build import build_explanation
from lann.explain._decision import Decision
from lann.explain._explained_row import LEAST_RELEVANCE, ExplainedRow
from lann.explain._explanation import Explanation

if TYPE_CHECKING:
    from lann.explain._class_relevances import class_relevances
    from lann.explain._contrast import Contrast, contrast_of_explanation, nearest_other_class
    from lann.explain._correlation import correlated_groups
    from lann.explain._counterfactual import Counterfactuals, counterfactuals
    from lann.explain._feature_groups import group_features
    from lann.explain._html import PageDetails, explanation_page
    from lann.explain._influence import Influence, influence
    from lann.explain._landmarks import Landmarks
    from lann.explain._local_matrices import local_matrices
    from lann.explain._overview import Overview
    from lann.explain._prototypical import RowVotes, prototypical_rows
    from lann.explain._query_relevances import query_relevances
    from lann.explain._readings import Readings
    from lann.explain._spacing import Spacing
    from lann.explain._summary import relevance_clusters, summarize
    from lann.explain._suspicious import Suspicion, suspicious_rows
    from lann.explain._training_rows import find_training_rows

__all__ = [
    "LEAST_RELEVANCE",
    "Contrast",
    "Counterfactuals",
    "Decision",
    "ExplainedRow",
    "Explanation",
    "Influence",
    "Landmarks",
    "Overview",
    "PageDetails",
    "Readings",
    "RowVotes",
    "Spacing",
    "Suspicion",
    "build_explanation",
    "class_relevances",
    "contrast_of_explanation",
    "correlated_groups",
    "counterfactuals",
    "explanation_page",
    "find_training_rows",
    "group_features",
    "influence",
    "local_matrices",
    "nearest_other_class",
    "prototypical_rows",
    "query_relevances",
    "relevance_clusters",
    "summarize",
    "suspicious_rows",
]

# Imported on first use, with numba: `import lann` stays cheap.
_MODULES = {
    "Contrast": "_contrast",
    "Counterfactuals": "_counterfactual",
    "Influence": "_influence",
    "Landmarks": "_landmarks",
    "PageDetails": "_html",
    "Overview": "_overview",
    "Readings": "_readings",
    "RowVotes": "_prototypical",
    "Spacing": "_spacing",
    "Suspicion": "_suspicious",
    "class_relevances": "_class_relevances",
    "contrast_of_explanation": "_contrast",
    "correlated_groups": "_correlation",
    "counterfactuals": "_counterfactual",
    "explanation_page": "_html",
    "find_training_rows": "_training_rows",
    "group_features": "_feature_groups",
    "influence": "_influence",
    "local_matrices": "_local_matrices",
    "nearest_other_class": "_contrast",
    "prototypical_rows": "_prototypical",
    "query_relevances": "_query_relevances",
    "relevance_clusters": "_summary",
    "summarize": "_summary",
    "suspicious_rows": "_suspicious",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"lann.explain.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'lann.explain' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULES])
