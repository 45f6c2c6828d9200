from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest

import lann


@pytest.mark.parametrize("kind", [".csv", ".csv.gz", ".parquet"])
def test_predictions_are_those_of_the_model(kind, run, model, new, tmp_path):
    path = tmp_path / f"out{kind}"
    assert "Wrote 10 predictions" in run("predict", model, new, "-o", path, "--id", "name")
    out = pd.read_parquet(path) if kind == ".parquet" else pd.read_csv(path)
    assert list(out.columns) == ["name", "prediction", "probability of in", "probability of out"]
    assert list(out["name"]) == [f"p{row}" for row in range(10)]
    np.testing.assert_allclose(out.iloc[:, 2:].sum(axis=1), 1)
    pipeline = lann.load(model)
    rows = pd.read_csv(new)
    expected = pipeline.predict_proba(rows.assign(member=rows["member"].map(str)))
    np.testing.assert_allclose(out.iloc[:, 2:], expected, rtol=1e-12)
    assert list(out["prediction"]) == list(pipeline.classes_[expected.argmax(axis=1)])


def test_rows_from_parquet_predict_the_same(run, model, new, tmp_path):
    pd.read_csv(new).to_parquet(tmp_path / "new.parquet")
    run("predict", model, new, "-o", tmp_path / "a.csv")
    run("predict", model, tmp_path / "new.parquet", "-o", tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()


def test_without_output_a_table_is_shown(run, model, new):
    printed = run("predict", model, new, "--id", "name")
    assert "probability of out" in printed
    assert "p9" in printed


def test_columns_may_come_in_any_order_and_number(run, model, new, tmp_path):
    run("predict", model, new, "-o", tmp_path / "a.csv")
    frame = pd.read_csv(new)
    frame[frame.columns[::-1]].assign(more=1).to_csv(new, index=False)
    run("predict", model, new, "-o", tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()


def test_gaps_everywhere_are_filled(run, model, new, tmp_path):
    frame = pd.read_csv(new)
    frame[["size [cm]", "color", "member"]] = np.nan
    frame.to_csv(new, index=False)
    run("predict", model, new, "-o", tmp_path / "o.csv")
    assert len(pd.read_csv(tmp_path / "o.csv")) == 10


def test_unseen_values_are_told(run, model, new):
    frame = pd.read_csv(new)
    frame.loc[0, "color"] = "mauve"
    frame.to_csv(new, index=False)
    assert "Column 'color' has values that training did not have: 'mauve'" in run("predict", model, new)


def test_another_version_of_scikit_learn_is_told_in_one_line(run, model, new, tmp_path, monkeypatch):
    pipeline = lann.load(model)
    monkeypatch.setattr("sklearn.base.__version__", "1.0.0")
    lann.save(pipeline, tmp_path / "old.skops")
    monkeypatch.undo()
    printed = run("predict", tmp_path / "old.skops", new)
    assert printed.count("written with scikit-learn 1.0.0") == 1


@pytest.mark.parametrize("named", [True, False])
def test_models_from_python_predict_too(named, run, fails, tmp_path):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=["u", "v", "w"])
    model = lann.LANNClassifier(max_iter=0).fit(X if named else X.to_numpy(), X["u"] > 0)
    lann.save(model, tmp_path / "m.skops")
    X.to_csv(tmp_path / "x.csv", index=False)
    run("predict", tmp_path / "m.skops", tmp_path / "x.csv", "-o", tmp_path / "o.csv")
    out = pd.read_csv(tmp_path / "o.csv")
    np.testing.assert_allclose(
        out["probability of True"], model.predict_proba(X if named else X.to_numpy())[:, 1]
    )
    X[["u", "v"]].to_csv(tmp_path / "x.csv", index=False)
    message = "lacks the column 'w'" if named else "has 2 columns"
    assert message in fails("predict", tmp_path / "m.skops", tmp_path / "x.csv")


def test_wrong_rows_are_one_sentence(fails, model, new, tmp_path):
    frame = pd.read_csv(new)
    frame.drop(columns="noise").to_csv(tmp_path / "one.csv", index=False)
    assert "one.csv lacks the column 'noise'." in fails("predict", model, tmp_path / "one.csv")
    frame.drop(columns=["noise", "color"]).to_csv(tmp_path / "two.csv", index=False)
    assert "lacks the columns 'noise', 'color'." in fails("predict", model, tmp_path / "two.csv")
    frame["noise"] = frame["noise"].astype(object)
    frame.loc[4, "noise"] = "loud"
    frame.to_csv(new, index=False)
    assert "'noise' of new.csv must hold finite numbers; row 4 has 'loud'." in fails("predict", model, new)


def test_wrong_files_are_one_sentence(fails, model, new, tmp_path):
    assert "There is no file" in fails("predict", tmp_path / "none.skops", new)
    assert "There is no file" in fails("predict", model, tmp_path / "none.csv")
    assert "not a whole file written by lann.save" in fails("predict", new, new)
    assert "is a folder" in fails("predict", tmp_path, new)
    assert "unknown kind" in fails("predict", model, new, "-o", tmp_path / "o.txt")
    assert "no folder" in fails("predict", model, new, "-o", tmp_path / "none" / "o.csv")
    assert "no column 'x' for --id" in fails("predict", model, new, "--id", "x")
    (tmp_path / "empty.csv").write_text("")
    assert "is empty" in fails("predict", model, tmp_path / "empty.csv")


@pytest.mark.parametrize("kind", [".csv", ".csv.gz", ".parquet"])
def test_a_failed_write_leaves_nothing(kind, fails, model, new, tmp_path, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device", "out")

    monkeypatch.setattr(os, "replace", full)
    assert "No space left" in fails("predict", model, new, "-o", tmp_path / f"out{kind}")
    assert os.listdir(tmp_path) == ["new.csv"]
