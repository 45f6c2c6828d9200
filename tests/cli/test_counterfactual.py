from __future__ import annotations

import json

import pandas as pd
import pytest

from lann._support.format import to_plain
from lann.tables import TableModel, read_table


def predictions_of(model, frame):
    return TableModel.load(model).predict(frame)["prediction"].tolist()


def changed_rows(document, frame):
    """Return the rows with the changes of a document."""
    rows = frame.astype(object).copy()
    for result in document["rows"]:
        for change in result["changes"]:
            assert str(change["from"]) == str(frame.loc[result["row"], change["column"]])
            rows.loc[result["row"], change["column"]] = change["to"]
    return rows.loc[[result["row"] for result in document["rows"]]]


def test_the_changes_lead_to_the_other_class(run, model, new):
    document = json.loads(run("counterfactual", model, new, "--rows", "0:3", "--row", 7, "--json"))
    assert [result["row"] for result in document["rows"]] == [7, 0, 1, 2]
    assert [result["id"] for result in document["rows"]] == ["p7", "p0", "p1", "p2"]
    assert document["n_found"] == 4
    frame = read_table(new)
    for result, prediction in zip(
        document["rows"], predictions_of(model, frame.loc[[7, 0, 1, 2]]), strict=True
    ):
        assert result["prediction"] == prediction
        assert result["becomes"] != prediction
        assert 1 <= len(result["changes"]) <= 3
    becomes = [result["becomes"] for result in document["rows"]]
    assert predictions_of(model, changed_rows(document, frame)) == becomes


def test_the_table_has_the_changes(run, model, new, tmp_path):
    printed = run("counterfactual", model, new, "--row", 1, "-o", tmp_path / "out.csv")
    out = pd.read_csv(tmp_path / "out.csv")
    assert out["query"].unique().tolist() == [1]
    for column in out["feature"]:
        assert column in printed
    assert "With these values instead" in printed
    assert f"Wrote {tmp_path / 'out.csv'}" in printed


def test_constraints_of_options_and_of_a_file(run, fails, model, new, tmp_path):
    rules, frame = tmp_path / "rules.toml", read_table(new)
    rules.write_text(
        'frozen = ["color"]\n[direction]\n"size [cm]" = "down"\n'
        "[range]\nnoise = [-1, inf]\n[cost]\nnoise = 2\n"
    )
    given = ["counterfactual", model, new, "--rows", "0:10", "--json", "--at-least", 0.7, "--results", 2]
    options = ["--constraints", rules, "--allow", "noise", "--allow", "size [cm]"]
    document = json.loads(run(*given, *options, "--direction", "size [cm]=up"))
    fitted = TableModel.load(model)
    only = {
        "allow": ["noise", "size [cm]"], "frozen": ["color"], "direction": {"size [cm]": "up"},
        "range": {"noise": [-1, None]}, "cost": {"noise": 2},
    }  # fmt: skip
    expected = fitted.counterfactuals(frame, range(10), constraints=only, at_least=0.7, n_results=2)
    assert document["rows"] == to_plain(expected.to_dict())
    assert document["n_found"] == expected.found[expected.ranks == 1].sum() > 5
    assert "'up' or 'down'; got '' for 'noise'" in fails(*given, "--direction", "noise")
    assert "No such file" in fails(*given, "--constraints", tmp_path / "none.toml")


def test_frozen_columns_and_the_wanted_class(run, model, new):
    given = ["counterfactual", model, new, "--rows", "0:6", "--frozen", "color", "--json"]
    document = json.loads(run(*given))
    changed = {change["column"] for result in document["rows"] for change in result["changes"]}
    assert changed
    assert "color" not in changed
    wanted = json.loads(run(*given, "--target-class", "in", "--max-columns", 1))
    for result in wanted["rows"]:
        assert len(result["changes"]) <= 1
        assert result["becomes"] in ("in", None)
        if result["prediction"] == "in":
            assert result["found"]
            assert result["changes"] == []
    assert "it is that already" in run(*given[:-1], "--target-class", "in")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--row", 10], "There is no row 10 in new.csv; its rows are 0 to 9."),
        (["--rows", "3"], "like 0:20; got '3'"),
        (["--target-class", "none"], "There is no class 'none'; the classes are in, out."),
        (["--frozen", "kolor"], "did you mean 'color'?"),
        (["--direction", "noise=left"], "direction must be 'up' or 'down'; got 'left'"),
        (["--at-least", "70"], "at_least must be a number of at least 0 and at most 1; got 70"),
        (["--id", "x"], "no column 'x' in new.csv for id"),
        (["-o", "out.txt"], "unknown format"),
    ],
)
def test_invalid_options(options, message, fails, model, new):
    assert message in fails("counterfactual", model, new, *options)
