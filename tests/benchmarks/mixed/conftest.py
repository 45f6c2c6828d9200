"""Small files in the folder of the tables, and made-up results."""

import json

import numpy as np
import pandas as pd
import pytest

from benchmarks.common.methods import choose_methods
from benchmarks.common.split_benchmark import Plan
from benchmarks.mixed.data import SETS
from benchmarks.mixed.methods import METHODS
from benchmarks.mixed.plan import PART


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder for LANN_DATA: `titanic` with two classes, and `eucalyptus` with three."""
    rng = np.random.default_rng(0)
    (tmp_path / "mixed").mkdir()
    columns = {}
    for name, n_classes in (("titanic", 2), ("eucalyptus", 3)):
        age = rng.normal(40, 10, 150).round(1)
        noisy = age + rng.normal(0, 3, 150)
        table = pd.DataFrame(
            {
                "age": age,
                "class": rng.choice(["1", "2", "3"], 150),  # categories that look like numbers
                "port": rng.choice(["None", "Q", "S"], 150),  # a level that looks like a missing value
                "target": pd.qcut(noisy, n_classes, labels=False),
            }
        )
        table.loc[:4, "age"] = np.nan
        table.loc[5:9, "port"] = np.nan
        table.to_csv(tmp_path / "mixed" / f"{name}.csv.gz", index=False)
        columns[name] = {"numeric": ["age"], "categorical": ["class", "port"]}
    (tmp_path / "mixed" / "columns.json").write_text(json.dumps(columns))
    monkeypatch.setenv("LANN_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def made_up(results_of):
    """Results of two splits and a plan from {method: values}, on all tables; `sets` has values by table."""

    def make(rows, sets=None):
        values = {
            "accuracy": 0.9, "balanced_accuracy": 0.85, "log_loss": 0.25, "log_loss_floored": 0.26,
            "roc_auc": 0.95, "brier": 0.1, "ece": 0.02, "errors": {}, "fit_seconds": 1.0,
        }  # fmt: skip
        cells = {
            (PART, method, name): [values | row | (sets or {}).get((method, name), {})] * 2
            for method, row in rows.items()
            for name in SETS
        }
        plan = Plan(0, 3, choose_methods(list(rows), available=METHODS), list(SETS))
        return results_of(cells).part(PART, "accuracy"), plan

    return make
