"""A small table, and a model that is fitted to it."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def new(make_table):
    """New rows without the target; some values are missing."""
    return make_table(10).drop(columns="group")


@pytest.fixture
def two_groups():
    """Return a function that makes a table of two numbers and two classes, "c"."""

    def make(n_rows, seed=0):
        rng = np.random.default_rng(seed)
        kind = np.arange(n_rows) % 2
        values = {"a": kind + rng.normal(0, 0.4, n_rows), "b": rng.normal(size=n_rows), "c": kind}
        return pd.DataFrame(values).round(6)

    return make
