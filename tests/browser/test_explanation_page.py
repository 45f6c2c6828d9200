"""The page of an explanation alone, and the view in notebooks, in a browser."""

from __future__ import annotations

import pytest
from sklearn.datasets import load_wine

from lann import LANNClassifier


@pytest.fixture(scope="module")
def explanation():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return LANNClassifier(max_iter=2, random_state=0).fit(X, y).explain(X[::30])


def test_the_page_of_an_explanation(open_page, explanation, tmp_path):
    explanation.to_html(tmp_path / "e.html")
    page = open_page(tmp_path / "e.html")
    assert page.evaluate("document.querySelectorAll('details.row').length") == 6
    assert page.messages() == []
    assert page.requests() == {(tmp_path / "e.html").as_uri()}
    assert page.least_contrast() >= 4.5


def test_the_view_in_notebooks_does_not_change_the_page_around_it(open_page, explanation, tmp_path):
    outside = "<p>text <span class='bar'>bar</span></p><table><tr><td>cell</td></tr></table>"
    styles = {}
    for name, view in (("with", explanation._repr_html_()), ("without", "")):
        path = tmp_path / f"{name}.html"
        path.write_text(f"<!doctype html>{outside}{view}", encoding="utf-8")
        page = open_page(path)
        styles[name] = page.evaluate(
            "['p', 'span', 'td'].map(tag => JSON.stringify([...Object.values(getComputedStyle("
            "document.querySelector(tag)))].filter(value => typeof value === 'string')))"
        )
        if view:
            assert page.evaluate("document.querySelectorAll('.lann-explanation tbody tr').length") == 5
            widths = page.evaluate(
                "[...document.querySelectorAll('.lann-explanation .bar > span')].map(bar => bar.offsetWidth)"
            )
            assert max(widths) > 50
            assert page.messages() == []
    assert styles["with"] == styles["without"]
