"""Classifiers for streams of rows whose distribution changes, and their evaluation."""

from lann.streams._evaluation import PrequentialEvaluation
from lann.streams._prequential import StreamBatch, iter_prequential, prequential
from lann.streams._scores import PrequentialCurve, PrequentialScores

__all__ = [
    "PrequentialCurve",
    "PrequentialEvaluation",
    "PrequentialScores",
    "StreamBatch",
    "iter_prequential",
    "prequential",
]
