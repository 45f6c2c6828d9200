"""Explanations of predictions, and what follows from them."""

from lann.explain._constraints import Constraints
from lann.explain._contrast import Contrast, nearest_other_class
from lann.explain._counterfactuals import Counterfactuals, counterfactuals
from lann.explain._decision import Decision
from lann.explain._explanation import (
    ExplainedQueries,
    Explanation,
    build_explanation,
    queries_of,
    with_decisions,
)
from lann.explain._exports import to_shap
from lann.explain._feature_groups import correlated_columns, correlated_groups, group_features
from lann.explain._landmarks import (
    Landmarks,
    Readings,
    Spacing,
    class_relevances,
    prepare_explanations,
    query_relevances,
)
from lann.explain._page import PageDetails, explanation_page
from lann.explain._summaries import Overview, overview, relevance_clusters, summarize
from lann.explain._supports import (
    Supports,
    WalkPlan,
    reference_rows,
    split_distances,
    walk_plan,
    walk_supports,
)
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
from lann.explain._value_explanation import ValueExplanation, build_value_explanation
from lann.explain._value_view import ExplainedValue
from lann.explain._view import LEAST_RELEVANCE, ExplainedRow

__all__ = [
    "LEAST_RELEVANCE", "Constraints", "Contrast", "Counterfactuals", "Decision", "ExplainedQueries",
    "ExplainedRow", "ExplainedValue", "Explanation", "Influence", "Landmarks", "Overview", "PageDetails",
    "Readings", "RowVotes", "Spacing", "Supports", "Suspicion", "ValueExplanation", "WalkPlan",
    "build_explanation", "build_value_explanation", "class_relevances", "correlated_columns",
    "correlated_groups", "counterfactuals", "explanation_page", "find_training_rows", "group_features",
    "influence", "local_matrices", "nearest_other_class", "overview", "prepare_explanations",
    "prototypical_rows", "queries_of", "query_relevances", "reference_rows", "relevance_clusters",
    "split_distances", "summarize", "suspicious_rows", "to_shap", "walk_plan", "walk_supports",
    "with_decisions",
]  # fmt: skip
