"""A small file of votes, and made-up results."""

import json

import numpy as np
import pandas as pd
import pytest

from benchmarks.common.methods import choose_methods
from benchmarks.common.split_benchmark import Plan
from benchmarks.missing.data import INFORMATIVE_SETS, RANDOM_SETS
from benchmarks.missing.methods import METHODS
from benchmarks.missing.plan import COMPLETE, INFORMATIVE, RANDOM


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder for LANN_DATA with `house-votes-84`: two votes with gaps."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=120)
    table = pd.DataFrame({"tax": np.where(rng.random(120) < 0.9, y, 1 - y), "art": rng.integers(2, size=120)})
    table = table.replace({0: "n", 1: "y"}).mask(rng.random((120, 2)) < 0.2)
    table["target"] = np.where(y == 1, "democrat", "republican")
    (tmp_path / "mixed").mkdir()
    table.to_csv(tmp_path / "mixed" / "house-votes-84.csv.gz", index=False)
    columns = {"house-votes-84": {"numeric": [], "categorical": ["tax", "art"]}}
    (tmp_path / "mixed" / "columns.json").write_text(json.dumps(columns))
    monkeypatch.setenv("LANN_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def made_up(results_of):
    """Results that pass every check, unless changed, and the plans of the parts.

    `changes` has other values by part, method and data set; None in the place of a data set is any.
    """

    def make(changes=None):
        accuracies = {"forest": 0.85, "lann-median": 0.86, "boosting": 0.84, "lann": 0.88}
        cells = {}
        for part, names in ((RANDOM, RANDOM_SETS), (COMPLETE, RANDOM_SETS), (INFORMATIVE, INFORMATIVE_SETS)):
            for method, accuracy in accuracies.items():
                for name in names:
                    values = {
                        "accuracy": accuracy + (0.05 if part == COMPLETE else 0), "log_loss": 0.3,
                        "ece": 0.02, "fit_seconds": 1.0, "errors": {},
                    }  # fmt: skip
                    other = changes or {}
                    values |= other.get((part, method, None), {}) | other.get((part, method, name), {})
                    cells[part, method, name] = [values] * 2
        methods = choose_methods(list(accuracies), available=METHODS)
        plans = [Plan(0, 3, methods, list(names)) for names in (RANDOM_SETS, INFORMATIVE_SETS)]
        return results_of(cells), *plans

    return make
