"""Classifiers for streams of rows whose distribution changes, and their evaluation."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lann.streams._evaluation import PrequentialEvaluation
from lann.streams._prequential import StreamBatch, iter_prequential, prequential
from lann.streams._scores import PrequentialCurve, PrequentialScores

if TYPE_CHECKING:
    from lann.streams._explanation import StreamExplanation
    from lann.streams._sam import Drift
    from lann.streams._samknn import SAMKNN
    from lann.streams._samlann import SAMLANN

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

# Imported on first use, with numba: `import lann.streams` stays cheap.
_MODULES = {
    "Drift": "_sam",
    "SAMKNN": "_samknn",
    "SAMLANN": "_samlann",
    "StreamExplanation": "_explanation",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"lann.streams.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'lann.streams' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULES])
