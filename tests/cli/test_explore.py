"""`lann explore`: the page that it writes."""

import json
import os

import numpy as np
import pandas as pd
import pytest

from tests.explorer.test_explore import unpack

QUICK = ["--method", "pca", "--reasons", 5]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    rng = np.random.default_rng(0)
    kind = np.arange(90) % 3
    frame = pd.DataFrame(
        {
            "plant": [f"plant {row}" for row in range(90)],
            "length": (kind + rng.normal(0, 0.4, 90)).round(2),
            "color": np.array(["red", "blue", "green"])[kind],
            "species": np.array(["setosa", "versicolor", "virginica"])[kind],
        }
    )
    path = tmp_path_factory.mktemp("explored") / "flowers.csv"
    frame.to_csv(path, index=False)
    return path


def header_of(path):
    return unpack(path.read_text("utf-8"), "rows-data")[0]


def test_a_table_is_explored_with_held_out_rows(run, data, tmp_path):
    out = tmp_path / "e.html"
    options = ["--target", "species", "--id", "plant", "--held-out", 0.3, *QUICK]
    printed = run("explore", data, *options, "-o", out)
    assert f"Wrote {out}: 90 rows, 0." in printed
    assert "open it in a browser" in printed
    header = header_of(out)
    assert (header["nRows"], header["nTraining"], header["title"]) == (90, 62, "flowers.csv")
    assert sorted(header["ids"]) == sorted(f"plant {row}" for row in range(90))
    document = json.loads(run("explore", data, *options, "-o", out, "--json"))
    assert document["n_rows"] == 90
    assert document["n_bytes"] == out.stat().st_size
    assert document["notes"][-1].startswith("Reasons are in the file for 5 rows of 90")


def test_a_model_is_explored_with_new_rows(run, data, tmp_path):
    model, out = tmp_path / "m.lann", tmp_path / "e.html"
    run("fit", data, "--target", "species", "--id", "plant", "--no-cv", "-o", model)
    new = pd.read_csv(data)[:7].assign(plant=[f"new {row}" for row in range(7)], length=np.arange(7) / 7)
    new.to_csv(tmp_path / "new.csv", index=False)
    run("explore", "--model", model, tmp_path / "new.csv", "-o", out, "--title", "Flowers", *QUICK)
    header = header_of(out)
    assert (header["nRows"], header["nTraining"], header["title"]) == (97, 90, "Flowers")
    # The training table adds no rows; nor does no table.
    for table in ([data], []):
        run("explore", "--model", model, *table, "-o", out, *QUICK)
        header = header_of(out)
        assert (header["nRows"], header["title"], len(header["maps"])) == (90, "m.lann", 2)


def test_test_rows(run, data, tmp_path):
    frame = pd.read_csv(data)
    frame[:60].to_csv(tmp_path / "train.csv", index=False)
    frame[60:].assign(length=frame["length"][60:] + 0.01).to_csv(tmp_path / "test.csv", index=False)
    out = tmp_path / "e.html"
    run(
        "explore",
        tmp_path / "train.csv",
        "--target",
        "species",
        "--test",
        tmp_path / "test.csv",
        "-o",
        out,
        *QUICK,
    )
    header = header_of(out)
    assert (header["nRows"], header["nTraining"]) == (90, 60)
    assert header["scores"]["new"][0][0] == "accuracy"


def test_invalid_input_writes_nothing(fails, data, tmp_path):
    out, target = ["-o", tmp_path / "e.html"], ["--target", "species"]
    assert "--model" in fails("explore", *out)
    assert "--target" in fails("explore", data, *out)
    assert "not both" in fails("explore", data, *target, "--held-out", 0.3, "--test", data, *out)
    assert "--held-out is for a model" in fails("explore", "--model", data, "--held-out", 0.3, *out)
    assert "ends in .html" in fails("explore", data, *target, "-o", tmp_path / "e.png")
    assert "no column 'x'" in fails("explore", data, "--target", "x", *out)
    assert os.listdir(tmp_path) == []
