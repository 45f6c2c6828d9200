"""`lann embed`: the table, what is printed, and what is refused; tests/browser opens the page."""

from __future__ import annotations

import json
import os
import re
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import lann
from lann.cli import app

HOSTILE = "</script><img src=x onerror=alert(1)><!--"
N = 90


def make_flowers(n: int = N, seed: int = 0) -> pd.DataFrame:
    """Three classes, of which the last two meet; text, gaps, and a column named to break a page."""
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 3
    frame = pd.DataFrame(
        {
            "plant": [f"plant {row}" for row in range(n)],
            "length": (kind + rng.normal(0, 0.45, n)).round(3),
            HOSTILE: rng.normal(size=n).round(3),
            "color": np.where(rng.random(n) < 0.8, np.array(["red", "blue", "blue"])[kind], HOSTILE),
            "species": np.array(["setosa", "versicolor", "virginica"])[kind],
        }
    )
    frame.loc[4, "length"] = np.nan
    frame.loc[7, "color"] = np.nan
    return frame


@pytest.fixture(scope="module")
def embedded(tmp_path_factory):
    """A folder with all that one run writes, a third held out, and what it printed."""
    folder = tmp_path_factory.mktemp("embedded")
    frame = make_flowers()
    frame.loc[11, "species"] = np.nan
    frame.to_csv(folder / "flowers.csv", index=False)
    arguments = ["flowers.csv", "--target", "species", "--id", "plant", "--held-out", "0.3", "--epochs", "30"]
    for name in ("e.html", "e.csv", "e.png", "e.svg"):
        arguments += ["-o", str(folder / name)]
    arguments[0] = str(folder / "flowers.csv")
    result = CliRunner(env={"COLUMNS": "160"}).invoke(app, ["embed", *arguments])
    assert result.exit_code == 0, result.output
    return folder, result.stdout


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    make_flowers().to_csv(folder / "flowers.csv", index=False)
    make_flowers(12, seed=1).to_csv(folder / "new.csv", index=False)
    arguments = ["fit", folder / "flowers.csv", "--target", "species", "--id", "plant", "--no-cv"]
    arguments += ["-o", folder / "m.skops"]
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return folder


def test_the_table_has_every_row_once_with_its_name(embedded):
    folder, _ = embedded
    frame, out = pd.read_csv(folder / "flowers.csv"), pd.read_csv(folder / "e.csv")
    assert sorted(out["row"]) == [row for row in range(N) if row != 11]
    assert (out["id"] == frame["plant"][out["row"]].to_numpy()).all()
    assert (out["label"] == frame["species"][out["row"]].to_numpy()).all()
    assert out["held_out"].sum() == 27
    assert out.loc[out["held_out"], "label"].value_counts().max() == 9  # stratified
    assert np.isfinite(out[["x", "y"]]).all(axis=None)
    assert out["confidence"].between(1 / 3, 1).all()
    assert set(out["feature_1"]) <= {"length", HOSTILE, "color"}
    assert (out["relevance_1"] >= out["relevance_2"]).all()


def test_training_rows_are_predicted_without_themselves(embedded):
    """The slow way: for each row, the vote of the model's other rows."""
    folder, _ = embedded
    out = pd.read_csv(folder / "e.csv")
    frame = pd.read_csv(folder / "flowers.csv")
    from lann.cli.columns import make_pipeline
    from lann.cli.fit import fit_task, make_task

    rows = out.loc[~out["held_out"], "row"].to_numpy()
    task = make_task(
        frame.iloc[rows].reset_index(drop=True), "flowers.csv", target="species", id="plant", drop=[]
    )
    fitted = fit_task(make_pipeline(task.columns, lann.LANNClassifier(random_state=0)), task)
    classifier = fitted[-1]
    lengths, neighbors = classifier.kneighbors()
    for place in range(len(rows)):
        shares = classifier._model.shares(neighbors[[place]], lengths[[place]] ** 2)[0]
        votes = pd.Series(shares).groupby(task.labels[neighbors[place]]).sum()
        assert out["prediction"][place] == votes.idxmax()
        assert out["confidence"][place] == pytest.approx(votes.max())
    held = out[out["held_out"]]
    assert (held["prediction"].to_numpy() == fitted.predict(frame.iloc[held["row"]])).all()


