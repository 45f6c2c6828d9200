from __future__ import annotations

import hashlib

import numpy as np
import pytest

from lann import LANNClassifier, LANNEmbedding, save
from lann.persist import read_model_file
from lann.tables import ModelInfo, TableModel


@pytest.fixture
def passengers_file(passengers, tmp_path):
    save(passengers[2], tmp_path / "p.lann")
    return tmp_path / "p.lann"


def test_columns_of_all_kinds(passengers, passengers_file):
    frame, y, _ = passengers
    info = ModelInfo.from_file(passengers_file)
    columns, rows = {column.name: column for column in info.columns}, frame[:300]
    assert [column.kind for column in info.columns] == [
        "category", "category", "number", "number", "category", "bool", "date",
    ]  # fmt: skip
    assert dict(columns["Sex"].categories) == rows["Sex"].value_counts().to_dict()
    assert dict(columns["Class"].categories) == rows["Class"].value_counts().to_dict()
    assert dict(columns["Alone"].categories) == {
        str(value): count for value, count in rows["Alone"].value_counts().items()
    }
    assert (columns["Age"].low, columns["Age"].high) == (rows["Age"].min(), rows["Age"].max())
    assert columns["Age"].missing == pytest.approx(rows["Age"].isna().mean())
    assert columns["Sailed"].low == str(rows["Sailed"].min().date())
    assert columns["Sex"].low is None
    counts = [count for _, count in columns["Town"].categories]
    assert counts == sorted(counts, reverse=True)
    assert info.classes == tuple((label, int(np.sum(y[:300] == label))) for label in ("died", "survived"))
    assert info.parameters == {"random_state": 0, "max_iter": 4}
    assert info.target is None
    assert info.to_dict()["n_columns"] == 7


def test_the_file_itself(passengers_file):
    file, info = read_model_file(passengers_file), ModelInfo.from_file(passengers_file)
    content = passengers_file.read_bytes()
    assert (file.n_bytes, file.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    assert info.file.sha256 == file.sha256
    assert (file.format, file.table) == (1, None)


def test_values_are_those_of_the_table(tmp_path):
    """They are shown as the table writes them, and are numbers for programs."""
    import pandas as pd

    prices = [f"€ {number}.{decimals:02d}" for number in range(20) for decimals in (0, 50)]
    frame = pd.DataFrame({"price": prices, "y": ["low"] * 20 + ["high"] * 20})
    TableModel.fit(frame, "y").save(tmp_path / "m.lann")
    (column,) = ModelInfo.from_file(tmp_path / "m.lann").columns
    assert (column.low, column.high) == (0.0, 19.5)
    assert column.high.text == "€ 19.50"


def test_an_embedding(iris, tmp_path):
    X, y = iris
    layout = LANNEmbedding(LANNClassifier(max_iter=1, random_state=0), max_iter=10, random_state=0)
    save(layout.fit(X, y), tmp_path / "e.lann")
    info = ModelInfo.from_file(tmp_path / "e.lann")
    assert (info.estimator, info.n_rows, len(info.columns)) == ("LANNEmbedding", 150, 4)
    assert info.classes == ((0, None), (1, None), (2, None))
    assert (info.vote, info.levels) == (None, None)
    assert info.parameters["max_iter"] == 10
