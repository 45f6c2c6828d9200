"""The page of an explanation alone."""

import os

import numpy as np
import pytest

from lann import LANNClassifier


def test_the_page_has_the_explained_rows(two_rows, parse_page, tmp_path):
    two_rows.save_html(tmp_path / "page.html", title="A & B", notes=["<b>"])
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text == two_rows.to_html(title="A & B", notes=["<b>"])
    page = parse_page(text)
    assert page.count("details", "row") == 2
    assert page.count("script") == 1
    assert page.count("b") == 0
    for part in ("A & B", "2 predictions", "Note: <b>", *two_rows.in_words(), "The numbers add up exactly"):
        assert part in page.text, part


def test_features_beyond_the_first_are_folded(two_rows, parse_page):
    page = parse_page(two_rows.to_html(n_features=1))
    # In each row: as a step, as a line to open, and as a caption.
    assert page.text.count("3 other columns") == 2 * 3
    assert "other column" not in two_rows.to_html(n_features=4)


def test_columns_of_numbers_are_aligned_to_the_right_also_where_values_are_missing(two_rows, parse_page):
    queries = np.array([[np.nan, np.nan, 1.0, 2.0]] * 2, dtype=object)
    training = np.tile(np.array([2.0, "blue", 3.0, np.nan], dtype=object), (100, 1))
    page = parse_page(two_rows[0].with_values(queries[:1], training).to_html())
    header = [attributes for tag, attributes in page.tags if tag == "th" and attributes.get("scope") == "col"]
    # Of the neighbors: row, label, votes, distance, area, depth, texture, width.
    assert [attributes.get("class") for attributes in header[-4:]] == ["number", "number", None, "number"]


def test_invalid_arguments_and_files(two_rows, tmp_path):
    with pytest.raises(ValueError, match="no explained rows"):
        two_rows[:0].to_html()
    with pytest.raises(ValueError, match="n_features must be"):
        two_rows.to_html(n_features=0)
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        two_rows.save_html(tmp_path / "none" / "page.html")
    assert os.listdir(tmp_path) == []


def test_one_neighbor_and_nothing_learned(parse_page):
    X = np.random.default_rng(0).normal(size=(40, 2))
    explanation = LANNClassifier(1, max_iter=0).fit(X, X[:, 0] > 0).explain(X[:4])
    assert parse_page(explanation.to_html()).count("details", "row") == 4
