from __future__ import annotations

import pandas as pd
import pytest

from lann.tables import TableModel, _table_file, read_table, write_table


@pytest.mark.parametrize("format", [".csv", ".csv.gz", ".parquet"])
def test_the_table_is_that_of_the_library(format, run, model, new, tmp_path):
    path = tmp_path / f"out{format}"
    assert f"Wrote {path}: 10 predictions" in run("predict", model, new, "-o", path, "--id", "name")
    out = pd.read_parquet(path) if format == ".parquet" else pd.read_csv(path)
    expected = TableModel.load(model).predict(read_table(new), id="name")
    pd.testing.assert_frame_equal(out, expected, check_dtype=False, rtol=1e-12)


def test_invalid_rows_and_files(fails, model, new, tmp_path):
    frame = pd.read_csv(new)
    frame.drop(columns="noise").to_csv(tmp_path / "one.csv", index=False)
    assert "There is no column 'noise' in one.csv" in fails("predict", model, tmp_path / "one.csv")
    assert "There is no file" in fails("predict", tmp_path / "none.lann", new)
    assert "There is no file" in fails("predict", model, tmp_path / "none.csv")
    assert "not a whole file written by lann.save" in fails("predict", new, new)
    assert "is a folder" in fails("predict", tmp_path, new)
    assert "unknown format" in fails("predict", model, new, "-o", tmp_path / "o.txt")
    assert "no folder" in fails("predict", model, new, "-o", tmp_path / "none" / "o.csv")
    assert "no column 'x' in new.csv for id" in fails("predict", model, new, "--id", "x")


def test_any_number_of_threads_gives_the_same(run, model, new, monkeypatch):
    used = []
    predict_file = TableModel.predict_file

    def predict(self, *arguments, **options):
        used.append(self.classifier.n_jobs)
        return predict_file(self, *arguments, **options)

    monkeypatch.setattr(TableModel, "predict_file", predict)
    assert run("predict", model, new, "--jobs", 2) == run("predict", model, new)
    assert used == [2, None]


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
    monkeypatch.setattr(TableModel, "predict", None)
    assert run("predict", model, path, "-o", tmp_path / "out.csv") == whole
    assert (tmp_path / "out.csv").read_bytes() == expected
    assert "Accuracy: " in whole
    assert "'mauve'" in whole
    write_table(frame.drop(columns="color"), path)
    error = fails("predict", model, path, "-o", tmp_path / "out.csv")
    assert error.startswith(f"There is no column 'color' in large.{end}; its other columns are 'name', ")
    assert (tmp_path / "out.csv").read_bytes() == expected
