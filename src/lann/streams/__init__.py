"""Classifiers for streams of rows whose distribution changes, and their evaluation."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lann.streams._evaluation import PrequentialEvaluation
from lann.streams._prequential import StreamBatch, iter_prequential, prequential
from lann.streams._scores import PrequentialCurve, PrequentialScores

if TYPE_CHECKING:
    from lann.streams._explanation import StreamExplanation
    from lann.streams._memory import Limits as Limits
    from lann.streams._metric import N_GROUPS as N_GROUPS
    from lann.streams._metric import WEIGHTS as WEIGHTS
    from lann.streams._metric import new_metric as new_metric
    from lann.streams._sam import Drift
    from lann.streams._samknn import SAMKNN
    from lann.streams._samlann import SAMLANN
    from lann.streams._samlann_kernels import new_votes as new_votes
    from lann.streams._saved_memories import SavedMemories as SavedMemories

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

# Imported on first use, with numba: `import lann.streams` stays cheap. Model files need some further names.
_MODULES = {
    "Drift": "_sam",
    "Limits": "_memory",
    "N_GROUPS": "_metric",
    "WEIGHTS": "_metric",
    "SAMKNN": "_samknn",
    "SAMLANN": "_samlann",
    "SavedMemories": "_saved_memories",
    "StreamExplanation": "_explanation",
    "new_metric": "_metric",
    "new_votes": "_samlann_kernels",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"lann.streams.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'lann.streams' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULES])
