"""What is interrupted: calls of estimators, and what must hold of each afterwards."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz.outcomes import WrongResult


@dataclass(frozen=True)
class Operation:
    """
    A call that can be interrupted at any moment.

    Parameters
    ----------
    name
        For reports.
    start
        Returns what is called, and what checks afterwards that nothing is half-done. It is not interrupted.
    """

    name: str
    start: Callable[[], tuple[Callable[[], Any], Callable[[], None]]]


def make_operations(folder: Path) -> list[Operation]:
    """
    Return the operations, each of which has been called once.

    Parameters
    ----------
    folder
        For the files that they write.
    """
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)), rng.integers(0, 3, 300)
    X[:, 0] += y
    queries = rng.normal(size=(200, 5))
    return [
        *_of_classifier(X, y, queries, folder),
        *_of_baselines(X, y, queries),
        *_of_streams(X, y, queries),
        *_of_river(X, y),
    ]


def _of_classifier(X: Any, y: Any, queries: Any, folder: Path) -> list[Operation]:
    import lann
    from lann.explain import counterfactuals
    from lann.report import evaluate

    clf = lann.LANNClassifier(random_state=0, max_iter=3, n_jobs=2).fit(X, y)
    full = lann.LANNClassifier(random_state=0, max_iter=2, metric="full").fit(X, y)
    expected, expected_full = clf.predict_proba(queries), full.predict_proba(queries)

    def unchanged() -> None:
        _check_equal(clf.predict_proba(queries), expected)
        _check_equal(full.predict_proba(queries), expected_full)

    def write() -> tuple[Callable[[], Any], Callable[[], None]]:
        own = folder / f"saved-{os.getpid()}"  # other processes write, too
        own.mkdir(exist_ok=True)
        written = own / "model.lann"
        lann.save(full, written)

        def check() -> None:
            unchanged()
            _check_one_of(lann.load(written).predict_proba(queries), expected_full, expected)
            if [path.name for path in own.iterdir()] != [written.name]:
                raise WrongResult(f"Files are left: {sorted(path.name for path in own.iterdir())}.")

        return lambda: lann.save(clf, written), check

    def add_rows() -> tuple[Callable[[], Any], Callable[[], None]]:
        other = copy.deepcopy(clf)
        complete = copy.deepcopy(clf).partial_fit(queries[:5], y[:5]).predict_proba(queries)
        return (
            lambda: other.partial_fit(queries[:5], y[:5]),
            lambda: _check_one_of(other.predict_proba(queries), expected, complete),
        )

    calls: dict[str, Callable[[], Any]] = {
        "fit": lambda: clf.fit(X, y),
        "fit full": lambda: full.fit(X, y),
        "predict": lambda: clf.predict(queries),
        "predict_proba": lambda: full.predict_proba(queries),
        "kneighbors": lambda: clf.kneighbors(queries),
        "explain": lambda: clf.explain(queries[:80]),
        "counterfactuals": lambda: counterfactuals(clf, queries[:3]),
        "evaluate": lambda: evaluate(clf, queries[:60], y[:60], n_resamples=20),
    }
    return [
        *(_unchanging(name, call, unchanged) for name, call in calls.items()),
        Operation("save", write),
        Operation("partial_fit", add_rows),
    ]


def _of_baselines(X: Any, y: Any, queries: Any) -> list[Operation]:
    from lann.baselines import GMLVQ, LMNN

    operations = []
    for model in (LMNN(max_iter=3, n_jobs=2).fit(X, y), GMLVQ(max_iter=10, random_state=0).fit(X, y)):
        expected = model.predict_proba(queries)

        def check(model: Any = model, expected: Any = expected) -> None:
            _check_equal(model.predict_proba(queries), expected)

        name = type(model).__name__
        operations += [
            _unchanging(f"{name} fit", lambda model=model: model.fit(X, y), check),
            _unchanging(f"{name} predict", lambda model=model: model.predict(queries), check),
        ]
    return operations


def _of_streams(X: Any, y: Any, queries: Any) -> list[Operation]:
    from lann.streams import SAMKNN, SAMLANN

    operations = []
    for kind in (SAMKNN, SAMLANN):
        model = kind(random_state=0, window_size=200).fit(X, y)
        expected = model.predict_proba(queries)
        new = np.where(np.arange(60) % 20 == 7, -1, y[:60])  # a class before all others

        def learn(
            model: Any = model, expected: Any = expected, new: Any = new
        ) -> tuple[Callable[[], Any], Callable[[], None]]:
            other = copy.deepcopy(model)
            complete = copy.deepcopy(model).partial_fit(queries[:60], new)

            def check() -> None:
                is_complete = other.n_seen_ > model.n_seen_
                _check_equal(other.classes_, (complete if is_complete else model).classes_)
                after = complete.predict_proba(queries) if is_complete else expected
                _check_equal(other.predict_proba(queries), after)

            return lambda: other.partial_fit(queries[:60], new), check

        def check(model: Any = model, expected: Any = expected) -> None:
            _check_equal(model.predict_proba(queries), expected)

        operations += [
            Operation(f"{kind.__name__} partial_fit", learn),
            _unchanging(f"{kind.__name__} fit", lambda model=model: model.fit(X, y), check),
            _unchanging(
                f"{kind.__name__} explain_one", lambda model=model: model.explain_one(queries[0]), check
            ),
        ]
    return operations


def _of_river(X: Any, y: Any) -> list[Operation]:
    """Return operations that learn a row with a feature and a label that are new."""
    from lann.streams import river

    operations = []
    for name in river.__all__:
        cls = getattr(river, name)
        model = cls(**next(cls._unit_test_params()), seed=0)
        for row, label in zip(X[:60].tolist(), y[:60].tolist(), strict=True):
            model.learn_one(dict(enumerate(row)), label)
        x = {0: 1.0, 1: 2.0, "new": 3.0, "text": "a category"}
        query = {0: 0.5, "new": 1.0, "text": "a category"}
        complete = copy.deepcopy(model)
        complete.learn_one(x, "new")
        before, after = model.predict_proba_one(query), complete.predict_proba_one(query)

        def learn(
            model: Any = model, query: Any = query, x: Any = x, before: Any = before, after: Any = after
        ) -> tuple[Callable[[], Any], Callable[[], None]]:
            other = copy.deepcopy(model)

            def check() -> None:
                if other.predict_proba_one(query) not in (before, after):
                    raise WrongResult("The result is neither that of before nor that of after.")

            return lambda: other.learn_one(x, "new"), check

        operations.append(Operation(f"river {name} learn_one", learn))
    return operations


@cache
def make_embedding() -> Operation:
    """Return the fit of an embedding, on first use, as the import of umap takes seconds."""
    from lann import LANNEmbedding

    X = np.random.default_rng(1).normal(size=(60, 4))
    y = (X[:, 0] > 0).astype(int)
    model = LANNEmbedding(random_state=0, max_iter=20).fit(X, y)
    expected = model.embedding_.copy()
    return _unchanging(
        "LANNEmbedding fit",
        lambda: model.fit(X, y),
        lambda: _check_equal(model.embedding_, expected),
    )


def _unchanging(name: str, call: Callable[[], Any], check: Callable[[], None]) -> Operation:
    call()
    return Operation(name, lambda: (call, check))


def _check_equal(found: Any, expected: Any) -> None:
    if not np.array_equal(found, expected):
        raise WrongResult("The result is not that of before.")


def _check_one_of(found: Any, before: Any, after: Any) -> None:
    if not (np.array_equal(found, before) or np.array_equal(found, after)):
        raise WrongResult("The result is neither that of before nor that of after.")
