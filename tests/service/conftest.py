"""A model of a table with columns of every kind, and clients of its service."""

import numpy as np
import pandas as pd
import pytest

from lann import LANNClassifier
from lann.service import Limits, create_app
from lann.tables import TableModel

testclient = pytest.importorskip("starlette.testclient")
HOSTILE = "</script><b>\"'{{7*7}}"
N = 120


@pytest.fixture(scope="session")
def frame():
    rng = np.random.default_rng(0)
    size = rng.normal(size=N).round(3)
    return pd.DataFrame(
        {
            "size": np.where(np.arange(N) % 9 == 0, np.nan, size),
            HOSTILE: rng.choice(["red", "green", "=1+1"], N),
            "open": rng.random(N) < 0.5,
            "day": pd.date_range("2024-01-01", periods=N).strftime("%d.%m.%Y"),
            "name": [f"row {n}" for n in range(N)],
            "kind": np.where(size > 0, "big", "small"),
        }
    )


@pytest.fixture(scope="session")
def model(frame):
    return TableModel.fit(frame, "kind", id="name", classifier=LANNClassifier(5, random_state=0))


@pytest.fixture(scope="session")
def rows(frame, model):
    """The first rows as a client sends them."""
    return [
        {"size": None if np.isnan(row["size"]) else row["size"], "name": row["name"]}
        | {HOSTILE: row[HOSTILE], "open": bool(row["open"]), "day": row["day"]}
        for row in frame[:4].to_dict("records")
    ]


@pytest.fixture(scope="session")
def small_limits():
    return Limits(max_rows=20, max_explained_rows=4, max_bytes=20_000, max_seconds=60, max_requests=3)


@pytest.fixture
def client(model, small_limits):
    with testclient.TestClient(create_app(model, limits=small_limits)) as client:
        yield client
