"""The estimators that are tried: every public one, with settings that make a fit short."""

from __future__ import annotations

import inspect
import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

from lann import LANNClassifier
from tests.common.estimators import public_estimators

QUICK = {"max_iter": 2, "random_state": 0}
LAYOUT = {"method": "tsne", "max_iter": 250, "n_neighbors": 5}
QUICK_OF: dict[str, dict[str, Any]] = {
    "DANN": {"max_iter": 1},
    "PLML": {"n_anchors": 3},
    "NeighborEmbedding": LAYOUT,
    "LANNEmbedding": LAYOUT,
    "RejectOption": {"estimator": LANNClassifier(n_neighbors=3, power=1.0, **QUICK), "cv": 2},
    "SAMKNN": {"window_size": 30, "min_window_size": 10},
    "SAMLANN": {"window_size": 30, "min_window_size": 10},
    "DaskLANN": {"rows_per_shard": 25},
}
# Further settings that have code of their own.
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "LANNClassifier": [
        {"levels": ("point",), "max_iter": 0, "n_neighbors": 3},
        {"metric": "full", "n_neighbors": 3, "power": 0.5},
        {"metric": "low_rank", "n_components": 2, "class_weight": "balanced"},
        {"levels": ("curves",), "early_stopping": True, "max_points": 30},
    ],
    "PublishedLANN": [{"metric": "full", "constraint": "determinant"}],
    "LMNN": [{"weights": "distance", "n_components": 2}],
    "RejectOption": [{"by": "local", "certainty": "novelty", "coverage": 0.8}],
}
N_ROWS = 45


@cache
def honest_rows() -> tuple[np.ndarray, np.ndarray]:
    """Return training data of three classes in random order: (45, 4) and (45,)."""
    X, y = load_iris(return_X_y=True)
    rows = np.random.default_rng(0).permutation(150)[:N_ROWS]
    return scale(X)[rows], y[rows]


@cache
def honest_queries() -> np.ndarray:
    """Return rows that are no training rows: (5, 4)."""
    return honest_rows()[0][::9] + 0.01


def honest_table(n_rows: int = N_ROWS) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table with numbers, categories, bools, dates and gaps, and labels."""
    X, y = honest_rows()
    rows = np.arange(n_rows)
    frame = pd.DataFrame(X[:n_rows, :2].copy(), columns=["a", "b"])  # no view, as before pandas 3
    frame.loc[rows % 5 == 0, "b"] = np.nan
    frame["color"] = pd.Series(np.array(["red", "green", "blue"])[rows % 3]).mask(rows % 7 == 0)
    frame["known"] = rows % 2 == 0
    frame["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rows, unit="D")
    frame["size"] = pd.Categorical(np.array(["s", "m"])[rows % 2], categories=["s", "m"], ordered=True)
    return frame, np.array(["u", "v", "w"])[y[:n_rows]]


@dataclass(frozen=True, eq=False)
class Subject:
    """
    An estimator class with settings.

    Parameters
    ----------
    name
        As it is shown.
    cls
        The class.
    settings
        Parameters that make a fit short.
    """

    name: str
    cls: type
    settings: dict[str, Any]

    def make(self, **changes: Any) -> Any:
        """Return a new estimator."""
        return self.cls(**(self.settings | changes))

    @property
    def is_classifier(self) -> bool:
        return is_classifier(self.make())

    @property
    def takes_tables(self) -> bool:
        """Whether categories and dates are features, as they are."""
        return self.cls.__name__ in ("LANNClassifier", "RejectOption")

    @property
    def takes_gaps(self) -> bool:
        return self.takes_tables or self.cls.__module__.startswith("lann.streams")

    @property
    def takes_weights(self) -> bool:
        return "sample_weight" in inspect.signature(self.cls.fit).parameters

    @property
    def output(self) -> str:
        """The method whose result says whether an estimator has changed."""
        return "predict_proba" if self.is_classifier else "transform"

    @property
    def is_plain(self) -> bool:
        """Whether distances are those of the rows as they are."""
        return self.settings.get("levels") == ("point",) and self.settings.get("max_iter") == 0


def _subjects() -> list[Subject]:
    subjects = []
    for name, cls in sorted(public_estimators().items()):
        known = inspect.signature(cls).parameters
        quick = {k: v for k, v in (QUICK | QUICK_OF.get(name, {})).items() if k in known}
        subjects.append(Subject(name, cls, quick))
        for number, variant in enumerate(VARIANTS.get(name, []), start=1):
            subjects.append(Subject(f"{name} {number}", cls, quick | variant))
    return subjects


SUBJECTS = _subjects()


@cache
def fitted(subject: Subject) -> Any:
    """Return an estimator that is fitted to the honest rows; it is shared, and must not be changed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return subject.make().fit(*honest_rows())


@cache
def fitted_to_table(subject: Subject) -> Any:
    """Return an estimator that is fitted to the honest table, or to a table of numbers with names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if subject.takes_tables:
            return subject.make().fit(*honest_table())
        X, y = honest_rows()
        return subject.make().fit(pd.DataFrame(X, columns=list("abcd")), y)


@cache
def honest_result(subject: Subject) -> np.ndarray:
    """Return what the fitted estimator says of the honest queries."""
    return np.asarray(getattr(fitted(subject), subject.output)(honest_queries()))
