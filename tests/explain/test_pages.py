"""Pages of explained rows, and the view in notebooks."""

import os
import re

import numpy as np
import pytest


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


# Of the first row, benign: .1 + .6 + .4 − .15 + .05 = 1.
SUPPORT = [0.6, 0.4, -0.15, 0.05]


@pytest.fixture
def additive(made):
    """A row whose running total passes 1."""
    return made([[0.5, 0.3, 0.2]], [["benign"] * 3], [[SUPPORT, [-value for value in SUPPORT]]])


def steps(text):
    """Return the left end, the length and the text of each step, and its classes."""
    found = re.findall(
        r'<span class="bar step([^"]*)"[^>]*><span style="left:([\d.]+)%;width:([\d.]+)%"></span></span>'
        r'<span class="amount">([^<]*)',
        text,
    )
    return [(kind.strip(), float(left), float(width), amount) for kind, left, width, amount in found]


def test_the_steps_lead_from_the_base_value_to_the_probability(additive, parse_page):
    text = additive.to_html()
    assert "How the prediction adds up" in text
    found = steps(text)
    assert [amount for *_, amount in found] == ["10.0%", "+60.0%", "+40.0%", "−15.0%", "+5.0%", "100.0%"]
    # The scale ends at the largest total, 1.1.
    ends = np.array([0.1, 0.7, 1.1, 0.95, 1.0])
    lows = np.minimum(ends[:-1], ends[1:])
    np.testing.assert_allclose([left for _, left, *_ in found[1:-1]], 100 * lows / 1.1, atol=0.01)
    lengths = [0.1, 0.6, 0.4, 0.15, 0.05, 1.0]
    np.testing.assert_allclose([width for _, _, width, _ in found], np.array(lengths) / 0.011, atol=0.01)
    # What is taken away goes to malignant, and has its color.
    assert [kind for kind, *_ in found] == ["", "c0", "c0", "c1", "c0", "c0"]
    assert parse_page(text).count("table", "columns additive") == 1


def test_other_columns_are_one_step_and_listed_below(additive, parse_page):
    found = steps(additive.to_html(n_features=2))
    assert [amount for *_, amount in found] == ["10.0%", "+60.0%", "+40.0%", "−10.0%", "100.0%"]
    page = parse_page(additive.to_html(n_features=2))
    assert page.text.count("2 other columns") == 3  # the step, the line to open, and the caption
    assert page.count("table", "columns") == 1
    # A single other column is listed.
    assert "other column" not in parse_page(additive.to_html(n_features=3)).text


def test_values_have_their_percentile_and_what_is_typical(iris, parse_page):
    from lann import LANNClassifier

    X, y = iris
    explanation = LANNClassifier(max_iter=0).fit(X, y).explain(X[[0, 60]], leave_out=None)
    text = parse_page(explanation.to_html()).text
    row = explanation.row(0)
    assert row.typical[0] in text
    assert row.percentile_text(0) in text
    assert "percentile" in text


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
    assert 'title="a&#34;b"' in view
    assert "<script>alert(1)</script>" in page.text
