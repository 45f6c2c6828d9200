"""Fixtures that keep these tests off the network and out of the user's folders, and small data sets."""

import os
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

from lann.datasets._specs import DatasetSpec

# Read before the fixture below removes it.
DATA_FOLDER = os.environ.get("LANN_DATA")


@pytest.fixture(autouse=True)
def offline(monkeypatch, tmp_path):
    """Unset LANN_DATA, use an empty data home and make OpenML unreachable."""

    def unreachable(**kwargs):
        raise URLError("no network")

    monkeypatch.delenv("LANN_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", unreachable)


@pytest.fixture
def paper_files(monkeypatch, offline):
    """Set LANN_DATA to the user's folder, for tests that need the real files."""
    if not DATA_FOLDER:
        pytest.skip("needs the data files of the paper: set LANN_DATA")
    monkeypatch.setenv("LANN_DATA", DATA_FOLDER)
    return DATA_FOLDER


@pytest.fixture
def tiny_spec():
    """The specification of a data set with five rows and two classes of different size."""
    return DatasetSpec(
        name="ionosphere",
        sha256="0" * 64,
        columns=("height", "width"),
        class_sizes={"Bad": 2, "good": 3},
        source="a test",
        citation="Author 1900",
        openml_id=59,
    )


@pytest.fixture
def tiny_frame():
    """The rows of the tiny data set."""
    return pd.DataFrame(
        {
            "height": [0.1, 0.2, 1 / 3, 4.0, 5.0],
            "width": [1.0, 2.0, 3.0, 4.0, 1e-9],
            "target": ["good", "Bad", "good", "Bad", "good"],
        }
    )


@pytest.fixture
def openml(monkeypatch):
    """Replace OpenML by a service that returns its ``data`` and ``target`` and records the calls."""
    service = SimpleNamespace(data=None, target=None, calls=[])

    def fetch_openml(**kwargs):
        service.calls.append(kwargs)
        return SimpleNamespace(data=service.data, target=service.target)

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)
    return service


@pytest.fixture
def serve(openml):
    """Return a function that makes OpenML return random features for the labels of a data set."""

    def prepare(spec, rename=str):
        rng = np.random.default_rng(0)
        labels = [rename(label) for label, size in spec.class_sizes.items() for _ in range(size)]
        values = rng.integers(0, 100, (spec.n_samples, len(spec.columns))) / 8
        openml.data = pd.DataFrame(values, columns=[f"V{column}" for column in range(1, values.shape[1] + 1)])
        openml.target = pd.Series(labels, dtype="category", name="Class")
        return openml

    return prepare
