"""How well a model predicts test rows: scores, calibration, slices, mistakes, and a page about them."""

from lann.report._evaluation.evaluate import evaluate
from lann.report._evaluation.evaluation import Audit, Evaluation, SourceFile
from lann.report._evaluation.findings import Mistake, Rejection, Reliability, ReliabilityBin, RiskCurve, Slice
from lann.report._evaluation.page import evaluation_page, save_evaluation
from lann.report._evaluation.scores import ClassScores, MethodScores, Score

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
    "evaluate",
    "evaluation_page",
    "save_evaluation",
]
