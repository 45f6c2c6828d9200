"""The page of `lann explain --html` as text; tests/browser opens it."""

from __future__ import annotations

import os
import re
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pandas as pd

import lann
from lann.cli.account import percent
from lann.cli.report.markup import Html, element, value_cell

VOID = {"meta", "link"}


class Page(HTMLParser):
    """Checks that elements are closed in order, and gathers what a test asks about."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += f"{data} "

    def count(self, tag: str, class_: str | None = None) -> int:
        return sum(name == tag and class_ in (None, attrs.get("class")) for name, attrs in self.tags)


def report(run, tmp_path, model, data, *arguments) -> Page:
    said = run("explain", model, data, "--html", tmp_path / "r.html", *arguments)
    assert f"Wrote {tmp_path / 'r.html'}" in said
    return Page((tmp_path / "r.html").read_text(encoding="utf-8"))


def test_the_page_has_the_model_the_fingerprints_and_the_rows(run, model, new, tmp_path):
    page = report(run, tmp_path, model, new, "--id", "name", "--row", 4, "--rows", "7:9")
    assert page.count("details", "row") == 3
    for said in (
        "m.skops on new.csv", "78", "4, as 7 features", "Fingerprints", "size [cm]", "color", "Row 4: p4",
        "Row 8: p8", "runner-up", "because in", "speaks for the prediction",
    ):  # fmt: skip
        assert said in page.text, said
    assert "color_" not in page.text
    # Every row: 4 columns, the row itself and 5 neighbors; fingerprints: 4 columns.
    assert page.count("tr") == 3 * (1 + 4 + 1 + 6) + 1 + 4
    headings = [tag for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert headings[0] == "h1"
    assert all(int(after[1]) - int(before[1]) <= 1 for before, after in pairwise(headings))
    assert all("scope" in attrs for tag, attrs in page.tags if tag == "th")
    assert len({attrs["id"] for _, attrs in page.tags if "id" in attrs}) == sum(
        "id" in a for _, a in page.tags
    )


def test_the_numbers_are_those_of_the_table(run, model, new, tmp_path):
    page = report(run, tmp_path, model, new, "--row", 4, "-o", tmp_path / "e.csv")
    out = pd.read_csv(tmp_path / "e.csv")
    for relevance in out["relevance"].unique():
        assert percent(relevance, 1) in page.text
    for share in out["vote_share"].unique():
        assert percent(share) in page.text
    for value in out["neighbor_value"].astype(str):
        assert value in page.text


def test_the_page_needs_nothing_else(run, model, new, tmp_path):
    page = report(run, tmp_path, model, new)
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.count("details", "row") == 10
    assert re.search(r"https?://|url\(|@import", text) is None
    assert page.count("script") == 0
    links = [attrs[name] for _, attrs in page.tags for name in ("src", "href") if name in attrs]
    assert links == ["data:,"]


def test_the_same_twice(run, model, new, tmp_path):
    report(run, tmp_path, model, new)
    first = (tmp_path / "r.html").read_bytes()
    report(run, tmp_path, model, new)
    assert (tmp_path / "r.html").read_bytes() == first


def test_gaps_are_told_from_words(run, model, new, tmp_path):
    page = report(run, tmp_path, model, model.parent / "data.csv", "--row", 5)
    assert page.count("i") == 3  # the row's own color, in both tables, and that of its neighbor
    assert value_cell("missing") != value_cell(None)
    assert value_cell(float("nan")) == value_cell(np.nan)


def test_values_that_training_did_not_have_are_noted(run, model, tmp_path):
    pd.DataFrame(
        {"size [cm]": [170], "color": ["<mauve>"], "member": [True], "noise": [0]}
    ).to_csv(tmp_path / "odd.csv", index=False)  # fmt: skip
    page = report(run, tmp_path, model, tmp_path / "odd.csv")
    assert "Note: Column 'color' has values that training did not have: '<mauve>'." in page.text


def test_many_columns_and_classes_are_folded(run, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(150, 30)), columns=[f"c{place}" for place in range(30)])
    X.head(2).to_csv(tmp_path / "x.csv", index=False)
    y = np.repeat(np.arange(15), 10)
    lann.save(lann.LANNClassifier(7, max_iter=1, power=2.0, random_state=0).fit(X, y), tmp_path / "m")
    page = report(run, tmp_path, tmp_path / "m", tmp_path / "x.csv", "--columns", 4)
    assert page.text.count(" 26 more columns") == 2 * 3  # as a line to open, and as the caption
    assert page.text.count("(runner-up)") == 2
    assert "The 12 largest classes are shown." in page.text
    assert "power=2.0" in page.text


def test_a_model_that_has_learned_nothing(run, tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2))
    pd.DataFrame(X).to_csv(tmp_path / "x.csv", index=False)
    lann.save(lann.LANNClassifier(1, max_iter=0).fit(X, X[:, 0] > 0), tmp_path / "m")
    page = report(run, tmp_path, tmp_path / "m", tmp_path / "x.csv")
    assert "plain nearest neighbors" in page.text
    assert page.count("details", "row") == 20


def test_wrong_files_are_one_sentence(fails, model, new, tmp_path):
    assert "ends in .html" in fails("explain", model, new, "--html", tmp_path / "r.csv")
    assert "no folder" in fails("explain", model, new, "--html", tmp_path / "none" / "r.html")
    many = pd.concat([pd.read_csv(new)] * 60)
    many.to_csv(tmp_path / "many.csv", index=False)
    said = fails("explain", model, tmp_path / "many.csv", "--rows", "0:600", "--html", tmp_path / "r.html")
    assert "at most 500 rows, and 600 are asked for" in said
    assert set(os.listdir(tmp_path)) == {"new.csv", "many.csv"}


def test_text_is_escaped_and_markup_is_not():
    assert element("p", "<b>", Html("<i>x</i>"), title='"&') == '<p title="&quot;&amp;">&lt;b&gt;<i>x</i></p>'
    assert element("p", hidden=True, open=False, id=None) == "<p hidden></p>"


def test_shares_for_people():
    assert [percent(share) for share in (0.0, 0.004, 0.5, 0.999, 1.0)] == ["0%", "<1%", "50%", ">99%", "100%"]
    assert [percent(share, 1) for share in (0.0001, 0.0312, 0.9999, -0.0001)] == [
        "<0.1%",
        "3.1%",
        ">99.9%",
        "0.0%",
    ]
