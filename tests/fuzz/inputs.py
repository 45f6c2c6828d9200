"""The part "inputs": hostile inputs for every public estimator and method.

A case chooses an estimator, what is given to it, and how; it checks what has to hold of every result, and
that a call that raises leaves the estimator and its input as they were.
"""

from __future__ import annotations

import copy
import inspect
import pickle
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import dask
import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sp
from sklearn.base import is_classifier, is_regressor
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import scale

import lann
from lann import LANNClassifier
from tests.common.estimators import public_estimators
from tests.fuzz.outcomes import Outcome, Part, WrongResult, require, try_case

Action = Callable[[], None]
SECONDS, MEMORY = 60.0, 2**31
QUICK: dict[str, Any] = {"max_iter": 2, "random_state": 0}
LAYOUT: dict[str, Any] = {"method": "tsne", "max_iter": 250, "n_neighbors": 5}
MEMORIES: dict[str, Any] = {"window_size": 30, "min_window_size": 10}
QUICK_OF: dict[str, dict[str, Any]] = {
    "DANN": {"max_iter": 1},
    "PLML": {"n_anchors": 3},
    "NeighborEmbedding": LAYOUT,
    "LANNEmbedding": LAYOUT,
    "RejectOption": {"estimator": LANNClassifier(n_neighbors=3, power=1.0, **QUICK), "cv": 2},
    "SAMKNN": MEMORIES,
    "SAMLANN": MEMORIES,
    "distributed.LANNClassifier": {"rows_per_shard": 25},
}
# Further settings that have code of their own.
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "LANNClassifier": [
        {"levels": ("point",), "max_iter": 0, "n_neighbors": 3},
        {"metric": "full", "n_neighbors": 3, "power": 0.5},
        {"levels": ("curves",), "early_stopping": True},
    ],
    "RejectOption": [{"by": "local", "certainty": "novelty", "coverage": 0.8}],
}
# What a method says of tables of Dask, which other methods take.
IN_MEMORY = "takes rows in memory"


# Estimators


@cache
def honest_rows() -> tuple[np.ndarray, np.ndarray]:
    """Return training data of three classes in random order: (45, 4) and (45,)."""
    X, y = load_iris(return_X_y=True)
    rows = np.random.default_rng(0).permutation(150)[:45]
    return scale(X)[rows], y[rows]


@cache
def honest_queries() -> np.ndarray:
    """Return rows that are no training rows: (5, 4)."""
    return honest_rows()[0][::9] + 0.01


@dataclass(frozen=True, eq=False)
class Subject:
    """An estimator class with settings that make a fit short."""

    name: str
    cls: type
    settings: dict[str, Any]

    def make(self, **changes: Any) -> Any:
        return self.cls(**(self.settings | changes))

    @property
    def output(self) -> str:
        """The method whose result says whether an estimator has changed."""
        estimator = self.make()
        if is_regressor(estimator):
            return "predict"
        return "predict_proba" if is_classifier(estimator) else "transform"

    def result(self, estimator: Any, X: Any) -> np.ndarray:
        return np.asarray(getattr(estimator, self.output)(X))


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
def honest_result(subject: Subject) -> np.ndarray:
    """Return what the fitted estimator says of the honest queries."""
    return subject.result(fitted(subject), honest_queries())


class Choices:
    """The choices of a case, which a seed and a number determine."""

    def __init__(self, seed: int, number: int) -> None:
        self.rng = np.random.default_rng([seed, number])

    def choose(self, items: Any) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def chance(self, percent: int) -> bool:
        return self.rng.integers(100) < percent


# Hostile numbers, containers, labels, weights and parameters

