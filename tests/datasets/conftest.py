"""Keeps these tests off the network and the user's folders, and finds the real files for those in need."""

import os
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

from lann.datasets.file_sets import FileSet

# Read before the fixture below hides it.
DATA_FOLDER = os.environ.get("LANN_DATA")


@pytest.fixture(autouse=True)
def offline(monkeypatch, tmp_path):
    """No LANN_DATA, an empty data home, and an OpenML that cannot be reached."""

    def unreachable(**kwargs):
        raise URLError("no network")

    monkeypatch.delenv("LANN_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", unreachable)


@pytest.fixture
def paper_files(monkeypatch, offline):
    """LANN_DATA as the user set it; tests that use this need the real files."""
    if not DATA_FOLDER:
        pytest.skip("needs the paper's data files: set LANN_DATA")
    monkeypatch.setenv("LANN_DATA", DATA_FOLDER)
    return DATA_FOLDER


@pytest.fixture
def tiny_set():
    """A data set of five rows, whose classes OpenML might number."""
    return FileSet(
        name="ionosphere",
        sha256="0" * 64,
        columns=("height", "width"),
        class_sizes={"Bad": 2, "good": 3},
        source="a drawer",
        citation="Nobody 1900",
        openml_id=59,
    )


@pytest.fixture
def tiny_frame():
    """The rows of the tiny set."""
    return pd.DataFrame(
        {
            "height": [0.1, 0.2, 1 / 3, 4.0, 5.0],
            "width": [1.0, 2.0, 3.0, 4.0, 1e-9],
            "target": ["good", "Bad", "good", "Bad", "good"],
        }
    )


@pytest.fixture
def openml(monkeypatch):
    """An OpenML that delivers what is put in its ``data`` and ``target``, and records what it is asked."""
    service = SimpleNamespace(data=None, target=None, calls=[])

    def fetch_openml(**kwargs):
        service.calls.append(kwargs)
        return SimpleNamespace(data=service.data, target=service.target)

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)
    return service


@pytest.fixture
def deliver(openml):
    """Make OpenML deliver a made-up table of a data set's size, with labels as OpenML spells them."""

    def prepare(file_set, spell=str):
        rng = np.random.default_rng(0)
        labels = [spell(label) for label, size in file_set.class_sizes.items() for _ in range(size)]
        values = rng.integers(0, 100, (file_set.n_samples, len(file_set.columns))) / 8
        openml.data = pd.DataFrame(values, columns=[f"V{column}" for column in range(1, values.shape[1] + 1)])
        openml.target = pd.Series(labels, dtype="category", name="Class")
        return openml

    return prepare
