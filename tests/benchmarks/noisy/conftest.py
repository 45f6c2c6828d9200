"""Small files in the folders of the noisy sets, and made-up results."""

import json

import numpy as np
import pandas as pd
import pytest

from benchmarks.common.methods import choose_methods
from benchmarks.common.split_benchmark import Plan
from benchmarks.noisy.data import SETS
from benchmarks.noisy.plan import PART

COLUMNS = {"numeric": ["age", "fare"], "categorical": ["class", "port"]}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder for LANN_DATA: `titanic` with categories and missing values, and `sea` with numbers."""
    rng = np.random.default_rng(0)
    age = rng.normal(40, 10, 120).round(1)
    table = pd.DataFrame(
        {
            "age": age,
            "class": rng.choice(["1", "2", "3"], 120),  # categories that look like numbers
            "port": rng.choice(["None", "Q", "S"], 120),  # a level that looks like a missing value
            "fare": rng.normal(size=120).round(2),
            "target": np.where(age + rng.normal(0, 5, 120) > 40, "yes", "no"),
        }
    )
    table.loc[:4, "age"] = np.nan
    table.loc[5:9, "port"] = np.nan
    stream = pd.DataFrame(rng.normal(size=(100, 3)).round(3), columns=["f0", "f1", "f2"])
    stream["target"] = np.where(stream["f0"] + rng.normal(0, 0.5, 100) > 0, "1", "0")
    for name, data in (("mixed/titanic", table), ("streams/sea", stream)):
        path = tmp_path / f"{name}.csv.gz"
        path.parent.mkdir()
        data.to_csv(path, index=False)
    (tmp_path / "mixed" / "columns.json").write_text(json.dumps({"titanic": COLUMNS}))
    monkeypatch.setenv("LANN_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def made_up(results_of):
    """Results of two splits and a plan from {method: values}, on all noisy sets; `sets` has values by set."""

    def make(rows, sets=None):
        values = {
            "accuracy": 0.82, "log_loss_floored": 0.6, "log_loss": 0.45, "brier_floored": 0.1, "brier": 0.1,
            "ece": 0.02, "errors": {}, "fit_seconds": 1.0, "n_test": 100, "n_confident": 50,
            "n_confident_correct": 49, "vote": "k=5, power=1",
        }  # fmt: skip
        cells = {
            (PART, method, name): [values | row | (sets or {}).get((method, name), {})] * 2
            for method, row in rows.items()
            for name in SETS
        }
        plan = Plan(0, 3, choose_methods(list(rows)), list(SETS))
        return results_of(cells).part(PART, "accuracy"), plan

    return make
