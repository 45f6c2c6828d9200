"""Evaluations, and pages and figures that are one file: explained predictions, evaluations, embeddings."""

from lann.report._embedding import embedding_page, save_embedding_page
from lann.report._evaluation import (
    Audit,
    ClassScores,
    Evaluation,
    MethodScores,
    Mistake,
    Rejection,
    Reliability,
    ReliabilityBin,
    RiskCurve,
    Score,
    Slice,
    SourceFile,
    evaluate,
    evaluation_page,
    save_evaluation,
)
from lann.report._explanation import report_page, save_report
from lann.report._figure import save_embedding_figure

__all__ = [
    "Audit",
    "ClassScores",
    "Evaluation",
    "MethodScores",
    "Mistake",
    "Rejection",
    "Reliability",
    "ReliabilityBin",
    "RiskCurve",
    "Score",
    "Slice",
    "SourceFile",
    "embedding_page",
    "evaluate",
    "evaluation_page",
    "report_page",
    "save_embedding_figure",
    "save_embedding_page",
    "save_evaluation",
    "save_report",
]