NUMBERS = (
    0.0, -0.0, 5e-324, 1e-300, 1e-160, 1e-30, 255.0, 1e9, 1e20, 1e39, 1e59, 1e61, 1e100, 1e154, 1.7e308,
    np.nan, np.inf, -np.inf, -1e17,
)  # fmt: skip
VALUES: dict[str, Callable[[np.ndarray, Choices], np.ndarray]] = {
    "as they are": lambda X, c: X,
    "whole": lambda X, c: np.round(X * 3),
    "a cell": lambda X, c: _with_number(X, c, (c.rng.integers(len(X)), c.rng.integers(X.shape[1]))),
    "a row": lambda X, c: _with_number(X, c, c.rng.integers(len(X))),
    "a column": lambda X, c: _with_number(X, c, (slice(None), c.rng.integers(X.shape[1]))),
    "scaled": lambda X, c: X * 10.0 ** c.choose([-300, -100, -50, -20, 20, 50, 100, 300]),
    "scaled columns": lambda X, c: X * np.resize(c.choose([[1e-50, 1, 1e50, 1], [0, 1, 1, 1]]), X.shape[1]),
    "shifted": lambda X, c: X + c.choose([1e6, 1e15, 1e17]),
    "repeated": lambda X, c: X[np.arange(len(X)) % c.choose([1, 2, 7])],
    "heavy tails": lambda X, c: c.rng.standard_cauchy(X.shape),
    "gaps": lambda X, c: np.where(c.rng.random(X.shape) < c.choose([0.1, 0.9, 1.0]), np.nan, X),
    "other shape": lambda X, c: np.resize(X, (c.choose([1, 2, 3, len(X)]), c.choose([1, 3, 4, 5, 40]))),
    "empty": lambda X, c: X[:0],
    "other dimensions": lambda X, c: c.choose([X.ravel(), X[:, :, None], X[None], X[0, 0]]),
}
# After these, the numbers are ordinary, and must not be rejected.
ORDINARY = ("as they are", "whole")


def _with_number(X: np.ndarray, c: Choices, where: Any) -> np.ndarray:
    X = X.copy()
    X[where] = c.choose(NUMBERS)
    return X


def _frame(X: np.ndarray, **options: Any) -> Any:
    return pd.DataFrame(X, columns=[f"c{n}" for n in range(X.shape[1])], **options) if X.ndim == 2 else X


def _objects(items: list[Any]) -> np.ndarray:
    objects = np.empty(len(items), object)
    objects[:] = items
    return objects


def _with_object(X: np.ndarray, value: Any) -> np.ndarray:
    objects = X.astype(object)
    if objects.size:
        objects[(0,) * objects.ndim] = value
    return objects


