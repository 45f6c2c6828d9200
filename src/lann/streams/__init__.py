"""Classifiers for streams of rows whose distribution changes, and their evaluation."""

from lann.streams._alarms import STATE_SHAPE as STATE_SHAPE
from lann.streams._alarms import Alarm, DriftDetector
from lann.streams._evaluation import PrequentialCurve, PrequentialEvaluation, PrequentialScores
from lann.streams._explanation import StreamExplanation
from lann.streams._memory import MEMORIES as MEMORIES
from lann.streams._memory import METRIC as METRIC
from lann.streams._memory import N_GROUPS as N_GROUPS
from lann.streams._memory import Limits as Limits
from lann.streams._memory import restore_memories as restore_memories
from lann.streams._memory import trim_memories as trim_memories
from lann.streams._prequential import StreamBatch, iter_prequential, prequential
from lann.streams._sam import SAMKNN, SAMLANN, MemoryReset

__all__ = [
    "SAMKNN",
    "SAMLANN",
    "Alarm",
    "DriftDetector",
    "MemoryReset",
    "PrequentialCurve",
    "PrequentialEvaluation",
    "PrequentialScores",
    "StreamBatch",
    "StreamExplanation",
    "iter_prequential",
    "prequential",
]
