"""The view of an explanation in notebooks."""

import re

import numpy as np

from lann.explain._html import notebook


def widths(view):
    return [float(width) for width in re.findall(r"width:([\d.]+)%", view)]


def test_rows_bars_and_neighbors(two_rows, parse_page):
    view = two_rows._repr_html_()
    page = parse_page(view)
    assert page.count("tr") == 3
    text = " ".join(page.text.split())
    for part in ("benign", "next: malignant 45%", "area", "+ 30%", "− 20%", "45% of the votes"):
        assert part in text
    # Relevances .3, .2, .1 and .3, .2, .005; a relevance that would be shown as 0% has no bar.
    np.testing.assert_allclose(widths(view), [100, 66.7, 33.3, 100, 66.7, 1.7], atol=0.05)
    # In the color of the class that the value supports: of the second row, benign has the most votes, too.
    assert [view.count(f'class="bar c{k}"') for k in (0, 1)] == [4, 2]


def test_names_are_escaped(made, parse_page):
    names = np.array(["<script>alert(1)</script>", 'a"b', "c", "d"], dtype=object)
    view = made(
        [[0.5, 0.3, 0.2]], [["<b>"] * 3], classes=("&x", "<b>"), ids=["<i>"] * 3, feature_names=names
    )._repr_html_()
    page = parse_page(view)
    assert page.count("script") == page.count("i") == 0
    assert page.count("b") == 1  # the prediction
    assert 'title="a&quot;b"' in view
    assert "<script>alert(1)</script>" in page.text


def test_only_the_first_rows(two_rows, monkeypatch):
    monkeypatch.setattr(notebook, "MOST_ROWS", 1)
    assert "and 1 more row<" in two_rows._repr_html_()
    assert "more row" not in two_rows[:1]._repr_html_()


def test_without_supports_there_are_no_signs(made, parse_page):
    view = made([[0.5, 0.3, 0.2]], [["benign"] * 3])._repr_html_()
    np.testing.assert_allclose(widths(view), [100, 75, 50, 0])
    assert "depends on " in parse_page(view).text
    assert "supports it" not in view


def test_no_relevant_feature(made):
    explanation = made([[0.5, 0.3, 0.2]], [["benign"] * 3], np.zeros((1, 2, 4)))
    assert "no single feature" in explanation._repr_html_()


def test_rows_have_their_row_numbers_and_names(two_rows, parse_page):
    from dataclasses import replace

    named = replace(two_rows, query_rows=np.array([7, 9]))
    assert "7 benign" in " ".join(parse_page(named._repr_html_()).text.split())
    named = replace(named, query_ids=np.array(["Ann", "Bea"]))
    assert "Bea benign" in " ".join(parse_page(named._repr_html_()).text.split())
