"""Predictions that are written while a table is read."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest

from lann import LANNClassifier
from lann.tables import (
    TableModel,
    _table_file,
    read_table,
    write_table,
)

N_ROWS = 1500


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(_table_file, "BLOCK_ROWS", 200)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "name": [f"r{i}" for i in range(N_ROWS)],
            "size": rng.normal(size=N_ROWS).round(4),
            "count": pd.array(rng.integers(0, 9, N_ROWS), dtype="Int64"),
            "city": rng.choice(["Ulm", "Bonn", "Kiel"], N_ROWS),
            "other": rng.normal(size=N_ROWS),
        }
    )
    frame["state"] = np.where(frame["size"] + 0.1 * rng.normal(size=N_ROWS) > 0, 10, 2)
    return frame


@pytest.fixture(scope="module")
def model(table):
    classifier = LANNClassifier(max_iter=1, random_state=0)
    return TableModel.fit(table[:300], "state", id="name", drop=["other"], classifier=classifier)


@pytest.fixture
def new(table):
    """Rows with gaps, the first label in a late block, and new categories in two blocks."""
    frame = table.astype({"state": "Int64"})
    frame.loc[:500, "state"] = pd.NA
    frame.loc[frame.index % 11 == 0, "count"] = pd.NA
    frame.loc[3, "city"], frame.loc[1400, "city"] = "Rom", "Wien"
    return frame


@pytest.mark.parametrize("source", ["parquet", "csv", "csv.gz"])
@pytest.mark.parametrize("output", ["csv", "csv.gz", "parquet"])
def test_the_file_is_that_of_the_whole_table(source, output, model, new, tmp_path, table_warnings):
    path, out, expected = tmp_path / f"new.{source}", tmp_path / f"out.{output}", tmp_path / f"whole.{output}"
    write_table(new, path)
    counts, texts = table_warnings(model.predict_file, path, out)
    predictions, whole_texts = table_warnings(model.predict, read_table(path))
    write_table(predictions, expected)
    if output == "parquet":
        pd.testing.assert_frame_equal(pd.read_parquet(out), pd.read_parquet(expected))
    else:
        assert out.read_bytes() == expected.read_bytes()
    assert (
        texts
        == whole_texts
        == ["Column 'city' has values that the training data do not have: 'Rom', 'Wien'."]
    )
    assert counts.n_rows == N_ROWS
    assert counts.n_labels == N_ROWS - 501
    labels = predictions["label"][501:].astype(int)
    assert counts.n_correct == (labels == predictions["prediction"][501:]).sum()
    assert counts.accuracy > 0.8
    assert sorted(os.listdir(tmp_path)) == sorted([path.name, out.name, expected.name])


@pytest.mark.filterwarnings("ignore::lann.tables.TableWarning")
def test_without_labels_there_is_no_accuracy(model, new, tmp_path):
    write_table(new.assign(state=None), tmp_path / "empty.csv")
    write_table(new.drop(columns="state"), tmp_path / "none.csv")
    for name in ("empty", "none"):
        counts = model.predict_file(tmp_path / f"{name}.csv", tmp_path / "out.csv")
        assert (counts.n_labels, counts.accuracy) == (None, None)
        columns = pd.read_csv(tmp_path / "out.csv").columns
        assert ("label" in columns) == (name == "empty")


def test_models_without_column_names_take_all_columns(table, tmp_path):
    X, y = table[["size", "other"]].to_numpy(), table["state"].to_numpy()
    model = TableModel(LANNClassifier(max_iter=0).fit(X[:200], y[:200]))
    write_table(table[["size", "other"]], tmp_path / "x.parquet")
    model.predict_file(tmp_path / "x.parquet", tmp_path / "out.csv")
    expected = model.predict(table[["size", "other"]])
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "out.csv"), expected, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::lann.tables.TableWarning")
def test_progress_is_reported(model, new, tmp_path):
    write_table(new, tmp_path / "new.parquet")
    calls = []
    model.predict_file(
        tmp_path / "new.parquet", tmp_path / "out.csv", callback=lambda *call: calls.append(call)
    )
    assert calls[-1] == (N_ROWS, N_ROWS)
    assert len(calls) >= 8


def test_errors_name_the_row_and_leave_the_old_file(model, new, tmp_path):
    (tmp_path / "out.csv").write_text("old")
    cells = new.astype({"size": str})
    cells.loc[1234, "size"] = "tiny"
    write_table(cells, tmp_path / "new.csv")
    with pytest.raises(
        ValueError, match=r"Column 'size' of .*new.csv must have numbers; row 1234 has 'tiny'"
    ):
        model.predict_file(tmp_path / "new.csv", tmp_path / "out.csv")
    write_table(new.drop(columns="size"), tmp_path / "less.csv")
    with pytest.raises(ValueError, match=r"There is no column 'size' in .*less.csv"):
        model.predict_file(tmp_path / "less.csv", tmp_path / "out.csv")
    with pytest.raises(ValueError, match=r"There is no column 'nr' in new.csv for id"):
        model.predict_file(tmp_path / "new.csv", tmp_path / "out.csv", id="nr", name="new.csv")
    with pytest.raises(ValueError, match="unknown format"):
        model.predict_file(tmp_path / "new.csv", tmp_path / "out.xlsx")
    assert (tmp_path / "out.csv").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["less.csv", "new.csv", "out.csv"]
