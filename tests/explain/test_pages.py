"""Pages of explained rows, and the view in notebooks."""

import os
import re
from dataclasses import replace

import numpy as np
import pytest


def test_the_page_has_the_explained_rows(two_rows, parse_page, tmp_path):
    returned = two_rows.to_html(tmp_path / "page.html", title="A & B", notes=["<b>"])
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text == returned == two_rows.to_html(title="A & B", notes=["<b>"])
    page = parse_page(text)
    assert page.count("details", "row") == 2
    assert page.count("script") == 1
    assert page.count("b") == 0
    for part in (
        "A & B",
        "2 predictions",
        "Note: <b>",
        *two_rows.in_words(),
        "The numbers add up to the probability",
    ):
        assert part in page.text, part


def test_features_beyond_the_first_are_folded(two_rows, parse_page):
    page = parse_page(two_rows.to_html(n_features=1))
    # In each row: as a line of the sum, as a line to open, and as a caption.
    assert page.text.count("3 other columns") == 2 * 3
    assert "other column" not in two_rows.to_html(n_features=4)


def test_columns_of_numbers_are_aligned_to_the_right_also_where_values_are_missing(two_rows, parse_page):
    queries = np.array([[np.nan, np.nan, 1.0, 2.0]] * 2, dtype=object)
    training = np.tile(np.array([2.0, "blue", 3.0, np.nan], dtype=object), (100, 1))
    page = parse_page(replace(two_rows[0], _query_values=queries[:1], _training_values=training).to_html())
    header = [attributes for tag, attributes in page.tags if tag == "th" and attributes.get("scope") == "col"]
    # Reasons: column, this row, adds to; similar cases: row, label, area, depth, texture, width.
    assert [attributes.get("class") for attributes in header[5:9]] == ["number", "number", None, "number"]


def test_invalid_arguments_and_files(two_rows, tmp_path):
    with pytest.raises(ValueError, match="no explained rows"):
        two_rows[:0].to_html()
    with pytest.raises(ValueError, match="n_features must be"):
        two_rows.to_html(n_features=0)
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        two_rows.to_html(tmp_path / "none" / "page.html")
    assert os.listdir(tmp_path) == []


def bars(text):
    """Return the color, the direction, the length and the text of each signed bar."""
    found = re.findall(
        r'<span class="bar signed([^"]*)"[^>]*>'
        r'(?:<span style="(left|right):50%;width:([\d.]+)%"></span>)?</span>'
        r'<span class="amount">([^<]*)',
        text,
    )
    return [(color.strip(), way, float(width or 0), amount.strip()) for color, way, width, amount in found]


def test_bars_are_what_columns_add(two_rows, parse_page):
    text = two_rows[0].to_html()
    assert "what each column adds" in text
    # What is taken away goes to malignant, and has its color; nothing is drawn where there is nothing to see.
    assert bars(text) == [
        ("c0", "left", 50.0, "+30.0%"), ("c1", "right", 33.3, "−20.0%"), ("c0", "left", 16.7, "+10.0%"),
        ("c0", "", 0.0, "0.0%"),
    ]  # fmt: skip
    page = parse_page(text)
    text_of_page = " ".join(page.text.split())
    assert "where nothing is known of the row 80%" in text_of_page
    assert "probability of benign 100%" in text_of_page
    assert text.count('<tr class="uncertain">') == 1


def test_the_probability_is_one_number_everywhere(two_rows, parse_page):
    text = " ".join(parse_page(two_rows[1].to_html()).text.split())
    assert text.count("55%") == 4  # the title, the sentence, the bars and the end of the sum
    assert not re.search(r"\b5[346]%|\b4[346]%", text)


def test_other_columns_are_one_line_and_listed_below(two_rows, parse_page):
    page = parse_page(two_rows[0].to_html(n_features=2))
    assert page.text.count("2 other columns") == 3  # the line of the sum, the line to open, and the caption
    assert "2 other columns +10.0%" in " ".join(page.text.split())
    # A single other column is listed.
    assert "other column" not in parse_page(two_rows[0].to_html(n_features=3)).text


def test_the_model_comes_last_and_is_folded(two_rows, parse_page):
    page = parse_page(two_rows[0].to_html())
    text = " ".join(page.text.split())
    steps = ["Reasons: what each column adds", "Similar cases Of 3", "For analysts: what matters here"]
    positions = [text.index(step, text.index("Explained rows")) for step in steps]
    assert positions == sorted(positions)
    assert page.count("details", "internals") == 1
    assert not any(
        tag == "details" and "internals" in a["class"] and "open" in a
        for tag, a in page.tags
        if a.get("class")
    )


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
    for part in ("benign", "next: malignant 45%", "area", "+30%", "−20%", "2 of 3 benign, 1 malignant"):
        assert part in text
    # Supports .3, −.2, .1 and −.3, .2; those that are not told have no bar.
    np.testing.assert_allclose(widths(view), [100, 66.7, 33.3, 100, 66.7], atol=0.05)
    # In the color of the class that the value supports: of the second row, benign has the most votes, too.
    assert [view.count(f'class="bar c{k}"') for k in (0, 1)] == [3, 2]


def test_names_are_escaped(made, parse_page):
    names = np.array(["<script>alert(1)</script>", 'a"b', "c", "d"], dtype=object)
    view = made(
        [[0.5, 0.3, 0.2]],
        [["<b>"] * 3],
        classes=("&x", "<b>"),
        ids=["<i>"] * 3,
        feature_names=names,
        supports=[[[0.0] * 4, [0.0, 0.2, 0.3, 0.1]]],
    )._repr_html_()
    page = parse_page(view)
    assert page.count("script") == page.count("i") == 0
    assert page.count("b") == 1  # the prediction
    assert 'title="a&#34;b"' in view
    assert "<script>" not in view