def test_what_is_printed_counts_what_is_written(embedded):
    folder, printed = embedded
    out = pd.read_csv(folder / "e.csv")
    assert "62 training rows embedded; 27 rows placed among them" in printed
    assert "leave-one-out" in printed
    right = out["label"] == out["prediction"]
    line = next(line for line in printed.splitlines() if "│ all" in line)
    numbers = re.findall(r"[\d.]+", line)
    assert numbers[0] == "62"
    assert numbers[3] == "27"
    assert float(numbers[1]) == pytest.approx(right[~out["held_out"]].mean(), abs=5e-4)
    assert float(numbers[4]) == pytest.approx(right[out["held_out"]].mean(), abs=5e-4)
    assert "Mixed most in the picture: versicolor and virginica" in printed
    assert "1 rows have no 'species'" in printed
    assert "flatter" not in printed
    assert printed.count("Wrote ") == 4
    assert "e.html: open it in a browser" in printed


def test_pictures_are_pictures(embedded):
    folder, _ = embedded
    assert (folder / "e.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (folder / "e.svg").read_text(encoding="utf-8")


def test_the_page_holds_the_same_points_and_no_markup_of_others(embedded):
    folder, _ = embedded
    page = (folder / "e.html").read_text(encoding="utf-8")
    out = pd.read_csv(folder / "e.csv")
    assert "<img" not in page
    assert page.count("</script>") == 2
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page)[1])
    assert data["ids"] == out["id"].tolist()
    assert data["training"] == 62
    assert HOSTILE in data["columns"]
    assert any(HOSTILE in texts for texts in data["values"]["texts"] if texts)
    assert "http" not in re.sub(r"http://www.w3.org/\S+", "", page.replace("http-equiv", ""))


def test_without_held_out_rows_it_says_that_training_rows_flatter(run, saved, tmp_path):
    printed = run("embed", "--model", saved / "m.skops", "-o", tmp_path / "e.csv", "--epochs", 20)
    assert "flatter" in printed
    assert "Give a table of other rows, with their labels" in printed
    assert "--held-out" not in printed  # which --model refuses
    out = pd.read_csv(tmp_path / "e.csv")
    assert out["id"].tolist() == [f"plant {row}" for row in range(N)]
    assert not out["held_out"].any()
    again = tmp_path / "again.csv"
    run("embed", "--model", saved / "m.skops", "-o", again, "--epochs", 20)
    assert again.read_bytes() == (tmp_path / "e.csv").read_bytes()


def test_new_rows_are_placed_among_those_of_a_model(run, saved, tmp_path):
    arguments = ["--model", saved / "m.skops", "--id", "plant", "--epochs", 20, "-o", tmp_path / "e.csv"]
    printed = run("embed", saved / "new.csv", *arguments)
    assert "12 rows placed" in printed
    out = pd.read_csv(tmp_path / "e.csv")
    held = out[out["held_out"]]
    assert held["row"].tolist() == list(range(12))
    new = pd.read_csv(saved / "new.csv")
    assert (held["prediction"].to_numpy() == lann.load(saved / "m.skops").predict(new)).all()
    # Without labels they are placed, too, at the same places.
    new.drop(columns="species").to_csv(tmp_path / "bare.csv", index=False)
    printed = run("embed", tmp_path / "bare.csv", *arguments[:-1], tmp_path / "bare-out.csv")
    assert "flatter" in printed
    bare = pd.read_csv(tmp_path / "bare-out.csv")
    assert bare.loc[bare["held_out"], "label"].isna().all()
    np.testing.assert_array_equal(bare[["x", "y"]], out[["x", "y"]])


def test_rows_of_the_training_do_not_count_as_unseen(run, saved, tmp_path):
    arguments = ["--model", saved / "m.skops", "--id", "plant", "--epochs", 20, "-o", tmp_path / "e.csv"]
    printed = run("embed", saved / "flowers.csv", *arguments)
    assert f"{N} rows of flowers.csv (100%) also stand in the training data; they do not count" in printed
    assert "unseen rows" not in printed.split("Note")[0]
    out = pd.read_csv(tmp_path / "e.csv")
    pd.testing.assert_frame_equal(out[:N], out[N:].reset_index(drop=True))
    assert not out["held_out"].any()


def test_a_few_rows_of_the_training_are_mentioned(run, saved, tmp_path):
    mixed = pd.concat([pd.read_csv(saved / "flowers.csv")[:4], pd.read_csv(saved / "new.csv")])
    mixed.to_csv(tmp_path / "mixed.csv", index=False)
    arguments = ["--model", saved / "m.skops", "--epochs", 20, "-o", tmp_path / "e.csv"]
    printed = run("embed", tmp_path / "mixed.csv", *arguments)
    assert "4 rows of mixed.csv (25%) also stand in the training data; they count as unseen" in printed
    assert pd.read_csv(tmp_path / "e.csv")["held_out"].sum() == 16


