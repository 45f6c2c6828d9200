"""The table in notebooks: what it shows, and that names cannot break it."""

from html.parser import HTMLParser

import numpy as np

from lann.explain import _notebook


class Page(HTMLParser):
    """Texts, bars and whether every tag is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.widths, self.tags = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.tags.append(tag)
        style = dict(attributes).get("style")
        if style:
            self.widths.append(float(style.removeprefix("width:").removesuffix("%")))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_rows_bars_and_neighbors(two_rows):
    page = Page(two_rows._repr_html_())
    assert page.open == []
    assert page.tags.count("tr") == 3
    text = " ".join(page.texts)
    for part in ("benign", "next: malignant", "area", "+ 30%", "− 20%", "45% of the votes"):
        assert part in text
    # Relevances .3, .2, .1 and .3, .2; what would be 0% has no bar.
    np.testing.assert_allclose(page.widths, [100, 66.7, 33.3, 100, 66.7, 1.7], atol=0.05)


def test_names_are_escaped(made):
    names = np.array(["<script>alert(1)</script>", 'a"b', "c", "d"], dtype=object)
    classes = ("&x", "<b>")
    explanation = made(
        [[0.5, 0.3, 0.2]], [["<b>"] * 3], classes=classes, ids=["<i>"] * 3, feature_names=names
    )
    text = explanation._repr_html_()
    page = Page(text)
    assert page.open == []
    assert not {"script", "b", "i"} & (set(page.tags) - {"b"})
    assert page.tags.count("b") == 1
    assert 'title="a&quot;b"' in text
    assert "<script>alert(1)</script>" in page.texts


def test_only_the_first_rows(two_rows, monkeypatch):
    monkeypatch.setattr(_notebook, "MOST_ROWS", 1)
    assert "and 1 more row<" in two_rows._repr_html_()
    assert "more row" not in two_rows[:1]._repr_html_()


def test_a_model_that_tells_only_what_counts(made):
    page = Page(made([[0.5, 0.3, 0.2]], [["benign"] * 3])._repr_html_())
    np.testing.assert_allclose(page.widths, [100, 75, 50, 0])
    assert "hangs on" in page.texts


def test_nothing_hangs_on_one_feature(made):
    explanation = made([[0.5, 0.3, 0.2]], [["benign"] * 3], np.zeros((1, 2, 4)))
    assert "no single feature" in explanation._repr_html_()
