"""Explanations of predictions, and what follows from them."""

from lann.explain._contrast import Contrast, contrast_of_explanation, nearest_other_class
from lann.explain._counterfactuals import Counterfactuals, counterfactuals
from lann.explain._decision import Decision
from lann.explain._explanation import Explanation, build_explanation
from lann.explain._feature_groups import correlated_groups, group_features
from lann.explain._landmarks import (
    Landmarks,
    Readings,
    Spacing,
    class_relevances,
    prepare_explanations,
    query_relevances,
)
from lann.explain._page import PageDetails, explanation_page
from lann.explain._summaries import Overview, relevance_clusters, summarize
from lann.explain._training_rows import find_training_rows
from lann.explain._training_votes import (
    Influence,
    RowVotes,
    Suspicion,
    influence,
    local_matrices,
    prototypical_rows,
    suspicious_rows,
)
from lann.explain._view import LEAST_RELEVANCE, ExplainedRow

__all__ = [
    "LEAST_RELEVANCE", "Contrast", "Counterfactuals", "Decision", "ExplainedRow", "Explanation", "Influence",
    "Landmarks", "Overview", "PageDetails", "Readings", "RowVotes", "Spacing", "Suspicion",
    "build_explanation", "class_relevances", "contrast_of_explanation", "correlated_groups",
    "counterfactuals", "explanation_page", "find_training_rows", "group_features", "influence",
    "local_matrices", "nearest_other_class", "prepare_explanations", "prototypical_rows", "query_relevances",
    "relevance_clusters", "summarize", "suspicious_rows",
]  # fmt: skip
