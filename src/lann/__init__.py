"""Interpretable locally adaptive nearest neighbors."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lann.classifier import LANNClassifier
    from lann.embedding import LANNEmbedding
    from lann.explain import Explanation
    from lann.explorer import explore
    from lann.persist import load, save
    from lann.regressor import LANNRegressor

__all__ = ["Explanation", "LANNClassifier", "LANNEmbedding", "LANNRegressor", "explore", "load", "save"]
__version__ = "0.1.0"

_HOMES = {
    "Explanation": "lann.explain",
    "LANNClassifier": "lann.classifier",
    "LANNEmbedding": "lann.embedding",
    "LANNRegressor": "lann.regressor",
    "explore": "lann.explorer",
    "load": "lann.persist",
    "save": "lann.persist",
}


def __getattr__(name: str) -> Any:
    # Imported on first use: `lann --help` need not wait for scikit-learn.
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'lann' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES} - {"Any", "TYPE_CHECKING", "import_module"})
