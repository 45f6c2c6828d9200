"""The report about a classifier that was fitted to a table: kinds of columns, typical values, ids."""

import numpy as np

from lann import LANNClassifier
from lann.encoding import Feature
from lann.report import report_page
from lann.report._explanation.columns import typical_text


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
    assert headings == ["model", "columns", "relevance", "rows"]


def test_numbers_without_gaps_have_no_section(iris, parse_page):
    X, y = iris
    clf = LANNClassifier(random_state=0, max_iter=1).fit(X, y)
    page = parse_page(report_page(clf, clf.explain(X[:2])))
    assert "typical values" not in page.text
    X = X.copy()
    X[:30, 1] = np.nan
    gaps = LANNClassifier(random_state=0, max_iter=1).fit(X, y)
    page = parse_page(report_page(gaps, gaps.explain(X[:2])))
    assert "typical values" in page.text
    assert "20%" in page.text


def test_typical_values():
    numbers = np.array([*np.arange(101.0), np.nan])
    assert typical_text(Feature("x"), numbers) == "50 (5 to 95)"
    days = Feature("day", "date", unit="D")
    assert typical_text(days, np.array([18262.0] * 3)) == "2020-01-01 (2020-01-01 to 2020-01-01)"
    colors = Feature("color", "category", tuple("abcde"))
    codes = np.array([2.0] * 5 + [0.0] * 3 + [1.0] * 2 + [4.0] * 2 + [3.0] + [np.nan] * 7)
    assert typical_text(colors, codes) == "c 25%, a 15%, b 10% and 2 more"
    assert typical_text(Feature("alone", "bool"), np.array([1.0, 1.0, 1.0, 0.0])) == "True 75%, False 25%"
