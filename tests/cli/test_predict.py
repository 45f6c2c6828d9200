from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import lann
from lann.tables import TableModel, _reading, _table_file, read_table, write_table


@pytest.mark.parametrize("format", [".csv", ".csv.gz", ".parquet"])
def test_the_table_is_that_of_the_library(format, run, model, new, tmp_path):
    path = tmp_path / f"out{format}"
    assert "Wrote 10 predictions" in run("predict", model, new, "-o", path, "--id", "name")
    out = pd.read_parquet(path) if format == ".parquet" else pd.read_csv(path)
    expected = TableModel.load(model).predict(read_table(new), id="name")
    pd.testing.assert_frame_equal(out, expected, check_dtype=False, rtol=1e-12)


def test_the_id_column_of_the_model_is_kept(run, model, new):
    assert run("predict", model, new) == run("predict", model, new, "--id", "name")


def test_without_output_a_table_is_printed(run, model, new):
    printed = run("predict", model, new, "--id", "name")
    assert "probability of out" in printed
    assert "p9" in printed


def test_only_the_first_rows_and_classes_are_printed(run, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(30, 2)), columns=["u", "v"])
    X.to_csv(tmp_path / "x.csv", index=False)
    lann.save(lann.LANNClassifier(max_iter=0).fit(X, np.arange(30) % 8), tmp_path / "m")
    printed = run("predict", tmp_path / "m", tmp_path / "x.csv")
    assert "and 10 more rows and 2 more classes: write all to a file with -o" in printed
    assert "probability of 5" in printed
    assert "probability of 6" not in printed


def test_new_categories_are_noted(run, model, new):
    frame = pd.read_csv(new)
    frame.loc[0, "color"] = "mauve"
    frame.to_csv(new, index=False)
    printed = run("predict", model, new)
    assert "Note: Column 'color' has values that the training data do not have: 'mauve'." in printed


def test_invalid_rows_and_files(fails, model, new, tmp_path):
    frame = pd.read_csv(new)
    frame.drop(columns="noise").to_csv(tmp_path / "one.csv", index=False)
    assert "The column 'noise' is missing in one.csv." in fails("predict", model, tmp_path / "one.csv")
    assert "There is no file" in fails("predict", tmp_path / "none.lann", new)
    assert "There is no file" in fails("predict", model, tmp_path / "none.csv")
    assert "not a whole file written by lann.save" in fails("predict", new, new)
    assert "is a folder" in fails("predict", tmp_path, new)
    assert "unknown format" in fails("predict", model, new, "-o", tmp_path / "o.txt")
    assert "no folder" in fails("predict", model, new, "-o", tmp_path / "none" / "o.csv")
    assert "no column 'x' in new.csv for id" in fails("predict", model, new, "--id", "x")


def test_labels_stand_beside_the_predictions(run, model, make_table, tmp_path):
    frame = make_table(12, seed=1)
    frame.loc[0, "group"], frame.loc[1, "group"] = None, "elsewhere"
    frame.to_csv(tmp_path / "test.csv", index=False)
    printed = run("predict", model, tmp_path / "test.csv", "-o", tmp_path / "out.csv")
    out = pd.read_csv(tmp_path / "out.csv")
    assert list(out.columns[:3]) == ["name", "label", "prediction"]
    assert out["label"].fillna("").tolist() == frame["group"].fillna("").tolist()
    n_correct = (out["label"] == out["prediction"]).sum()
    assert 0 < n_correct < 11
    assert f"Accuracy: {n_correct / 11:.1%} ({n_correct} of 11 rows with a label)" in printed
    assert "elsewhere" in run("predict", model, tmp_path / "test.csv")


@pytest.mark.parametrize("end", ["csv", "parquet"])
def test_large_tables_are_predicted_in_parts(end, run, fails, model, make_table, tmp_path, monkeypatch):
    path = tmp_path / f"large.{end}"
    frame = pd.concat([make_table()] * 3, ignore_index=True)
    frame.loc[5, "color"] = "mauve"
    write_table(frame, path)
    whole = run("predict", model, path, "-o", tmp_path / "out.csv")
    expected = (tmp_path / "out.csv").read_bytes()
    monkeypatch.setattr(_table_file, "BLOCK_ROWS", 50)
    monkeypatch.setattr(_reading, "LARGE_TEXT", 0)
    monkeypatch.setattr(TableModel, "predict", None)
    assert run("predict", model, path, "-o", tmp_path / "out.csv") == whole
    assert (tmp_path / "out.csv").read_bytes() == expected
    assert "Accuracy: " in whole
    assert "'mauve'" in whole
    write_table(frame.drop(columns="color"), path)
    assert fails("predict", model, path, "-o", tmp_path / "out.csv") == (
        f"The column 'color' is missing in large.{end}."
    )
    assert (tmp_path / "out.csv").read_bytes() == expected