def test_a_test_file_may_have_labels_that_training_has_not(run, saved, tmp_path):
    new = make_flowers(12, seed=1)
    new.loc[0, "species"] = "rosa"
    new.loc[1, "species"] = np.nan
    new.to_csv(tmp_path / "new.csv", index=False)
    arguments = ["--target", "species", "--test", tmp_path / "new.csv", "--epochs", 20, "--drop", "plant"]
    printed = run(
        "embed", saved / "flowers.csv", *arguments, "-o", tmp_path / "e.html", "-o", tmp_path / "e.csv"
    )
    line = next(line for line in printed.splitlines() if "│ rosa" in line)
    assert re.findall(r"[\d.]+", line) == ["0", "1", "0.000", "0.000"]
    out = pd.read_csv(tmp_path / "e.csv")
    assert out["held_out"].sum() == 12
    assert out["label"].isna().sum() == 1
    assert "rosa" in (tmp_path / "e.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("method", ["densmap", "tsne"])
def test_other_methods(run, saved, tmp_path, method):
    epochs = 250 if method == "tsne" else 20
    arguments = ["--method", method, "--epochs", epochs, "--neighbors", 8, "-o", tmp_path / "e.csv"]
    run("embed", "--model", saved / "m.skops", *arguments)
    assert np.isfinite(pd.read_csv(tmp_path / "e.csv")[["x", "y"]]).all(axis=None)


def test_wrong_input_is_one_sentence_and_nothing_is_written(fails, saved, tmp_path):
    data, model, out = saved / "flowers.csv", saved / "m.skops", ["-o", tmp_path / "e.html"]
    told = ["--target", "species"]
    assert "--model" in fails("embed", *out)
    assert "--target" in fails("embed", data, *out)
    assert "no column 'x' for --target" in fails("embed", data, "--target", "x", *out)
    assert "no column 'x' for --target" in fails("embed", data, "--model", model, "--target", "x", *out)
    assert "--drop is for a model" in fails("embed", "--model", model, "--drop", "color", *out)
    assert "--held-out is for a model" in fails("embed", "--model", model, "--held-out", 0.0, *out)
    assert "no table is given" in fails("embed", "--model", model, "--id", "plant", *out)
    assert "not both" in fails("embed", data, *told, "--held-out", 0.3, "--test", data, *out)
    assert "between 0 and 1; got 1.5" in fails("embed", data, *told, "--held-out", 1.5, *out)
    assert "both sides" in fails("embed", data, *told, "--held-out", 0.01, *out)
    assert "ends in .html" in fails("embed", data, *told, "-o", tmp_path / "e.gif")
    assert "There is no folder" in fails("embed", data, *told, "-o", tmp_path / "none" / "e.html")
    assert "There is no file" in fails("embed", tmp_path / "none.csv", *told, *out)
    assert "There is no file" in fails("embed", "--model", tmp_path / "none.skops", *out)
    assert os.listdir(tmp_path) == []


def test_options_are_named_as_they_are_typed(fails, saved, tmp_path):
    given = ["--model", saved / "m.skops", "-o", tmp_path / "e.html"]
    said = fails("embed", *given, "--method", "tsne", "--epochs", 100)
    assert said == "--epochs must be at least 250 with --method tsne; got 100."
    assert fails("embed", *given, "--jobs", 0).startswith("--jobs must be")
    assert fails("embed", *given, "--seed", -1) == "--seed must be from 0 to 4294967295; got -1."


def test_what_cannot_be_written_is_said_before_the_work(fails, tmp_path, monkeypatch):
    """That is, before anyone finds that there is no such table."""
    given = ["embed", tmp_path / "none.csv", "--target", "x"]
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    said = fails(*given, "-o", tmp_path / "e.parquet")
    assert "needs pyarrow" in said
    assert "pip install 'lann[parquet]'" in said
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    said = fails(*given, "-o", tmp_path / "e.csv")
    assert said == f"The folder {tmp_path} does not allow to write e.csv in it."


def test_without_umap_it_says_what_to_install(fails, saved, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    said = fails("embed", "--model", saved / "m.skops", "-o", tmp_path / "e.html")
    assert "pip install 'lann[embed]'" in said
    assert os.listdir(tmp_path) == []
