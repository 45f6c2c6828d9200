from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

from lann.tables import TableModel

FLIPPED = [10, 33, 61]


@pytest.fixture
def flipped(frame, tmp_path):
    """A table in which the labels of some rows are wrong, and row 0 has none."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {"name": [f"p{row}" for row in range(90)], "u": rng.normal(size=90), "v": rng.normal(size=90)}
    )
    rows["u"] += 6.0 * (np.arange(90) % 2)
    rows["kind"] = np.array(["low", "high"])[np.arange(90) % 2]
    rows.loc[FLIPPED, "kind"] = rows.loc[FLIPPED, "kind"].map({"low": "high", "high": "low"})
    rows.loc[0, "kind"] = None
    rows.to_csv(tmp_path / "flipped.csv", index=False)
    return tmp_path / "flipped.csv"


def suspects_of(printed: str) -> list[list[str]]:
    lines = [line.strip("│").split("│") for line in printed.splitlines() if line.startswith("│")]
    return [[cell.strip() for cell in line] for line in lines]


def test_wrong_labels_are_found(run, flipped, tmp_path):
    printed = run("suspects", flipped, "--target", "kind", "--id", "name", "-o", tmp_path / "out.csv")
    found = suspects_of(printed)
    # Row numbers are those of the table, although a row without a label is left out.
    assert sorted(int(line[0]) for line in found) == FLIPPED
    assert all(line[1] == f"p{line[0]}" for line in found)
    assert all("u " in line[5] for line in found)
    assert {(line[2], line[3]) for line in found} == {("low", "high"), ("high", "low")}
    assert "89 training rows; 3 labels are expected to be wrong (3.4%)" in printed
    assert "Note: 1 row has no 'kind' and is left out." in printed
    out = pd.read_csv(tmp_path / "out.csv")
    assert len(out) == 89
    assert sorted(out["row"][:3]) == FLIPPED
    assert out["score"].is_monotonic_decreasing
    assert out["suspect"].tolist() == [True] * 3 + [False] * 86
    (header,) = (re.findall(r"\w+", line) for line in printed.splitlines() if line.startswith("┃"))
    assert header[:5] == ["row", "id", "label", "likely", "score"]
    assert list(out) == [*header[:5], "suspect"]


def test_the_training_rows_of_a_model(run, flipped, tmp_path):
    run("fit", flipped, "--target", "kind", "--id", "name", "--no-cv", "-o", tmp_path / "m.lann")
    document = json.loads(run("suspects", "--model", tmp_path / "m.lann", "--neighbors", 9, "--json"))
    expected = TableModel.load(tmp_path / "m.lann").suspicious_rows(n_neighbors=9).to_frame()
    assert [line["row"] for line in document["suspects"]] == expected["row"][:3].tolist()
    assert (document["n_rows"], document["n_suspects"], document["target"]) == (89, 3, "kind")
    assert document["suspects"][0].keys() == {"row", "id", "label", "likely", "score", "values"}
    rows = pd.read_csv(flipped)
    for suspect in document["suspects"]:
        assert "u" in suspect["values"]  # the class depends on it
        for name, value in suspect["values"].items():
            assert value == pytest.approx(rows.loc[suspect["row"], name])


def test_only_the_most_suspicious_are_printed(run, flipped):
    printed = run("suspects", flipped, "--target", "kind", "--drop", "name", "--most", 1)
    assert len(suspects_of(printed)) == 1
    assert "and 2 more rows: show them with --most" in printed


def test_invalid_options(fails, flipped, model, tmp_path):
    assert "or a fitted model with --model" in fails("suspects")
    assert "with the labels as --target" in fails("suspects", flipped)
    assert "not both" in fails("suspects", flipped, "--model", model)
    assert "--target is for a model" in fails("suspects", "--model", model, "--target", "kind")
    assert f"give it as --model {model}" in fails("suspects", model)
    assert "no column 'x' in flipped.csv for target" in fails("suspects", flipped, "--target", "x")
    assert "unknown format" in fails("suspects", flipped, "--target", "kind", "-o", tmp_path / "o.txt")
    assert "There is no file" in fails("suspects", "--model", tmp_path / "none.lann")
