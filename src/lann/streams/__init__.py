"""Classifiers for streams of rows whose distribution changes, and their evaluation."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lann.streams._evaluation import PrequentialCurve, PrequentialEvaluation, PrequentialScores
from lann.streams._prequential import StreamBatch, iter_prequential, prequential

if TYPE_CHECKING:
    from lann.streams._explanation import StreamExplanation
    from lann.streams._memory import Limits as Limits
    from lann.streams._memory import Memories as Memories
    from lann.streams._memory import restore_memories as restore_memories
    from lann.streams._memory import trim_memories as trim_memories
    from lann.streams._metric import N_GROUPS as N_GROUPS
    from lann.streams._metric import Metric as Metric
    from lann.streams._sam import SAMKNN, SAMLANN, Drift
    from lann.streams._samlann_kernels import Votes as Votes

__all__ = [
    "SAMKNN",
    "SAMLANN",
    "Drift",
    "PrequentialCurve",
    "PrequentialEvaluation",
    "PrequentialScores",
    "StreamBatch",
    "StreamExplanation",
    "iter_prequential",
    "prequential",
]

# Imported on first use, with numba: `import lann.streams` stays cheap. Model files need
# the names of the last three modules.
_NAMES = {
    "_explanation": ("StreamExplanation",),
    "_sam": ("SAMKNN", "SAMLANN", "Drift"),
    "_memory": ("Limits", "Memories", "restore_memories", "trim_memories"),
    "_metric": ("Metric", "N_GROUPS"),
    "_samlann_kernels": ("Votes",),
}


def __getattr__(name: str) -> Any:
    for module, names in _NAMES.items():
        if name in names:
            return getattr(import_module(f"lann.streams.{module}"), name)
    raise AttributeError(f"module 'lann.streams' has no attribute {name!r}")
