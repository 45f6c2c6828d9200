"""One measurement in a process of its own: `python -m benchmarks.scale.process TASK`, a JSON object.

The result is the last line of stdout. Method modules are imported by name: see `benchmarks.scale.methods`.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import cast

from benchmarks.engine import Values
from benchmarks.scale.covertype import read_covertype
from benchmarks.scale.measure import MethodModule, measure_fit, measure_predict, measure_probabilities
from benchmarks.scale.planted import Planted


def load_module(name: str) -> MethodModule:
    return cast(MethodModule, import_module(f"benchmarks.scale.methods.{name}"))


def run_rows(task: Values) -> Values:
    """Fit planted rows, predict others, and measure what else the method has."""
    module = load_module(task["module"])
    module.warm_up()
    planted = Planted(task["n_features"], task["seed"])
    X, y = planted.training_rows(task["n_rows"])
    X_test, y_test = planted.test_rows(task["n_queries"])
    model = module.make(task["method"], task["n_jobs"], task["seed"])
    fitted = measure_fit(model, X, y)
    return {
        "n_rows": len(X),
        "n_features": X.shape[1],
        **fitted,
        **measure_predict(model, X_test, y_test),
        **module.further(model, X, X_test),
    }


def run_covertype(task: Values) -> Values:
    """Fit 80 % of covertype, and predict the rest."""
    module = load_module(task["module"])
    module.warm_up()
    X, y, X_test, y_test = read_covertype(task["seed"], task["most_rows"])
    model = module.make(task["method"], task["n_jobs"], task["seed"])
    fitted = measure_fit(model, X, y)
    scores = measure_probabilities(model, X_test, y_test)
    return {"n_rows": len(X), "n_queries": len(X_test), **fitted, **scores}


RUNS = {"rows": run_rows, "covertype": run_covertype}


def main(task: Values) -> None:
    print(json.dumps(RUNS[task["kind"]](task)))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
