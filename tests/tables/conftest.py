"""A small table, and a model that is fitted to it."""

import warnings

import numpy as np
import pandas as pd
import pytest

from lann.tables import TableWarning


@pytest.fixture
def frame(make_table):
    return make_table()


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


@pytest.fixture
def table_warnings():
    """Return a function that calls another one, and returns its result and the texts of its warnings."""

    def call(function, *args, **kwargs):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = function(*args, **kwargs)
        assert all(issubclass(warning.category, TableWarning) for warning in caught)
        return result, [str(warning.message) for warning in caught]

    return call
