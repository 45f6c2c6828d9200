"""The columns of a table: their kinds, typical values, and how many values are missing."""

from __future__ import annotations

import numpy as np

from lann._format import counted, percent
from lann._markup import MOST_COLUMNS, Html, element, folded_table, header_cell
from lann._types import Floats
from lann.encoding import Feature, TableSchema
from lann.tables import Column, TableModel

KINDS = {
    "number": ("number", "numbers"),
    "category": ("category", "categories"),
    "ordered": ("ordered category", "ordered categories"),
    "bool": ("true or false", "true or false"),
    "date": ("date", "dates"),
}
# Categories that are listed as typical.
MOST_CATEGORIES = 3
# Characters of a category that are shown.
MOST_CHARACTERS = 40
# The range that most numbers are in.
QUANTILES = (0.05, 0.5, 0.95)


def schema_of(model: TableModel) -> TableSchema | None:
    """Return what the columns are, if the classifier takes them as they are; None otherwise."""
    schema: TableSchema | None = getattr(model.classifier, "schema_", None)
    if schema is None or [feature.name for feature in schema.features] != model.feature_names:
        return None
    return schema


def kinds_text(schema: TableSchema) -> str:
    """Return how many columns are of each kind, such as "3 numbers, 1 category"."""
    kinds = [feature.kind for feature in schema.features]
    return ", ".join(counted(kinds.count(kind), *names) for kind, names in KINDS.items() if kind in kinds)


def columns_section(model: TableModel, n_features: int) -> Html:
    """Return the section about the columns; empty if all are numbers without missing values.

    Parameters
    ----------
    model : TableModel
    n_features : int
        Number of columns that are shown at once.
    """
    schema, X = schema_of(model), model.classifier.model_.X
    if schema is None or (schema.is_numeric and not np.isnan(X).any()):
        return Html("")
    header = [header_cell(name) for name in ("column", "kind", "typical values")]
    header.append(header_cell("missing", number=True))
    lines = [
        element(
            "tr",
            element("th", feature.name, scope="row"),
            element("td", KINDS[feature.kind][0]),
            element("td", typical_text(model.columns[number], feature, X[:, number])),
            element("td", percent(float(np.isnan(X[:, number]).mean())), class_="number"),
        )
        for number, feature in enumerate(schema.features[:MOST_COLUMNS])
    ]
    n_more = len(schema.features) - n_features
    return element(
        "section",
        element("h2", "Columns", id="columns"),
        element(
            "p",
            "The values of the training rows: of numbers and dates the median, and the range of the middle "
            "90%; of categories the most frequent ones.",
        ),
        folded_table("Columns", header, lines, n_features, n_more, class_=None),
        aria_labelledby="columns",
    )


def typical_text(column: Column, feature: Feature, numbers: Floats) -> str:
    """Return typical values of a column as the table writes them.

    Parameters
    ----------
    column : Column
    feature : Feature
    numbers : (n_rows,)
        Its values as numbers, NaN where they are missing.
    """
    present = numbers[~np.isnan(numbers)]
    if feature.kind in ("number", "date"):
        low, middle, high = (
            column.format(feature.value(value)) for value in np.quantile(present, QUANTILES, method="nearest")
        )
        return f"{middle} ({low} to {high})"
    codes, counts = np.unique(present, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    listed = [
        f"{_shortened(column.format(feature.value(codes[i])))} {percent(counts[i] / len(numbers))}"
        for i in order[:MOST_CATEGORIES]
    ]
    n_more = len(codes) - len(listed)
    return ", ".join(listed) + (f" and {n_more} more" if n_more else "")


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"
