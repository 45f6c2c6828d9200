"""`--json` prints one JSON document and nothing else on stdout."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from lann._support.format import to_plain
from lann.cli.commands import app
from lann.tables import TableModel, read_table

SNAKE_CASE = re.compile(r"[a-z][a-z0-9_]*")
# What is in these has the user's names as keys.
BY_NAME = ("probabilities", "values", "relevances", "supporting", "opposing", "contributions", "parameters",
           "class_counts", "mean_relevances", "recalls", "percentiles", "category_shares",
           "typical")  # fmt: skip


@pytest.fixture
def document():
    """Return a function that runs a command with --json; stdout must be one document, and stderr empty."""

    def document(*arguments):
        result = CliRunner().invoke(app, [*map(str, arguments), "--json"])
        assert result.exit_code == 0, result.output
        assert result.stderr == ""
        found = json.loads(result.stdout, parse_constant=lambda text: pytest.fail(f"{text} is not JSON"))
        check_keys(found)
        return found

    return document


def check_keys(value):
    if isinstance(value, dict):
        for key, item in value.items():
            assert SNAKE_CASE.fullmatch(key), key
            if key not in BY_NAME:
                check_keys(item)
    elif isinstance(value, list):
        for item in value:
            check_keys(item)


def test_values():
    values = {
        "a": np.float64("nan"), "b": [np.inf, 1.5], "c": np.arange(2), "d": pd.NaT, "e": Path("x") / "y",
        "f": pd.Timestamp("2024-01-02"), "g": np.bool_(True), 3: (np.int64(4), None, "text"), "h": pd.NA,
    }  # fmt: skip
    values = {key: value for key, value in values.items() if key != "h"}
    assert to_plain(values) == {
        "a": None, "b": [None, 1.5], "c": [0, 1], "d": None, "e": str(Path("x") / "y"),
        "f": "2024-01-02 00:00:00", "g": True, "3": [4, None, "text"],
    }  # fmt: skip
    frame = pd.DataFrame({"x": [1, 2], "a b": ["u", None]})
    assert to_plain(frame.to_dict("records")) == [{"x": 1, "a b": "u"}, {"x": 2, "a b": None}]


def test_fit(document, csv, tmp_path):
    found = document("fit", csv, "--target", "group", "--folds", 3, "-o", tmp_path / "m.lann")
    assert (found["target"], found["n_rows"]) == ("group", 80)
    kinds = {column["name"]: column["kind"] for column in found["columns"]}
    assert (kinds["color"], kinds["constant"]) == ("category", "ignored")
    assert [line["label"] for line in found["classes"]] == ["in", "out"]
    ours = found["cross_validation"][0]
    assert ours["n_folds"] == 3
    assert 0.5 < ours["accuracy"] <= 1
    assert ours["recalls"].keys() == {"in", "out"}
    assert any("'empty' is ignored" in text for text in found["notes"])
    assert found["files"] == [str(tmp_path / "m.lann")]
    assert (tmp_path / "m.lann").exists()
    assert found["vote"]["n_neighbors"] == TableModel.load(tmp_path / "m.lann").classifier.n_neighbors_


def test_explain(document, model, new, tmp_path):
    found = document("explain", model, new, "--rows", "2:5", "--html", tmp_path / "r.html")
    assert [row["row"] for row in found["rows"]] == [2, 3, 4]
    explanation = TableModel.load(model).explain(read_table(new), [2, 3, 4])
    assert [row["sentence"] for row in found["rows"]] == explanation.in_words()
    assert found["rows"][0]["relevances"]["noise"] == explanation.relevances[0, 3]
    values = {reason["column"]: reason["value"] for reason in found["rows"][1]["reasons"]}
    assert values["size [cm]"] is None  # it is missing
    assert sum(found["class_counts"].values()) == 3
    assert found["files"] == [str(tmp_path / "r.html")]