# The same numbers as float64: the results have to be the same, to the bit.
EQUAL: dict[str, Callable[[np.ndarray, Choices], Any]] = {
    "array": lambda X, c: X,
    "Fortran order": lambda X, c: np.asfortranarray(X),
    "strides": lambda X, c: np.repeat(X, 2, axis=-1)[..., ::2],
    "read-only": lambda X, c: np.broadcast_to(X, X.shape),
    "big-endian": lambda X, c: X.astype(">f8"),
    "objects": lambda X, c: X.astype(object),
    "lists": lambda X, c: X.tolist(),
    "DataFrame": lambda X, c: _frame(X),
    "DataFrame of objects": lambda X, c: _frame(X, dtype=object),
    "polars": lambda X, c: pl.DataFrame(_frame(X)) if X.ndim == 2 and X.size else X,
}
# Others, whose numbers can be rounded, or that are no matrix of numbers.
OTHER: dict[str, Callable[[np.ndarray, Choices], Any]] = {
    "float32": lambda X, c: X.astype(np.float32),
    "bool": lambda X, c: X > 0,
    "complex": lambda X, c: X.astype(complex),
    "text": lambda X, c: X.astype(str),
    "words": lambda X, c: np.full(X.shape, c.choose(["a", "", "\x00", "nan", "1,5"])),
    "dates": lambda X, c: np.zeros(X.shape, "M8[s]"),
    "masked": lambda X, c: np.ma.MaskedArray(X, X > 0),
    "sparse": lambda X, c: sp.csr_matrix(X) if X.ndim == 2 else X,
    "DataFrame, odd names": lambda X, c: _frame(X).set_axis(
        c.choose([list(range(X.shape[1])), ["a", 1, None, 2.5] * X.shape[1]])[: X.shape[1]], axis=1
    ),
    "DataFrame, mixed": lambda X, c: _frame(X).assign(
        c0=c.choose([None, "a", True, pd.NaT, pd.Timestamp("2020"), 1j, 2**64, b"a", np.inf])
    ),
    "DataFrame of categories": lambda X, c: _frame(X).astype("category"),
    "arrow": lambda X, c: pa.Table.from_pandas(_frame(X)),
    "Series": lambda X, c: pd.Series(X.ravel()),
    "dask array": lambda X, c: dask.array.from_array(X, chunks=10),
    "dask DataFrame": lambda X, c: dask.dataframe.from_pandas(_frame(X), 2),
    "None": lambda X, c: None,
    "number": lambda X, c: 0.5,
    "string": lambda X, c: "1 2\n3 4",
    "ragged": lambda X, c: [[1.0], [1.0, 2.0], []],
    "nested objects": lambda X, c: _with_object(X, c.choose([[], {}, None, object(), "x", pd.NA, 2**70, 1j])),
}
CONTAINERS = EQUAL | OTHER
WORDS = np.array(["u", "v", "w"])
# Three classes as they are, in other words.
EQUAL_LABELS: dict[str, Callable[[np.ndarray], Any]] = {
    "integers": lambda y: y,
    "list": lambda y: y.tolist(),
    "words": lambda y: WORDS[y],
    "objects": lambda y: WORDS[y].astype(object),
    "Series": lambda y: pd.Series(WORDS[y], index=np.arange(len(y)) * 7),
    "Categorical": lambda y: pd.Series(pd.Categorical(WORDS[y])),
    "NUL and escapes": lambda y: _objects([("\x1b[31m", "a\x00b", "a\x00c")[n] for n in y]),
}
LABELS = EQUAL_LABELS | {
    "mixed": lambda y: _objects([("a", 1, 2.5)[n] for n in y]),
    "with None": lambda y: _objects([("a", None, "b")[n] for n in y]),
    "NaN": lambda y: np.where(y == 0, np.nan, y),
    "bytes": lambda y: np.array([b"a", b"b", b"c"])[y],
    "bool": lambda y: y == 0,
    "floats": lambda y: y + 0.5,
    "complex": lambda y: y * 1j,
    "tuples": lambda y: _objects([(n, n) for n in y.tolist()]),
    "dates": lambda y: y.astype("M8[D]"),
    "one class": lambda y: np.zeros_like(y),
    "a class per row": lambda y: np.arange(len(y)),
    "shorter": lambda y: y[:-1],
    "matrix": lambda y: np.eye(3)[y],
    "None": lambda y: None,
    "string": lambda y: "abc",
    "nullable with NA": lambda y: pd.Series(y, dtype="Int64").mask(y == 1),
}
WEIGHTS: dict[str, Callable[[np.ndarray], Any]] = {
    "integers": lambda y: 1 + np.arange(len(y)) % 3,
    "few zeros": lambda y: (np.arange(len(y)) % 5 > 0).astype(float),
    "one positive": lambda y: (np.arange(len(y)) == 0).astype(float),
    "a class without weight": lambda y: (y > 0).astype(float),
    "zeros": lambda y: np.zeros(len(y)),
    "negative": lambda y: np.where(np.arange(len(y)) == 0, -1.0, 1.0),
    "one NaN": lambda y: np.where(np.arange(len(y)) == 0, np.nan, 1.0),
    "shorter": lambda y: np.ones(max(len(y) - 1, 0)),
    "words": lambda y: np.full(len(y), "a"),
    "string": lambda y: "balanced",
}
PARAMETERS: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2, 3, 44, 45, 46, 2**31, 2**63, 10**30, 0.0, 0.5, 1.0, 1.5, -0.5, 1e-300,
    1e300, float("nan"), float("inf"), "", "x", "auto", b"x", "balanced", [], {}, (), [1], [[1.0]], {"a": 1},
    {0: 2.0}, {0: -1.0}, {0: float("nan")}, {0: "x"}, ("point",), ("point", "x"), (object(),), object(),
    np.array([1, 2]), np.array(3), np.eye(4), np.full((4, 4), np.nan), np.int64(2), np.float32(0.5),
    np.bool_(True), pd.NA, len,
)  # fmt: skip


# What has to hold


def same(one: Any, other: Any) -> bool:
    """Return whether two results are equal to the bit, gaps included."""
    one, other = np.asarray(one), np.asarray(other)
    is_float = one.dtype.kind == "f" and other.dtype.kind == "f"
    return one.shape == other.shape and np.array_equal(one, other, equal_nan=is_float)


def check_results(subject: Subject, estimator: Any, X: Any) -> None:
    """Check that everything that an estimator says of some rows is finite and agrees."""
    first = subject.result(estimator, X)
    require(np.isfinite(first), f"{subject.output} is not finite.")
    require(same(subject.result(estimator, X), first), f"A second call of {subject.output} differs.")
    if subject.output == "predict":
        found = estimator.explain(X, leave_out=None)
        told = np.ravel(found.base_values) + np.ravel(np.asarray(found.supports).sum(axis=-1))
        require(np.abs(told - first) <= 1e-9 * np.abs(first).max(initial=1.0), "Reasons do not add up.")
    if subject.output != "predict_proba":
        return
    require(np.abs(first.sum(axis=1) - 1) < 1e-9, "Probabilities do not add up to 1.")
    require((first >= 0) & (first <= 1), "Probabilities are not in [0, 1].")
    try:
        _check_others(estimator, X, first)
    except (ValueError, TypeError) as error:
        if IN_MEMORY in str(error):
            raise
        raise WrongResult(f"predict_proba returns, but another method raises: {error}") from error


