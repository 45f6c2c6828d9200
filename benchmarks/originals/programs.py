"""Fit the original programs on splits in files. This runs in the old environment, without lann."""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

Make = Callable[[int, int], Any]
"""From the number of threads and a seed to an estimator that is not fitted."""


def pylmnn(n_jobs: int, seed: int) -> Any:
    """Return LMNN with five target neighbors, then five neighbors with equal votes."""
    # PyLMNN imports GPyOpt when it is imported, and uses it only to tune parameters.
    methods = ModuleType("GPyOpt.methods")
    methods.BayesianOptimization = None  # type: ignore[attr-defined]
    sys.modules.update({"GPyOpt": ModuleType("GPyOpt"), "GPyOpt.methods": methods})
    from pylmnn import LargeMarginNearestNeighbor

    learned = LargeMarginNearestNeighbor(n_neighbors=5, random_state=seed, n_jobs=n_jobs)
    return make_pipeline(learned, KNeighborsClassifier(5, n_jobs=n_jobs))


def metric_learn_lmnn(n_jobs: int, seed: int) -> Any:
    """Return LMNN with five target neighbors, then five neighbors with equal votes."""
    from metric_learn import LMNN

    return make_pipeline(LMNN(k=5, random_state=seed), KNeighborsClassifier(5, n_jobs=n_jobs))


def sklearn_lvq_model(name: str) -> Make:
    """Return a model of sklearn-lvq with its defaults: one prototype a class, no regularization, L-BFGS."""

    def make(n_jobs: int, seed: int) -> Any:
        import sklearn_lvq

        return getattr(sklearn_lvq, name)(random_state=seed)

    return make


def sklvq_model(name: str) -> Make:
    """Return a model of sklvq with its defaults: one prototype a class, ten epochs of stochastic descent."""

    def make(n_jobs: int, seed: int) -> Any:
        import sklvq

        return getattr(sklvq, name)(random_state=seed)

    return make


PROGRAMS: dict[str, Make] = {
    "pylmnn": pylmnn,
    "metric-learn-lmnn": metric_learn_lmnn,
    "sklearn-lvq-gmlvq": sklearn_lvq_model("GmlvqModel"),
    "sklvq-gmlvq": sklvq_model("GMLVQ"),
    "sklearn-lvq-lgmlvq": sklearn_lvq_model("LgmlvqModel"),
    "sklvq-lgmlvq": sklvq_model("LGMLVQ"),
    "sklearn-lvq-grlvq": sklearn_lvq_model("GrlvqModel"),
}


def measure(estimator: Any, path: Path) -> dict[str, Any]:
    """
    Fit and predict one split.

    Parameters
    ----------
    estimator
        Not fitted.
    path
        A file with ``X_train``, ``y_train``, ``X_test`` and ``y_test``, with scaled features.

    Returns
    -------
    result
        ``accuracy``, ``fit_seconds``, ``fit_cpu_seconds`` of all threads, and ``predict_seconds``; or
        ``failure``, the error message.
    """
    with np.load(path) as split:
        X, y, X_test, y_test = (split[name] for name in ("X_train", "y_train", "X_test", "y_test"))
    try:
        start, cpu_start = time.perf_counter(), time.process_time()
        estimator.fit(X, y)
        fitted, cpu_fitted = time.perf_counter(), time.process_time()
        predicted = estimator.predict(X_test)
        done = time.perf_counter()
    except Exception as error:
        return {"failure": f"{type(error).__name__}: {' '.join(str(error).split())}"}
    return {
        "accuracy": float(np.mean(predicted == y_test)),
        "fit_seconds": fitted - start,
        "fit_cpu_seconds": cpu_fitted - cpu_start,
        "predict_seconds": done - fitted,
    }


def warm_up(estimator: Any) -> None:
    """Import, compile or load what a first fit needs, so that no timing includes it."""
    y = np.repeat([0, 1, 2], 10)
    X = np.random.default_rng(0).normal(size=(30, 3)) + 3.0 * y[:, None]
    try:
        estimator.fit(X, y).predict(X)
    except Exception:
        return  # the measurement will fail with the same error, and report it


def run(programs: dict[str, Make]) -> None:
    """Run the command line: print one line of JSON for each split."""
    parser = argparse.ArgumentParser(description="Fit one program on splits in files.")
    parser.add_argument("method", choices=list(programs))
    parser.add_argument("folder", type=Path, help="where the splits are, as .npz files")
    parser.add_argument(
        "--split", action="append", help="only the file of this name, without .npz; repeatable"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--n-jobs", type=int, default=1)
    given = parser.parse_args()
    make = programs[given.method]
    warnings.simplefilter("ignore")  # deprecations of what the old versions call
    warm_up(make(given.n_jobs, given.seed))
    for name in given.split or sorted(path.stem for path in given.folder.glob("*.npz")):
        measured = measure(make(given.n_jobs, given.seed), given.folder / f"{name}.npz")
        print(json.dumps({"method": given.method, "split": name, **measured}), flush=True)


if __name__ == "__main__":
    run(PROGRAMS)
