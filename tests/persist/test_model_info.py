from __future__ import annotations

import hashlib
import io
import json
import zipfile

import numpy as np
import pytest

from lann import LANNClassifier, LANNEmbedding, save
from lann.persist import read_model_file, read_model_info
from lann.tables import TableModel


@pytest.fixture
def passengers_file(passengers, tmp_path):
    save(passengers[2], tmp_path / "p.lann")
    return tmp_path / "p.lann"


def test_columns_of_all_kinds(passengers, passengers_file):
    frame, y, _ = passengers
    info = read_model_info(passengers_file)
    columns, rows = {column["name"]: column for column in info["columns"]}, frame[:300]
    assert [column["kind"] for column in info["columns"]] == [
        "category", "category", "number", "number", "category", "bool", "date",
    ]  # fmt: skip
    for name in ("Sex", "Class", "Alone"):
        counts = {category["value"]: category["n_rows"] for category in columns[name]["categories"]}
        assert counts == {str(value): count for value, count in rows[name].value_counts().items()}
        assert list(counts.values()) == sorted(counts.values(), reverse=True)
        assert columns[name]["n_categories"] == len(counts)
    assert (columns["Age"]["low"], columns["Age"]["high"]) == (rows["Age"].min(), rows["Age"].max())
    assert columns["Age"]["missing"] == pytest.approx(rows["Age"].isna().mean())
    assert columns["Sailed"]["low"] == str(rows["Sailed"].min().date())
    assert columns["Sex"]["low"] is None
    assert info["classes"] == [
        {"label": label, "n_rows": int(np.sum(y[:300] == label))} for label in ("died", "survived")
    ]
    assert info["parameters"] == {"random_state": 0, "max_iter": 4}
    assert info["target"] is None
    assert info["n_columns"] == 7


def test_the_file_itself(passengers_file):
    file, info = read_model_file(passengers_file), read_model_info(passengers_file)
    content = passengers_file.read_bytes()
    assert (file.n_bytes, file.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    assert (info["n_bytes"], info["sha256"]) == (file.n_bytes, file.sha256)
    assert (file.format, file.table) == (info["format"], None)


def test_values_are_those_of_the_table(tmp_path):
    """They are shown as the table writes them, and are numbers for programs."""
    import pandas as pd

    prices = [f"€ {number}.{decimals:02d}" for number in range(20) for decimals in (0, 50)]
    frame = pd.DataFrame({"price": prices, "y": ["low"] * 20 + ["high"] * 20})
    TableModel.fit(frame, "y").save(tmp_path / "m.lann")
    (column,) = read_model_info(tmp_path / "m.lann")["columns"]
    assert (column["low"], column["high"]) == (0.0, 19.5)
    assert column["range"] == "€ 0.00 to € 19.50"


def test_an_embedding(iris, tmp_path):
    X, y = iris
    layout = LANNEmbedding(LANNClassifier(max_iter=1, random_state=0), max_iter=10, random_state=0)
    save(layout.fit(X, y), tmp_path / "e.lann")
    info = read_model_info(tmp_path / "e.lann")
    assert (info["estimator"], info["n_rows"], info["n_columns"]) == ("LANNEmbedding", 150, 4)
    assert info["classes"] == [{"label": label, "n_rows": None} for label in (0, 1, 2)]
    assert (info["vote"], info["levels"]) == (None, None)
    assert info["parameters"]["max_iter"] == 10


def test_an_invalid_description_is_one_sentence(passengers_file):
    content = passengers_file.read_bytes()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    description = json.loads(entries["info.json"])
    for changes in ({"columns": [1]}, {"vote": {}}, {"classes": None}, {"format": 2}):
        with zipfile.ZipFile(passengers_file, "w") as archive:
            for name, entry in entries.items():
                archive.writestr(name, json.dumps(description | changes) if name == "info.json" else entry)
        with pytest.raises(ValueError, match="cannot be loaded: it"):
            read_model_info(passengers_file)
    passengers_file.write_bytes(content[:-200])
    with pytest.raises(ValueError, match="not a whole file"):
        read_model_info(passengers_file)
