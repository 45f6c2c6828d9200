"""The methods of the field, as scikit-learn estimators that share their parameters' and attributes' names.

Scale features beforehand (StandardScaler): every distance here adds up differences of features.
"""

from importlib import import_module
from typing import Any

_HOMES: dict[str, str] = {
    "DANN": "dann",
    "GLML": "glml",
    "GMLVQ": "gmlvq",
    "GRLVQ": "grlvq",
    "LGMLVQ": "lgmlvq",
    "LGRLVQ": "lgrlvq",
    "LMNN": "lmnn",
    "MultiMetricLMNN": "multi_metric_lmnn",
    "PLML": "plml",
    "PublishedLANN": "published_lann",
}

__all__ = [
    "DANN",
    "GLML",
    "GMLVQ",
    "GRLVQ",
    "LGMLVQ",
    "LGRLVQ",
    "LMNN",
    "PLML",
    "MultiMetricLMNN",
    "PublishedLANN",
]


def __getattr__(name: str) -> Any:
    # Imported on first use, as the compiled loops that some of them need take a moment to load.
    if name in _HOMES:
        return getattr(import_module(f"lann.baselines.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'lann.baselines' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
