"""Made-up measurements of the scale benchmark."""

import numpy as np
import pytest

from benchmarks.scale.methods import HNSW, LANN
from benchmarks.scale.plan import COVERTYPE, DASK, ROWS, WIDE


def planted_values(n_rows, n_features=50, seconds=1e-3, power=1.0, **more):
    """Return the figures of a method whose time grows by a power of the number of rows."""
    return {
        "n_rows": n_rows,
        "n_features": n_features,
        "fit_seconds": seconds * n_rows**power,
        "peak_gb": 0.2 + 3e-6 * n_rows,
        "above_gb": 2e-6 * n_rows,
        "kept_gb": 1e-6 * n_rows,
        "data_gb": 2e-7 * n_rows,
        "one_row_seconds": 0.001,
        "predict_seconds": 1.0,
        "n_queries": 10_000,
        "rows_per_second": 1e9 / n_rows,
        "rows_per_second_again": 1e9 / n_rows,
        "accuracy": 0.8,
        "peak_predict_gb": 1.0,
    } | more


def own_values(n_rows, n_features=50, **more):
    """Return figures of LANN."""
    found = {
        "rows_per_second": 6000.0,
        "rows_per_second_again": 8000.0,
        "explain_seconds": 0.2,
        "explain_again_seconds": 0.1,
        "recall": 0.99,
        "n_neighbors": 50,
        "n_cells": 2000,
        "n_probed": 30,
        "assign_seconds": 1e-5,
    }
    return planted_values(n_rows, n_features, **found) | more


@pytest.fixture
def values_of():
    """What a child process would find, by its task."""

    def make(module, task, minutes):
        if module.endswith("wide_process"):
            if "methods" in task:
                return {name: {"fit_seconds": 2.0, "accuracy": 0.9} for name in task["methods"]}
            return planted_values(task["n_rows"], task["n_features"])
        if task["kind"] == COVERTYPE:
            return planted_values(1000, 54, log_loss=0.5, log_loss_floored=0.4)
        if task["method"] == LANN:
            return own_values(task["n_rows"], task["n_features"])
        more = {"list_seconds": 1e-3 * task["n_rows"], "recall": 0.9} if task["method"] == HNSW else {}
        return planted_values(task["n_rows"], task["n_features"], **more)

    return make


@pytest.fixture
def cells():
    """Cells of results in which every check is ok."""
    found = {}
    for n_rows in (10_000, 31_600, 100_000, 316_000, 1_000_000):
        for n_features in (20, 50):
            name = f"{n_rows} × {n_features}"
            found[ROWS, LANN, name] = [own_values(n_rows, n_features)]
            found[ROWS, HNSW, name] = [
                planted_values(n_rows, n_features, list_seconds=1e-3 * n_rows, recall=0.9)
            ]
    for method, accuracy in {
        LANN: 0.95, "hist-boosting": 0.94, "knn-1": 0.93, "knn-5": 0.92, "knn-1-scaled": 0.9,
        "knn-5-scaled": 0.9, "lightgbm": 0.9, "forest": 0.955,
        "hist-boosting-large": 0.959, "lightgbm-large": 0.95,
    }.items():  # fmt: skip
        found[COVERTYPE, method, "covertype"] = [
            planted_values(1000, 54, accuracy=accuracy, log_loss=0.5, log_loss_floored=0.4)
        ]
    for method in (LANN, "forest"):
        found[WIDE, method, "60 × 10000"] = [planted_values(60, 10_000, explain_seconds=0.5)]
        found[WIDE, method, "usps 2324 × 256"] = [{"fit_seconds": 2.0, "accuracy": 0.9}] * 3
    for method, seconds in {"one process": 100.0, "1 worker": 100.0, "2 workers": 55.0}.items():
        found[DASK, method, "400000 × 20"] = [
            {
                "fit_seconds": seconds, "predict_seconds": 1.0, "accuracy": 0.8, "same": 1.0,
                "same_gathered": 1.0, "peak_gb": 1.0,
            }
        ]  # fmt: skip
    return found


@pytest.fixture
def covertype_folder(tmp_path, monkeypatch):
    """A folder for LANN_DATA with a small covertype."""
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(500, 3)).round(3), columns=["f0", "f1", "f2"])
    frame["target"] = np.where(frame["f0"] > 0, "1", "2")
    (tmp_path / "streams").mkdir()
    frame.to_csv(tmp_path / "streams" / "covtype.csv.gz", index=False)
    monkeypatch.setenv("LANN_DATA", str(tmp_path))
    return tmp_path
