from __future__ import annotations

import hashlib
import re

import numpy as np
import pandas as pd
import pytest

from lann.report import SourceFile, report_page
from lann.tables import TableModel, read_table


def test_a_row_is_printed_in_three_steps(run, model, new):
    printed = run("explain", model, new, "--row", 1, "--columns", 2)
    row = TableModel.load(model).explain(read_table(new), [1]).row(0)
    assert row.sentence in " ".join(printed.split())
    similar, _, reasons = printed.partition("\n\n")[2].partition("Reasons")
    reasons, _, here = reasons.partition("What matters here")
    assert f"Similar cases: {row.similar_text}" in similar
    assert f"typical of {row.prediction}" in reasons
    for j in range(2):
        line = next(line for line in reasons.splitlines() if f" {row.feature_names[j]} " in line)
        for text in (row.typical[j], f"{abs(row.support[j]):.1%}", f"± {2 * row.support_errors[j]:.1%}"):
            assert text in line
    assert f" {row.feature_names[2]} " not in reasons
    assert "2 other columns" in reasons
    most = int(np.argmax(row.relevances))
    line = next(line for line in here.splitlines() if f" {row.feature_names[most]} " in line)
    assert f" {row.percentile_text(most)} " in line
    assert "the range of the middle 80%" in " ".join(printed.split())


def test_the_file_has_every_row_and_column(run, model, new, tmp_path):
    run("explain", model, new, "--row", 7, "--rows", "2:4", "--id", "name", "-o", tmp_path / "e.csv")
    out = pd.read_csv(tmp_path / "e.csv")
    fitted = TableModel.load(model)
    assert len(out) == 3 * 4
    expected = fitted.explain(read_table(new), [7, 2, 3], id="name").to_frame()
    assert list(out) == list(expected)
    for name in ("row", "id", "column", "value"):
        assert out[name].astype(str).tolist() == expected[name].astype(str).tolist()
    for name in ("relevance", "support", "standard_error", "probability", "base_value"):
        np.testing.assert_allclose(out[name], expected[name])


def test_the_report_is_that_of_the_library(run, model, new, tmp_path):
    path = tmp_path / "r.html"
    printed = run("explain", model, new, "--html", path, "--columns", 3)
    assert printed == f"Wrote {path}: 10 rows explained; open it in a browser\n"
    fitted = TableModel.load(model)
    files = [SourceFile.from_path(file) for file in (model, new)]
    explanation = fitted.explain(read_table(new))
    expected = report_page(fitted, explanation, title="m.lann on new.csv", n_features=3, files=files)
    text, time = path.read_text(encoding="utf-8"), r"\d\d:\d\d:\d\d UTC"
    assert re.sub(time, "", text) == re.sub(time, "", expected)
    for file in (model, new):
        assert hashlib.sha256(file.read_bytes()).hexdigest() in text


def test_the_report_links_to_an_explorer(run, fails, model, new, tmp_path):
    (tmp_path / "deep").mkdir()
    explorer = tmp_path / "my explorer.html"
    explorer.write_text("<!doctype html>", encoding="utf-8")
    run("explain", model, new, "--html", tmp_path / "deep" / "r.html", "--explorer", explorer)
    text = (tmp_path / "deep" / "r.html").read_text(encoding="utf-8")
    assert 'href="../my%20explorer.html#row=new-4"' in text
    assert 'href="../my%20explorer.html#row=' in text
    missing = fails(
        "explain", model, new, "--html", tmp_path / "r.html", "--explorer", tmp_path / "none.html"
    )
    assert "There is no file" in missing
    (tmp_path / "e.png").write_bytes(b"")
    page = ("explain", model, new, "--html", tmp_path / "r.html")
    assert "ends in .html" in fails(*page, "--explorer", tmp_path / "e.png")
    assert "--explorer is about the page of --html" in fails("explain", model, new, "--explorer", explorer)


