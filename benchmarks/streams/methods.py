"""The methods that predict streams: river's classifiers with their defaults, and those of `lann.streams`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from benchmarks.streams.measure import Runner, run_river
from benchmarks.streams.own_run import run_own

SEED = 0
# SRP learns some hundred rows a second.
SLOWEST_ROWS = 10_000

SAM_KNN, SAM_LANN = "samknn", "samlann"
ARF = "arf"


@dataclass(frozen=True)
class Method:
    """
    A method on streams.

    Parameters
    ----------
    name, label, description
        Name on the command line, and label and description in documents.
    make
        Return the model, with nothing learned.
    is_slow
        Whether it is measured on the first rows only.
    run
        What it does with a stream.
    most_rows
        Largest number of rows, of the slowest.
    """

    name: str
    label: str
    description: str
    make: Callable[[], Any]
    is_slow: bool = True
    run: Runner = run_river
    most_rows: int | None = None

    @property
    def is_ours(self) -> bool:
        """Whether it is an estimator of `lann.streams`."""
        return self.run is run_own

    @property
    def missing(self) -> str | None:
        """Say why the method cannot be measured here; None if it can."""
        if self.is_ours:
            return None if hasattr(import_module("lann.streams"), self.label) else "is not in lann.streams."
        return None if find_spec("river") else "needs the package river: pip install 'lann[streams]'."


def _river(module: str, name: str, **parameters: Any) -> Any:
    return getattr(import_module(f"river.{module}"), name)(**parameters)


def _neighbors(window: int) -> Any:
    return _river("neighbors", "KNNClassifier", engine=_river("neighbors", "LazySearch", window_size=window))


def _neighbors_adwin() -> Any:
    return _river(
        "drift",
        "DriftRetrainingClassifier",
        model=_neighbors(1000),
        drift_detector=_river("drift", "ADWIN"),
        train_in_background=False,  # ADWIN has no warnings; at a drift the window is emptied
    )


def _scaled_neighbors() -> Any:
    return _river("preprocessing", "StandardScaler") | _neighbors(5000)


def _ours(name: str) -> Any:
    return getattr(import_module("lann.streams"), name)(random_state=SEED)


def small_window_models(window: int) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return SAMKNN and river's kNN with a window of this size, not learned yet."""
    streams = import_module("lann.streams")
    return lambda: streams.SAMKNN(window_size=window, random_state=SEED), lambda: _neighbors(window)


METHODS = [
    Method(
        "no-change",
        "no change",
        "the label of the row before (river: `dummy.NoChangeClassifier`)",
        lambda: _river("dummy", "NoChangeClassifier"),
        is_slow=False,
    ),
    Method(
        "majority",
        "majority",
        "the most frequent label so far (river: `dummy.PriorClassifier`)",
        lambda: _river("dummy", "PriorClassifier"),
        is_slow=False,
    ),
    Method(
        ARF,
        "ARF",
        "adaptive random forest of 10 trees (river: `forest.ARFClassifier`)",
        lambda: _river("forest", "ARFClassifier", seed=SEED),
    ),
    Method(
        "hat",
        "HAT",
        "Hoeffding adaptive tree (river: `tree.HoeffdingAdaptiveTreeClassifier`)",
        lambda: _river("tree", "HoeffdingAdaptiveTreeClassifier", seed=SEED),
    ),
    Method(
        "knn-1000",
        "kNN 1000",
        "5 neighbors weighted by distance in the last 1000 rows, features as they are (river: "
        "`neighbors.KNNClassifier` with `LazySearch`)",
        lambda: _neighbors(1000),
    ),
    Method(
        "knn-adwin",
        "kNN ADWIN",
        "kNN 1000 that empties its window where ADWIN finds a drift of its errors (river: "
        "`drift.DriftRetrainingClassifier`)",
        _neighbors_adwin,
    ),
    Method("knn-5000", "kNN 5000", "as kNN 1000, in the last 5000 rows", lambda: _neighbors(5000)),
    Method(
        "knn-5000-scaled",
        "kNN 5000 scaled",
        "kNN 5000 behind running z-scores (river: `preprocessing.StandardScaler`)",
        _scaled_neighbors,
    ),
    Method(
        "srp",
        "SRP",
        "streaming random patches, 10 Hoeffding trees (river: `ensemble.SRPClassifier`)",
        lambda: _river("ensemble", "SRPClassifier", seed=SEED),
        most_rows=SLOWEST_ROWS,
    ),
    Method(
        SAM_KNN,
        "SAMKNN",
        "self-adjusting memories, features as they are",
        lambda: _ours("SAMKNN"),
        is_slow=False,
        run=run_own,
    ),
    Method(
        SAM_LANN,
        "SAMLANN",
        "the same memories with learned metrics",
        lambda: _ours("SAMLANN"),
        is_slow=False,
        run=run_own,
    ),
]
"""All methods, in the order in which they are measured."""
