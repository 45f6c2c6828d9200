"""Predictions that are written while a table is read."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest

from lann import LANNClassifier
from lann.tables import (
    PredictionCounts,
    TableModel,
    _table_file,
    _table_model,
    fit_table,
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
    return fit_table(table[:300], "state", id="name", drop=["other"], classifier=classifier)


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
def test_a_table_of_one_block_is_the_same_parquet_file(model, new, tmp_path):
    write_table(new[:150], tmp_path / "new.parquet")
    model.predict_file(tmp_path / "new.parquet", tmp_path / "out.parquet")
    write_table(model.predict(new[:150]), tmp_path / "whole.parquet")
    assert (tmp_path / "out.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()


@pytest.mark.filterwarnings("ignore::lann.tables.TableWarning")
def test_without_labels_there_is_no_column_of_labels(model, new, tmp_path):
    write_table(new.assign(state=None), tmp_path / "empty.csv")
    write_table(new.drop(columns="state"), tmp_path / "none.csv")
    for name in ("empty", "none"):
        counts = model.predict_file(tmp_path / f"{name}.csv", tmp_path / "out.csv")
        assert (counts.n_labels, counts.accuracy) == (None, None)
        assert list(pd.read_csv(tmp_path / "out.csv").columns[:2]) == ["name", "prediction"]


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
    with pytest.raises(ValueError, match=r"The column 'size' is missing in .*less.csv"):
        model.predict_file(tmp_path / "less.csv", tmp_path / "out.csv")
    with pytest.raises(ValueError, match=r"There is no column 'nr' in less.csv for id"):
        model.predict_file(tmp_path / "less.csv", tmp_path / "out.csv", id="nr", name="less.csv")
    (tmp_path / "new.jsonl").write_text("{}")
    with pytest.raises(ValueError, match="cannot be read in blocks"):
        model.predict_file(tmp_path / "new.jsonl", tmp_path / "out.csv")
    with pytest.raises(ValueError, match="unknown format"):
        model.predict_file(tmp_path / "new.csv", tmp_path / "out.xlsx")
    assert (tmp_path / "out.csv").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["less.csv", "new.csv", "new.jsonl", "out.csv"]


@pytest.mark.filterwarnings("ignore::lann.tables.TableWarning")
def test_a_bounded_number_of_new_categories_is_kept(model, table, tmp_path, monkeypatch, table_warnings):
    monkeypatch.setattr(_table_model, "MOST_NEW", 50)
    frame = table.assign(city=[f"c{i:04}" for i in range(N_ROWS)][::-1])
    write_table(frame, tmp_path / "new.csv")
    kept = []
    monkeypatch.setattr(TableModel, "_warn_of_new", _then(TableModel._warn_of_new, kept))
    _, texts = table_warnings(model.predict_file, tmp_path / "new.csv", tmp_path / "out.csv")
    assert texts == [
        "Column 'city' has values that the training data do not have: 'c0000', 'c0001', 'c0002' and more "
        "than 47 others."
    ]
    assert [len(categories) for found in kept for categories in found.values()] == [51]
    assert table_warnings(model.predict, frame)[1] == texts


def _then(method, seen):
    """Return a method that adds its argument to a list first."""

    def call(model, found):
        seen.append(found)
        return method(model, found)

    return call


def test_labels_of_several_types_are_a_sentence(model, new, tmp_path):
    cells = new.astype({"state": object})
    cells.loc[1300, "state"] = "unknown"
    write_table(cells, tmp_path / "new.csv")
    with pytest.raises(
        ValueError, match=r"out.parquet cannot be written, because a column has values of several"
    ):
        model.predict_file(tmp_path / "new.csv", tmp_path / "out.parquet")
    assert model.predict_file(tmp_path / "new.csv", tmp_path / "out.csv").n_rows == N_ROWS


def test_counts_of_parts_add_up():
    rng = np.random.default_rng(0)
    predicted, decisions = rng.choice(["a", "b"], 90), rng.choice(["accepted", "ambiguous", "far"], 90)
    labels = np.array([*rng.choice(["a", "b"], 80), *[None] * 10], dtype=object)
    whole = PredictionCounts.of(predicted, labels, decisions)
    first, second = (
        PredictionCounts.of(predicted[p], labels[p], decisions[p]) for p in (slice(50), slice(50, 90))
    )
    assert first.plus(second) == whole
    accepted = (decisions == "accepted") & (np.arange(90) < 80)
    assert whole.error_of_accepted == pytest.approx((labels != predicted)[accepted].mean())
    assert sum(whole.decisions.values()) == 90
    assert whole.accuracy == pytest.approx((labels == predicted)[:80].mean())