def test_counterfactuals_of_the_report(run, fails, model, new, tmp_path):
    page = ("explain", model, new, "--html", tmp_path / "r.html")
    run(*page, "--counterfactuals", 2)
    assert (tmp_path / "r.html").read_text(encoding="utf-8").count('class="change"') == 2
    run(*page, "--counterfactuals", 0)
    assert "What would have to change" not in (tmp_path / "r.html").read_text(encoding="utf-8")
    run(*page, "--frozen", "color")
    fitted = TableModel.load(model)
    changes = fitted.counterfactuals(read_table(new), constraints={"frozen": ["color"]})
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert text.count('class="change"') == changes.found.sum()
    assert text.count('class="change"') > 0
    (tmp_path / "rules.toml").write_text('frozen = ["color"]', encoding="utf-8")
    run(*page, "--constraints", tmp_path / "rules.toml", "--direction", "noise=up")
    rules = {"frozen": ["color"], "direction": {"noise": "up"}}
    changes = fitted.counterfactuals(read_table(new), constraints=rules)
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert text.count('class="change"') == changes.found.sum()
    assert "color" in fails(*page, "--frozen", "colr")  # with the nearest name
    assert "--frozen is about the page of --html" in fails("explain", model, new, "--frozen", "color")


def test_invalid_rows(fails, model, new):
    assert "There is no row 10 in new.csv; its rows are 0 to 9." in fails("explain", model, new, "--row", 10)
    assert "There is no row -1" in fails("explain", model, new, "--row", -1)
    for beyond in ("10:12", "12:"):
        assert f"There is no row {beyond[:2]}" in fails("explain", model, new, "--rows", beyond)


@pytest.mark.parametrize("rows", ["3", "3:3", "a:b", "5:2", "-1:2", ""])
def test_invalid_ranges(rows, fails, model, new):
    assert f"like 0:20; got {rows!r}" in fails("explain", model, new, f"--rows={rows}")


def test_the_label_stands_beside_the_prediction(run, model, make_table, tmp_path):
    frame = make_table(6, seed=1)
    frame.loc[0, "group"] = {"in": "out", "out": "in"}[frame.loc[0, "group"]]
    frame.loc[2, "group"] = None
    frame.to_csv(tmp_path / "test.csv", index=False)
    wrong = run("explain", model, tmp_path / "test.csv", "--row", "0")
    assert f"The prediction is wrong: the label is {frame.loc[0, 'group']}." in wrong
    right = run("explain", model, tmp_path / "test.csv", "--row", "1", "-o", tmp_path / "e.csv")
    assert f"The prediction is correct: the label is {frame.loc[1, 'group']}." in right
    assert set(pd.read_csv(tmp_path / "e.csv")["true_label"]) == {frame.loc[1, "group"]}
    assert "The prediction is" not in run("explain", model, tmp_path / "test.csv", "--row", "2")


@pytest.fixture
def many(make_table, tmp_path):
    """Sixty rows with labels; that of row 7 is not what its values say."""
    frame = make_table(60, seed=1)
    frame.loc[7, "group"] = {"in": "out", "out": "in"}[frame.loc[7, "group"]]
    frame.to_csv(tmp_path / "many.csv", index=False)
    return tmp_path / "many.csv"


def test_many_rows_have_a_line_each(run, model, many):
    printed = run("explain", model, many, "--rows", "5:40")
    explanation = TableModel.load(model).explain(read_table(many), range(5, 40))
    lines = [line.split() for line in printed.splitlines() if line.strip()[:1].isdigit()]
    assert [line[0] for line in lines] == [str(row) for row in range(5, 40)]
    assert [line[1] for line in lines] == explanation.query_ids.tolist()
    assert [line[2] for line in lines] == explanation.predictions.tolist()
    assert "One row in full: --row 5" in printed
    assert "--html" in printed


def test_many_rows_of_a_file_have_a_summary(run, model, many, tmp_path):
    printed = run("explain", model, many, "--rows", "0:60", "-o", tmp_path / "all.csv")
    assert len(printed.splitlines()) < 20
    frame = read_table(many)
    explanation = TableModel.load(model).explain(frame)
    assert "60 rows explained" in printed
    labels, counts = np.unique(explanation.predictions, return_counts=True)
    for label, count in zip(labels, counts, strict=True):
        assert f"{label} ({count}, {count / 60:.0%})" in printed
    n_correct = int((explanation.predictions == frame["group"]).sum())
    assert f"({n_correct} of 60 rows)" in printed
    wrong = np.flatnonzero(explanation.predictions != frame["group"])
    assert f"Mistakes: {len(wrong)} row" in printed
    assert f": {wrong[0]}" in printed
    best = explanation.feature_names[explanation.relevances.mean(axis=0).argmax()]
    table = [line for line in printed.splitlines() if line.startswith("│")]
    assert best in table[0]
    assert pd.read_csv(tmp_path / "all.csv")["row"].nunique() == 60
