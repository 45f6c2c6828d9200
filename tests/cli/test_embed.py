from __future__ import annotations

import os
import re

import numpy as np
import pandas as pd
import pytest

N = 90


def make_flowers(n_rows: int = N, seed: int = 0) -> pd.DataFrame:
    """Return a table of three classes, the last two of which overlap."""
    rng = np.random.default_rng(seed)
    kind = np.arange(n_rows) % 3
    return pd.DataFrame(
        {
            "plant": [f"plant {row}" for row in range(n_rows)],
            "length": (kind + rng.normal(0, 0.8, n_rows)).round(3),
            "width": rng.normal(size=n_rows).round(3),
            "color": np.where(rng.random(n_rows) < 0.8, np.array(["red", "blue", "blue"])[kind], "green"),
            "species": np.array(["setosa", "versicolor", "virginica"])[kind],
        }
    )


@pytest.fixture(scope="module")
def embedded(run, tmp_path_factory):
    """The folder with the files of a run with held-out rows, and what it printed."""
    folder = tmp_path_factory.mktemp("embedded")
    frame = make_flowers()
    frame.loc[11, "species"] = np.nan
    frame.to_csv(folder / "flowers.csv", index=False)
    arguments = ["--target", "species", "--id", "plant", "--held-out", 0.3, "--epochs", 30]
    outputs = [part for name in ("e.png", "e.csv") for part in ("-o", folder / name)]
    return folder, run("embed", folder / "flowers.csv", *arguments, *outputs)


@pytest.fixture(scope="module")
def saved(run, tmp_path_factory):
    """A folder with a fitted model, its training table, and new rows."""
    folder = tmp_path_factory.mktemp("saved")
    make_flowers().to_csv(folder / "flowers.csv", index=False)
    make_flowers(12, seed=1).to_csv(folder / "new.csv", index=False)
    options = ["--target", "species", "--id", "plant", "--no-cv", "-o", folder / "m.lann"]
    run("fit", folder / "flowers.csv", *options)
    return folder


def test_what_is_printed_agrees_with_the_table(embedded):
    folder, printed = embedded
    out = pd.read_csv(folder / "e.csv")
    assert "62 training rows and 27 new rows embedded" in printed
    correct = out["label"] == out["prediction"]
    line = next(line for line in printed.splitlines() if "│ all" in line)
    numbers = re.findall(r"[\d.]+", line)
    assert numbers[0] == "62"
    assert numbers[3] == "27"
    assert float(numbers[1]) == pytest.approx(correct[~out["held_out"]].mean(), abs=5e-4)
    assert float(numbers[4]) == pytest.approx(correct[out["held_out"]].mean(), abs=5e-4)
    assert "Confused most often in the embedding: versicolor and virginica (" in printed
    assert "Note: 1 row has no 'species' and is left out." in printed
    assert "optimistic" not in printed
    assert printed.count("Wrote ") == 2
    assert "e.png: 89 rows" in printed


def test_a_model_without_new_rows(run, saved, tmp_path):
    printed = run("embed", "--model", saved / "m.lann", "-o", tmp_path / "e.csv", "--epochs", 20)
    assert "optimistic" in printed
    assert "Give a table of new rows with labels" in printed
    assert "--held-out" not in printed  # it cannot go with --model
    out = pd.read_csv(tmp_path / "e.csv")
    assert out["id"].tolist() == [f"plant {row}" for row in range(N)]
    assert not out["held_out"].any()
    run("embed", "--model", saved / "m.lann", "-o", tmp_path / "again.csv", "--epochs", 20)
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "e.csv").read_bytes()


def test_new_rows_of_a_model(run, saved, tmp_path):
    arguments = ["--model", saved / "m.lann", "--id", "plant", "--epochs", 20, "-o", tmp_path / "e.csv"]
    assert "12 new rows embedded" in run("embed", saved / "new.csv", *arguments)
    out = pd.read_csv(tmp_path / "e.csv")
    assert out.loc[out["held_out"], "row"].tolist() == list(range(12))
    assert f"{N} of {N} new rows (100%) have the values of training rows" in run(
        "embed", saved / "flowers.csv", *arguments
    )


def test_invalid_input_writes_nothing(fails, saved, tmp_path):
    data, model, out = saved / "flowers.csv", saved / "m.lann", ["-o", tmp_path / "e.csv"]
    target = ["--target", "species"]
    assert "--model" in fails("embed", *out)
    assert "--target" in fails("embed", data, *out)
    assert "no column 'x' in flowers.csv for target" in fails("embed", data, "--target", "x", *out)
    assert "no column 'x' in" in fails("embed", data, "--model", model, "--target", "x", *out)
    assert "--drop is for a model" in fails("embed", "--model", model, "--drop", "color", *out)
    assert "--categorical is for a model" in fails("embed", "--model", model, "--categorical", "color", *out)
    assert "--held-out is for a model" in fails("embed", "--model", model, "--held-out", 0.0, *out)
    assert "no table is given" in fails("embed", "--model", model, "--id", "plant", *out)
    assert "not both" in fails("embed", data, *target, "--held-out", 0.3, "--test", data, *out)
    assert "above 0 and below 1; got 1.5" in fails("embed", data, *target, "--held-out", 1.5, *out)
    assert "too few or too many" in fails("embed", data, *target, "--held-out", 0.01, *out)
    assert "ends in .png" in fails("embed", data, *target, "-o", tmp_path / "e.gif")
    assert "lann explore" in fails("embed", data, *target, "-o", tmp_path / "e.html")
    assert "There is no folder" in fails("embed", data, *target, "-o", tmp_path / "none" / "e.csv")
    assert "There is no file" in fails("embed", tmp_path / "none.csv", *target, *out)
    assert "There is no file" in fails("embed", "--model", tmp_path / "none.lann", *out)
    assert os.listdir(tmp_path) == []
