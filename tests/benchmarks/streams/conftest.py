"""Small streams in the folder of LANN_DATA, and made-up results."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.streams.data import STREAMS
from benchmarks.streams.methods import METHODS
from benchmarks.streams.plan import REFERENCE_ERRORS, STREAM, Plan


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder for LANN_DATA with the streams `sea` and `outdoor`."""
    rng = np.random.default_rng(0)
    for name, n_rows in (("streams/sea", 1300), ("paper/outdoor-objects", 400)):
        frame = pd.DataFrame(rng.normal(size=(n_rows, 3)).round(3), columns=["f0", "f1", "f2"])
        frame["target"] = np.where(frame["f0"] + 0.3 * rng.normal(size=n_rows) > 0, "UP", "DOWN")
        path = tmp_path / f"{name}.csv.gz"
        path.parent.mkdir()
        frame.to_csv(path, index=False)
    monkeypatch.setenv("LANN_DATA", str(tmp_path))
    return tmp_path


def make_values(accuracy, log_loss=0.3, n_rows=200_000, rows_per_second=5000.0):
    """Return values of a method that has the same scores up to every row."""
    scores = {
        "accuracy": accuracy,
        "kappa": 0.5,
        "kappa_temporal": -0.4,
        "log_loss": log_loss,
        "log_loss_floored": log_loss + 0.01,
    }
    ends = {
        *range(1000, min(n_rows, 30_000) + 1, 1000),
        n_rows,
        *(end for end, _ in REFERENCE_ERRORS.values()),
    }
    return {
        "n_rows": n_rows,
        **scores,
        "seconds": 1.0,
        "rows_per_second": rows_per_second,
        "at": {str(end): scores for end in ends},
    }


@pytest.fixture
def made_up(results_of):
    """Results and a plan from {method: values}; SAMKNN has the errors of the authors' program."""

    def make(rows, streams=STREAMS, cells=None):
        found = {
            (STREAM, method, name): [
                make_values(1 - REFERENCE_ERRORS.get(name, (0, 15.0))[1] / 100, **values)
                if method == "samknn" and "accuracy" not in values
                else make_values(**({"accuracy": 0.8} | values))
            ]
            for method, values in rows.items()
            for name in streams
        }
        plan = Plan([method for method in METHODS if method.name in rows], list(streams), 20_000)
        return results_of(found | (cells or {})), plan

    return make
