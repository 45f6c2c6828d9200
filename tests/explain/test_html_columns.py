"""The columns of an explained row: what each adds to the prediction, from the base value."""

import re

import numpy as np
import pytest

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


def test_without_supports_there_are_relevances_alone(made, parse_page):
    text = made([[0.5, 0.3, 0.2]], [["benign"] * 3]).to_html()
    assert steps(text) == []
    assert "What the prediction depends on" in text
    header = " ".join(parse_page(text).text.split())
    assert "column this row relevance" in header
    assert "adds to" not in header


def test_of_several_classes_the_one_that_gains_is_named(made, parse_page):
    supports = [[0.6, -0.3, 0.0, 0.0], [-0.5, 0.1, 0.0, 0.0], [-0.1, 0.2, 0.0, 0.0]]
    explanation = made([[0.5, 0.3, 0.2]], [["a"] * 3], [supports], classes=("a", "b", "c"))
    row = explanation.row(0)
    assert [row.supported_class(list(row.feature_names).index(name)) for name in ("area", "texture")] == [
        0,
        2,
    ]
    assert "−30.0% for c" in " ".join(parse_page(explanation.to_html()).text.split())
    assert [kind for kind, *_ in steps(explanation.to_html())][:3] == ["", "c0", "c2"]


def test_values_have_their_percentile_and_what_is_typical(iris, parse_page):
    from lann import LANNClassifier

    X, y = iris
    explanation = LANNClassifier(max_iter=0).fit(X, y).explain(X[[0, 60]], leave_out=None)
    text = parse_page(explanation.to_html()).text
    row = explanation.row(0)
    assert row.typical[0] in text
    assert row.percentile_text(0) in text
    assert "percentile" in text
