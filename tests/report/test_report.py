"""The report of explained predictions as text; tests/browser opens it."""

import os
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import lann
from lann import LANNClassifier
from lann._support.format import percent, signed_percent, value_text
from lann.baselines import LMNN
from lann.report import SourceFile, report_page, save_report
from lann.tables import TableModel


@pytest.fixture
def new(make_table):
    return make_table(10)


def test_the_page_has_the_model_the_relevant_columns_and_the_rows(table_model, new, parse_page):
    explanation = table_model.explain(new, [4, 7, 8], id="name")
    files, notes = [SourceFile("new.csv", 64 * "a")], ["'<mauve>' is new."]
    page = parse_page(report_page(table_model, explanation, title="m on new", files=files, notes=notes))
    assert page.count("details", "row") == 3
    assert page.count("details", "model") == 1
    for part in (
        "m on new", "78", "Relevant columns by class", "size [cm]", "color",
        "Row 4: p4", "Row 8: p8", "runner-up", "Similar cases: ", "How to read this page",
        "Reasons: what each column adds", "What would have to change", "Overview", "The model",
        "new.csv: SHA-256", 64 * "a", "Note: '<mauve>' is new.",
        f"lann {lann.__version__}", "LANNClassifier, fitted to 78 rows with 4 columns",
    ):  # fmt: skip
        assert part in page.text, part
    assert page.count("table", "overview") == 1
    for kind in ("columns reasons", "neighbors"):
        assert page.count("table", kind) >= 3, kind
    row = table_model.explain(new).row(0)
    assert f"{row.others.n_rows} others" in page.text


def test_the_page_is_accessible(table_model, new, parse_page):
    page = parse_page(report_page(table_model, table_model.explain(new)))
    headings = [tag for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert headings[0] == "h1"
    assert all(int(after[1]) - int(before[1]) <= 1 for before, after in pairwise(headings))
    assert all("scope" in attributes for tag, attributes in page.tags if tag == "th")
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(set(ids)) == len(ids) > 10


def test_the_numbers_are_those_of_the_explanation(table_model, new, parse_page):
    explanation = table_model.explain(new, [4])
    page = parse_page(report_page(table_model, explanation))
    row = explanation.row(0)
    for support, relevance in zip(row.support, row.relevances, strict=True):
        assert signed_percent(support) in page.text
        assert percent(relevance, 1) in page.text
    for share in [*row.vote_shares[: row.n_listed], row.others.vote_share, row.probability, row.base_value]:
        assert percent(share) in page.text
    for value in row.neighbor_values.ravel():
        assert value_text(value) in page.text


def test_the_page_loads_nothing(table_model, new, parse_page):
    text = report_page(table_model, table_model.explain(new))
    page = parse_page(text)
    assert page.count("details", "row") == 10
    assert re.search(r"https?://|url\(|@import", text) is None
    assert page.count("script") == 1
    links = [
        attributes[name] for _, attributes in page.tags for name in ("src", "href") if name in attributes
    ]
    ids = {attributes.get("id") for _, attributes in page.tags}
    assert links[0] == "data:,"
    assert len(links) > 20
    assert all(link.startswith("#") and link[1:] in ids for link in links[1:])
    # A page of one row needs no overview, and runs no script.
    page = parse_page(report_page(table_model, table_model.explain(new, [4])))
    assert page.count("script") == page.count("table", "overview") == page.count("a") == 0


def test_many_columns_and_classes_are_folded(parse_page):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(150, 30)), columns=[f"c{j}" for j in range(30)])
    clf = LANNClassifier(7, max_iter=1, power=2.0, random_state=0).fit(X, np.repeat(np.arange(15), 10))
    page = parse_page(report_page(clf, clf.explain(X[:2]), n_features=4))
    assert page.text.count(" 26 more columns") == 2  # by class: as a line to open, and as the caption
    assert page.text.count(" 26 other columns") == 2 * 3  # of each row: as a line of the sum, too
    assert "The 12 largest classes are shown." in page.text
    assert "power=2.0" in page.text


def test_other_models(parse_page):
    X = np.random.default_rng(0).normal(size=(40, 2))
    plain = LANNClassifier(1, max_iter=0).fit(X, X[:, 0] > 0)
    assert "plain nearest neighbors" in parse_page(report_page(plain, plain.explain(X[:1]))).text
    baseline = LMNN(max_iter=2).fit(X, X[:, 0] > 0)
    text = " ".join(parse_page(report_page(baseline, baseline.explain(X[:1]))).text.split())
    assert "Method LMNN" in text
    assert "max_iter=2" in text


def test_invalid_arguments_write_nothing(table_model, new, tmp_path):
    explanation = table_model.explain(new)
    with pytest.raises(ValueError, match="n_features must be"):
        save_report(tmp_path / "r.html", table_model, explanation, n_features=0)
    with pytest.raises(ValueError, match="counterfactuals must be"):
        save_report(tmp_path / "r.html", table_model, explanation, counterfactuals=-1)
    changes = table_model.counterfactuals(pd.concat([new, new[:1]]))
    with pytest.raises(ValueError, match="counterfactuals of 11 rows, but 10 explained rows"):
        save_report(tmp_path / "r.html", table_model, explanation, counterfactuals=changes)
    for address in ("javascript:alert(1)", "data:text/html,x", "e.html#row-1", ""):
        with pytest.raises(ValueError, match="explorer must be the file name"):
            save_report(tmp_path / "r.html", table_model, explanation, explorer=address)
    with pytest.raises(ValueError, match="no explained rows"):
        save_report(tmp_path / "r.html", table_model, explanation[:0])
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        save_report(tmp_path / "none" / "r.html", table_model, explanation)
    assert os.listdir(tmp_path) == []


