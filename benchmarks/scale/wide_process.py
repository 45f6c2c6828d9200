"""One measurement on a wide table in a process of its own: `python -m benchmarks.scale.wide_process TASK`."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from sklearn.preprocessing import StandardScaler

from benchmarks.common.datasets import load_set
from benchmarks.common.protocols import PROTOCOLS
from benchmarks.common.scores import accuracy
from benchmarks.engine import Values, seconds_of
from benchmarks.scale.measure import measure_fit
from benchmarks.scale.process import load_module
from benchmarks.scale.wide_rows import make_wide_rows

USPS = "usps"
N_TEST = 500


def run_wide(task: Values) -> Values:
    """Fit few rows of many features, predict others, and explain two of them."""
    module = load_module(task["module"])
    module.warm_up()
    X, y, X_test, y_test = make_wide_rows(task["n_rows"], N_TEST, task["n_features"], task["seed"])
    model = module.make(task["method"], task["n_jobs"], task["seed"])
    found = measure_fit(model, X, y)
    start = time.perf_counter()
    predicted = model.predict(X_test)
    found["predict_seconds"] = time.perf_counter() - start
    found["accuracy"] = accuracy(y_test, predicted)
    found["n_features"] = X.shape[1]
    if hasattr(model, "explain"):
        found["explain_seconds"] = seconds_of(lambda: model.explain(X_test[:1]))
        found["explain_again_seconds"] = seconds_of(lambda: model.explain(X_test[1:2]))
    return found


def run_usps(task: Values) -> dict[str, Values]:
    """Fit several methods in turns on a quarter of usps; return seconds and accuracy of each."""
    data = load_set(USPS)
    train, test = PROTOCOLS["paper"].splits(data.X, data.y, task["seed"])[task["split"]]
    scaler = StandardScaler().fit(data.X[train])
    X, X_test = scaler.transform(data.X[train]), scaler.transform(data.X[test])
    models: dict[str, Any] = {}
    for name, module_name in task["methods"].items():
        module = load_module(module_name)
        module.warm_up()
        models[name] = module.make(name, task["n_jobs"], task["seed"])
    seconds: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(task["turns"]):
        for name, model in models.items():
            seconds[name].append(seconds_of(lambda model=model: model.fit(X, data.y[train])))  # type: ignore[misc]
    return {
        name: {
            "fit_seconds": min(seconds[name]),
            "accuracy": accuracy(data.y[test], model.predict(X_test)),
        }
        for name, model in models.items()
    }


def main(task: Values) -> None:
    run: Any = run_usps if task["kind"] == USPS else run_wide
    print(json.dumps(run(task)))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
