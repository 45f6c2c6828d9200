"""The report of explained predictions as text; tests/browser opens it."""

import os
import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from lann import LANNClassifier
from lann._format import percent
from lann.baselines import LMNN
from lann.report import report_page, save_report


@pytest.fixture
def new(make_table):
    return make_table(10)


def test_the_page_has_the_model_the_relevant_columns_and_the_rows(table_model, new, parse_page):
    explanation = table_model.explain(new, [4, 7, 8], id="name")
    page = parse_page(report_page(table_model, explanation, title="m on new"))
    assert page.count("details", "row") == 3
    for part in (
        "m on new", "78", "Relevant columns by class", "size [cm]", "color",
        "Row 4: p4", "Row 8: p8", "runner-up", "because it is similar to", "supports the prediction",
    ):  # fmt: skip
        assert part in page.text, part
    # Every row: 4 columns, the row itself, 5 neighbors and the others; the columns of the model: 4, twice.
    assert page.count("tr") == 3 * (1 + 4 + 1 + 7) + 2 * (1 + 4)
    assert "2 others" in page.text


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
    frame = explanation.to_long_frame()
    for relevance in frame["relevance"].unique():
        assert percent(relevance, 1) in page.text
    row = explanation.row(0)
    for share in [*row.vote_shares[: row.n_listed], row.others.vote_share]:
        assert percent(share) in page.text
    listed = frame[frame["neighbor_row"].isin(row.neighbors[: row.n_listed])]
    for value in listed["neighbor_value"]:
        assert value in page.text


def test_the_page_loads_nothing(table_model, new, parse_page):
    text = report_page(table_model, table_model.explain(new))
    page = parse_page(text)
    assert page.count("details", "row") == 10
    assert re.search(r"https?://|url\(|@import", text) is None
    assert page.count("script") == 0
    links = [
        attributes[name] for _, attributes in page.tags for name in ("src", "href") if name in attributes
    ]
    assert links == ["data:,"]


def test_the_page_is_the_same_every_time(table_model, new, tmp_path):
    explanation = table_model.explain(new)
    save_report(tmp_path / "r.html", table_model, explanation)
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == report_page(table_model, explanation)


def test_missing_values_differ_from_text(table_model, training_frame, parse_page):
    page = parse_page(report_page(table_model, table_model.explain(training_frame, [5], leave_out=None)))
    assert page.count("i") == 3  # the color of the row, in both tables, and that of its neighbor


def test_notes_are_escaped(table_model, new, parse_page):
    page = parse_page(report_page(table_model, table_model.explain(new), notes=["'<mauve>' is new."]))
    assert "Note: '<mauve>' is new." in page.text


def test_many_columns_and_classes_are_folded(parse_page):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(150, 30)), columns=[f"c{j}" for j in range(30)])
    clf = LANNClassifier(7, max_iter=1, power=2.0, random_state=0).fit(X, np.repeat(np.arange(15), 10))
    page = parse_page(report_page(clf, clf.explain(X[:2]), n_features=4))
    assert page.text.count(" 26 more columns") == 2 * 3  # as a line to open, and as the caption
    assert page.text.count("(runner-up)") == 2
    assert "The 12 largest classes are shown." in page.text
    assert "power=2.0" in page.text


def test_correlated_columns_are_noted(parse_page):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    X["copy of a"] = X["a"] + rng.normal(0, 1e-3, 60)
    clf = LANNClassifier(max_iter=1, random_state=0).fit(X, X["a"] > 0)
    assert "a, copy of a" in parse_page(report_page(clf, clf.explain(X[:1]))).text


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
    with pytest.raises(ValueError, match="no explained rows"):
        save_report(tmp_path / "r.html", table_model, explanation[:0])
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        save_report(tmp_path / "none" / "r.html", table_model, explanation)
    assert os.listdir(tmp_path) == []