def _check_others(estimator: Any, X: Any, probabilities: np.ndarray) -> None:
    predictions = np.asarray(estimator.predict(X))
    expected = np.asarray(estimator.classes_)[probabilities.argmax(axis=1)]
    if not hasattr(estimator, "reject_label_"):
        require(predictions == expected, "predict and predict_proba differ.")
    if hasattr(estimator, "kneighbors"):
        n_rows = getattr(estimator.model_, "n_rows", len(honest_rows()[0]))
        k = min(2, n_rows)
        distances, indices = map(np.asarray, estimator.kneighbors(X, k))
        require(np.isfinite(distances) & (distances >= 0), f"Distances {distances.tolist()[:3]}.")
        require(np.diff(distances, axis=1) >= 0, "Distances are not ascending.")
        require((indices >= 0) & (indices < n_rows), "There are indices of no training row.")
    if hasattr(estimator, "explain") and len(probabilities):
        options = {"leave_out": None} if hasattr(estimator, "kneighbors") else {}
        explanation = estimator.explain(X, **options)
        voted = slice(None) if explanation.left_out is None else np.asarray(explanation.left_out) < 0
        is_same = same(explanation.probabilities[voted], probabilities[voted])
        require(is_same, "explain has other probabilities.")
        for name in ("distances", "relevances", "supports"):
            require(np.isfinite(getattr(explanation, name)), f"{name} are not finite.")
        require(len(explanation.in_words()) == len(probabilities), "Sentences are missing.")


def check_unchanged(subject: Subject, estimator: Any, was_fitted: bool) -> None:
    """Check that an estimator is as it was before a call, which may have raised."""
    try:
        result = subject.result(estimator, honest_queries())
    except NotFittedError as error:
        if was_fitted:
            raise WrongResult("After a call, a fitted estimator is not fitted.") from error
        return
    require(was_fitted, "After a fit that raised, an estimator predicts.")
    require(same(result, honest_result(subject)), "Changed by a call.")


def check_saved(subject: Subject, estimator: Any) -> None:
    """Check that an estimator can be saved and pickled, and says the same afterwards."""
    X = honest_queries()[:, : estimator.n_features_in_]
    expected = subject.result(estimator, X)
    require(
        same(subject.result(pickle.loads(pickle.dumps(estimator)), X), expected), "A pickled model differs."
    )
    with tempfile.TemporaryDirectory() as folder:
        lann.save(estimator, Path(folder, "model.lann"))
        loaded = lann.load(Path(folder, "model.lann"))
        require(same(subject.result(loaded, X), expected), "A loaded model differs.")


# Cases


def _rows(c: Choices, X: np.ndarray, percent: int) -> tuple[str, Any, bool, bool]:
    """Return what rows are called, the rows, whether their numbers are those of X, and are ordinary."""
    change = c.choose(list(VALUES)) if c.chance(percent) else "as they are"
    container = c.choose(list(CONTAINERS)) if c.chance(percent) else "array"
    with np.errstate(all="ignore"):
        numbers = np.array(VALUES[change](X.copy(), c))
        if numbers.ndim != 2:
            container = "array"
        rows = CONTAINERS[container](numbers, c)
    is_equal = container in EQUAL
    return f"{container} of {change}", rows, is_equal, is_equal and change in ORDINARY


