"""`lann evaluate` prints, writes and says what the library does."""

from __future__ import annotations

import json
from hashlib import sha256

import pandas as pd
import pytest

from lann.report import evaluate
from lann.tables import TableModel, read_table


@pytest.fixture
def test_csv(make_table, tmp_path):
    """Sixty test rows with labels, some of which are wrong."""
    frame = make_table(60, seed=1)
    frame.loc[:50:10, "group"] = frame.loc[:50:10, "group"].map({"in": "out", "out": "in"})
    frame.to_csv(tmp_path / "test.csv", index=False)
    return tmp_path / "test.csv"


def test_figures_are_those_of_the_library(run, model, test_csv):
    printed = run("evaluate", model, test_csv)
    found = evaluate(TableModel.load(model), read_table(test_csv))
    assert found.summary in printed
    assert f"{found.scores.loc[('LANN', 'log_loss'), 'value']:.3f}" in printed
    for text in ("LANN − kNN", "majority", "By class", "Are the probabilities right?", "Where it is worst"):
        assert text in printed
    assert found.slice_verdict in printed
    assert f"Most confident of {found.n_wrong} mistakes" in printed
    assert f"Row {found.mistakes['row'][0]}: " in printed


def test_the_page_and_the_table(run, model, test_csv, tmp_path):
    page, table = tmp_path / "e.html", tmp_path / "e.csv"
    printed = run("evaluate", model, test_csv, "--html", page, "-o", table)
    assert f"Wrote {page}; open it in a browser" in printed
    assert f"Wrote {table}" in printed
    assert "By class" not in printed
    assert "m.lann on test.csv" in page.read_text("utf-8")
    assert sha256(test_csv.read_bytes()).hexdigest() in page.read_text("utf-8")
    expected = evaluate(TableModel.load(model), read_table(test_csv)).to_frame()
    pd.testing.assert_frame_equal(pd.read_csv(table), expected, check_dtype=False, rtol=1e-12)


def test_json_is_one_document(run, model, test_csv, tmp_path):
    document = json.loads(run("evaluate", model, test_csv, "--json", "-o", tmp_path / "e.csv"))
    found = evaluate(TableModel.load(model), read_table(test_csv))
    assert document["methods"] == found.to_dict()["methods"]
    assert document["audit"]["data_file"] == {
        "name": "test.csv", "sha256": sha256(test_csv.read_bytes()).hexdigest(),
    }  # fmt: skip
    assert document["audit"]["model_file"]["sha256"] == sha256(model.read_bytes()).hexdigest()
    assert document["files"] == [str(tmp_path / "e.csv")]
    assert "summary" in document


def test_the_training_file_is_noted(run, csv, tmp_path):
    run("fit", csv, "--target", "group", "--id", "name", "--folds", "2", "-o", tmp_path / "m.lann")
    printed = run("evaluate", tmp_path / "m.lann", csv)
    assert "Note: The test file is the training file" in printed
    assert "The cross-validation is a fair estimate." in printed
    assert "The 2-fold cross-validation before the fit had an accuracy of 0." in printed


def test_invalid_input_is_one_sentence(fails, model, test_csv, tmp_path):
    frame = pd.read_csv(test_csv)
    frame.drop(columns="group").to_csv(tmp_path / "none.csv", index=False)
    assert "There is no column 'group' in none.csv for target" in fails(
        "evaluate", model, tmp_path / "none.csv"
    )
    frame.assign(group=None).to_csv(tmp_path / "empty.csv", index=False)
    assert "no row with a label in empty.csv: the target 'group' is empty" in fails(
        "evaluate", model, tmp_path / "empty.csv"
    )
    frame.assign(group="x").to_csv(tmp_path / "x.csv", index=False)
    message = fails("evaluate", model, tmp_path / "x.csv")
    assert message == "The model knows none of the labels of x.csv: 'x'; its classes are 'in', 'out'."
    assert "unknown format" in fails("evaluate", model, test_csv, "--html", tmp_path / "e.txt")
    assert "unknown format" in fails("evaluate", model, test_csv, "-o", tmp_path / "e.txt")
    assert "no column 'w' in test.csv for sample_weight" in fails(
        "evaluate", model, test_csv, "--sample-weight", "w"
    )