def lines_of(page):
    """Return the attributes of the lines of the overview."""
    return [attributes for tag, attributes in page.tags if tag == "tr" and "data-row" in attributes]


def test_the_overview_has_a_line_for_each_row_with_its_flags(table_model, training_frame, parse_page):
    rows = range(40)
    explanation = table_model.explain(training_frame, rows, id="name", leave_out=None)
    truth = explanation.predictions.astype(object)
    truth[3] = "in" if truth[3] == "out" else "out"
    truth[5] = None
    explanation = replace(explanation, true_labels=truth, is_far=np.arange(40) == 7)
    text = report_page(table_model, explanation, counterfactuals=0)
    lines = lines_of(parse_page(text))
    assert [line["data-row"] for line in lines] == [f"row-{row}" for row in rows]
    flags = [line["data-flags"].split() for line in lines]
    assert [i for i in rows if "mistake" in flags[i]] == [3]
    assert [i for i in rows if "far" in flags[i]] == [7]
    doubtful = explanation.to_frame("rows")["doubtful"].to_numpy()
    assert [i for i in rows if "doubtful" in flags[i]] == np.flatnonzero(doubtful).tolist()
    assert "38 of 39 rows with a known label are predicted correctly (97%)." in text
    assert "1 row is far from all training rows" in text
    assert "mistakes (1)" in text
    assert text.count("Nothing similar was seen among the training rows") == 1


def test_rows_and_neighbors_link_to_the_explorer(table_model, training_frame, new, parse_page):
    def links(explanation, explorer):
        page = parse_page(report_page(table_model, explanation, explorer=explorer))
        return {a["href"] for tag, a in page.tags if tag == "a" and not a["href"].startswith("#")}

    explanation = table_model.explain(new, [4])
    row = explanation.row(0)
    found = links(explanation, "../a b/e.html")
    assert "../a%20b/e.html#row=new-4" in found
    assert {f"../a%20b/e.html#row={number}" for number in row.neighbors[: row.n_listed]} < found
    assert links(explanation, None) == set()
    assert "e.html#row=5" in links(table_model.explain(training_frame, [5]), "e.html")


def test_counterfactuals_are_shown_for_the_first_rows(table_model, new, parse_page):
    explanation = table_model.explain(new)
    page = parse_page(report_page(table_model, explanation, counterfactuals=2))
    assert page.count("table", "change") == 2
    assert "shown for the first 2 rows." in page.text
    assert parse_page(report_page(table_model, explanation, counterfactuals=0)).count("table", "change") == 0
    frozen = ["color"]
    changes = table_model.counterfactuals(new, constraints={"frozen": frozen})
    page = parse_page(report_page(table_model, explanation, counterfactuals=changes))
    assert page.count("table", "change") == changes.found.sum() > 0
    assert "color" not in changes.to_frame()["feature"].to_list()
    for label in changes.labels[changes.found]:
        assert f"the prediction is {label}" in " ".join(page.text.split())


def test_several_counterfactuals_of_a_row_are_shown_with_it(table_model, new, parse_page):
    explanation = table_model.explain(new)
    changes = table_model.counterfactuals_of_explanation(explanation[:3], n_results=2)
    assert len(changes) > changes.n_queries == 3
    for row in range(4):
        own = changes.positions == row
        page = parse_page(report_page(table_model, explanation[[row]], counterfactuals=0))
        assert page.count("table", "change") == 0
        alone = table_model.counterfactuals_of_explanation(explanation[[row]], n_results=2)
        page = parse_page(report_page(table_model, explanation[[row]], counterfactuals=alone))
        if row < 3:
            assert page.count("table", "change") == (own & changes.found).sum()
    page = parse_page(report_page(table_model, explanation, counterfactuals=changes))
    assert page.count("table", "change") == changes.found.sum()


def test_the_page_describes_columns_of_all_kinds(passengers, odd_queries, parse_page):
    frame, _, clf = passengers
    page = parse_page(report_page(clf, clf.explain(odd_queries), title="Passengers"))
    for part in (
        "7: 2 numbers, 2 categories, 1 ordered category, 1 true or false, 1 date",
        "positions of categories (which ones are alike)", "ordered category", "typical values",
        "Row 3100", "Wien", "(in no training row)", "(not measured)",
    ):  # fmt: skip
        assert part in page.text, part
    towns = frame[:300]["Town"].value_counts(dropna=False)
    assert f"{towns.index[0]} {towns.iloc[0] / 300:.0%}" in page.text
    assert f"{frame[:300]['Age'].isna().mean():.0%}" in page.text
    headings = [attributes.get("id") for tag, attributes in page.tags if tag == "h2"]
    assert headings == ["overview", "rows", "model", "columns", "relevance"]


def test_typical_values_are_those_of_the_table_as_it_writes_them(parse_page):
    frame = pd.DataFrame(
        {
            "share": [f"{row} %" for row in range(101)] + [None] * 19,
            "day": [f"{row % 2 + 1:02d}.05.2024" for row in range(120)],
            "color": ["c"] * 48 + ["a"] * 36 + ["b"] * 18 + ["d"] * 12 + ["e"] * 6,
            "member": ["true", "true", "true", "false"] * 30,
            "y": ["u", "v"] * 60,
        }
    )
    model = TableModel.fit(frame, "y", classifier=LANNClassifier(max_iter=0))
    text = parse_page(report_page(model, model.explain(frame, [0]))).text
    for part in (
        "50 % (5 % to 95 %)", "(01.05.2024 to 02.05.2024)", "c 40%, a 30%, b 15% and 2 more",
        "true 75%, false 25%",
    ):  # fmt: skip
        assert part in text, part