def fit_case(c: Choices) -> tuple[str, Action]:
    """Fit a new or a fitted estimator to hostile rows, labels and weights, or add them to it."""
    subject = c.choose(SUBJECTS)
    X, y = honest_rows()
    text, rows, _, is_usual = _rows(c, X, 50)
    label = c.choose(list(LABELS)) if c.chance(35) else "integers"
    shape = getattr(rows, "shape", ())
    n_rows = shape[0] if shape and isinstance(shape[0], int) else len(y)
    target = LABELS[label](np.resize(y, n_rows))
    options = {}
    if "sample_weight" in inspect.signature(subject.cls.fit).parameters and c.chance(20):
        options["sample_weight"] = WEIGHTS[c.choose(list(WEIGHTS))](np.resize(y, n_rows))
    was_fitted, save = c.chance(40), c.chance(30)
    method = "partial_fit" if hasattr(subject.cls, "partial_fit") and c.chance(40) else "fit"
    name = f"{subject.name}.{method}({text}, {label}, {list(options)}, was fitted: {was_fitted})"

    def action() -> None:
        estimator = copy.deepcopy(fitted(subject)) if was_fitted else subject.make()
        before = copy.deepcopy(rows)
        try:
            getattr(estimator, method)(rows, target, **options)
        except Exception as error:
            check_unchanged(subject, estimator, was_fitted)
            takes_labels = subject.output != "predict" or label == "integers"
            if is_usual and label in EQUAL_LABELS and takes_labels and not options and method == "fit":
                raise WrongResult(f"Ordinary rows and labels are rejected: {error}") from error
            raise
        require(repr(rows) == repr(before), "The input was modified.")
        if save and label in EQUAL_LABELS:
            check_saved(subject, estimator)
        if is_usual and len(getattr(estimator, "classes_", [0, 0])) > 1:
            check_results(subject, estimator, rows)

    return name, action


def query_case(c: Choices) -> tuple[str, Action]:
    """Give hostile rows to all methods of a fitted estimator, or to one."""
    subject = c.choose(SUBJECTS)
    known = [m for m in ("predict", "explain", "kneighbors", "transform") if hasattr(subject.cls, m)]
    method = c.choose(["all", *known])
    text, rows, is_equal, is_usual = _rows(c, honest_queries(), 60)

    def action() -> None:
        estimator = fitted(subject)
        try:
            if method != "all":
                getattr(estimator, method)(rows)
            else:
                check_results(subject, estimator, rows)
                if is_equal:
                    plain = subject.result(estimator, np.array(rows, dtype=float))
                    require(same(subject.result(estimator, rows), plain), "Other results than for an array.")
        except (ValueError, TypeError) as error:
            if is_usual:
                raise WrongResult(f"Ordinary rows are rejected: {error}") from error
            raise
        finally:
            check_unchanged(subject, estimator, True)

    return f"{subject.name}.{method}({text})", action


def parameter_case(c: Choices) -> tuple[str, Action]:
    """Set parameters to hostile values, and fit."""
    subject = c.choose(SUBJECTS)
    known = sorted(subject.make().get_params(deep=False)) or ["none"]
    chosen = {c.choose(known): c.choose(PARAMETERS) for _ in range(1 + c.chance(25))}
    # Many iterations are allowed, and take as long as they say.
    changes = {name: value for name, value in chosen.items() if name not in ("max_iter", "none")}
    name = f"{subject.name}({', '.join(f'{key}={value!r:.60}' for key, value in changes.items())}).fit"

    def action() -> None:
        estimator = subject.make(**changes)
        try:
            estimator.fit(*honest_rows())
        except Exception:
            check_unchanged(subject, estimator, False)
            raise
        check_results(subject, estimator, honest_queries())

    return name, action


def argument_case(c: Choices) -> tuple[str, Action]:
    """Call a method with honest rows and another argument that is hostile, or before fit."""
    subject, value, X = c.choose(SUBJECTS), c.choose(PARAMETERS), honest_queries()
    calls: dict[str, Callable[[Any], Any]] = {
        "kneighbors": lambda e: e.kneighbors(X, value),
        "score": lambda e: e.score(X, value),
        "forget": lambda e: copy.deepcopy(e).forget(value),
        "with_vote": lambda e: e.with_vote(value),
        "with_target": lambda e: e.with_target(coverage=value),
        "get_feature_names_out": lambda e: e.get_feature_names_out(value),
    }
    method = c.choose([name for name in calls if hasattr(subject.cls, name)] or ["fit"])
    is_fitted = c.chance(80)

    def action() -> None:
        estimator = fitted(subject) if is_fitted else subject.make()
        if method in calls:
            calls[method](estimator)
        check_unchanged(subject, estimator, is_fitted)

    return f"{subject.name}.{method}({value!r:.60}), fitted: {is_fitted}", action


CASES = (fit_case, fit_case, query_case, query_case, parameter_case, argument_case)


def run(seed: int, number: int) -> Outcome:
    """Run the case that a seed and a number determine."""
    choices = Choices(seed, number)
    return try_case(*choices.choose(CASES)(choices))


def prepare(folder: Path) -> Part:
    """Fit every estimator, so that children share them."""
    dask.config.set(scheduler="synchronous")  # no threads, as processes are forked
    for subject in SUBJECTS:
        honest_result(subject)
    return Part(run, SECONDS, memory=MEMORY)
