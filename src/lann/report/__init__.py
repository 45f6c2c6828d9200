"""Evaluations, pages of explained predictions and evaluations, and figures of embeddings."""

from lann.report._embedding_figure import save_embedding_figure
from lann.report._evaluate import evaluate
from lann.report._evaluate_values import VALUE_SCORES, ValueEvaluation, evaluate_values
from lann.report._evaluation import Evaluation, SourceFile
from lann.report._evaluation_page import evaluation_page, save_evaluation
from lann.report._findings import Rejection, Reliability, RiskCurve
from lann.report._model_report import report_page, save_report
from lann.report._scores import SCORES, Score

__all__ = [
    "SCORES", "VALUE_SCORES", "Evaluation", "Rejection", "Reliability", "RiskCurve", "Score", "SourceFile",
    "ValueEvaluation", "evaluate", "evaluate_values", "evaluation_page", "report_page",
    "save_embedding_figure", "save_evaluation", "save_report",
]  # fmt: skip
