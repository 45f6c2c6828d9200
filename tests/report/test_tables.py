"""The report about a classifier that was fitted to a table: kinds of columns, typical values, ids."""

import numpy as np
import pandas as pd

from lann import LANNClassifier
from lann.report import report_page
from lann.tables import TableModel


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
    assert headings == ["overview", "model", "columns", "relevance", "rows"]


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


def test_typical_values_are_those_of_the_table_as_it_writes_them(parse_page):
    frame = pd.DataFrame(
        {
            "share": [f"{row} %" for row in range(101)] + [None] * 19,
            "day": [f"{row % 2 + 1:02d}.05.2024" for row in range(120)],
            "color": ["c"] * 48 + ["a"] * 36 + ["b"] * 18 + ["d"] * 12 + ["e"] * 6,
            "member": ["true", "true", "true", "false"] * 30,
            "y": ["u", "v"] * 60,
        }
    )
    model = TableModel.fit(frame, "y", classifier=LANNClassifier(max_iter=0))
    text = parse_page(report_page(model, model.explain(frame, [0]))).text
    for part in (
        "50 % (5 % to 95 %)", "(01.05.2024 to 02.05.2024)", "c 40%, a 30%, b 15% and 2 more",
        "true 75%, false 25%",
    ):  # fmt: skip
        assert part in text, part
