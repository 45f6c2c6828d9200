"""How well a model predicts test rows: scores, calibration, slices, mistakes, and a page about them."""

from lann.report._evaluation.audit import Audit, SourceFile
from lann.report._evaluation.by_class import ClassScores
from lann.report._evaluation.evaluate import evaluate
from lann.report._evaluation.evaluation import Evaluation
from lann.report._evaluation.mistakes import Mistake
from lann.report._evaluation.page import evaluation_page, save_evaluation
from lann.report._evaluation.rejection import Rejection, RiskCurve
from lann.report._evaluation.reliability import Reliability, ReliabilityBin
from lann.report._evaluation.scores import MethodScores, Score
from lann.report._evaluation.slices import Slice

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
