"""The tables of an explained row: its columns, and its neighbors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lann import _texts
from lann._format import is_missing, percent, signed_percent
from lann._markup import (
    MOST_COLUMNS,
    Html,
    bar_cell,
    class_label,
    element,
    folded_table,
    header_cell,
    signed_bar_cell,
    table,
    value_cell,
)
from lann._types import Floats
from lann.explain._explained_row import ExplainedRow
from lann.explain._html.scale import Scale


def column_tables(row: ExplainedRow, n_features: int, scale: Scale) -> Html:
    """Return the columns of an explained row, the most relevant first; further ones are folded."""
    header = [header_cell("column"), header_cell("this row", number=True), header_cell("relevance")]
    signed: list[tuple[Floats, float]] = []
    if row.support is not None:
        header.append(header_cell("for and against ", labeled(row, row.prediction)))
        signed.append((row.support, scale.support))
    if row.separation is not None and len(row.classes) > 2:
        header.append(header_cell("lead over ", labeled(row, row.runner_up)))
        signed.append((row.separation, scale.separation))
    header.append(header_cell("share of distance", number=True))
    shares = row.distance_shares
    lines = [
        element(
            "tr",
            element("th", row.feature_names[j], scope="row"),
            value_cell(row.values[j], number=isinstance(row.values[j], float), note=row.value_note(j)),
            bar_cell(row.relevances[j], scale.relevance, percent(row.relevances[j], 1)),
            *[signed_bar_cell(by[j], full, signed_percent(by[j])) for by, full in signed],
            element("td", percent(shares[j], 1), class_="number"),
        )
        for j in range(min(len(row.feature_names), MOST_COLUMNS))
    ]
    caption = "What the prediction depends on"
    parts = [element("h4", caption)]
    if not row.has_relevant_feature:
        parts.append(element("p", _texts.NO_RELEVANT_COLUMN))
    n_more = len(row.feature_names) - n_features
    parts.append(folded_table(caption, header, lines, n_features, n_more, class_="columns"))
    return Html("".join(parts))


def neighbor_table(row: ExplainedRow, n_features: int) -> Html:
    """Return the neighbors of an explained row, with their values beside those of the row."""
    columns = _shown_columns(row, n_features)
    ids = None if row.neighbors_by_id else row.neighbor_ids
    names = row.neighbor_ids if row.neighbors_by_id and row.neighbor_ids is not None else row.neighbors
    header = [
        header_cell("row"),
        *([] if ids is None else [header_cell("id")]),
        header_cell("label"),
        header_cell("votes"),
        header_cell("distance", number=True),
        *[header_cell(column.name, number=column.is_numeric) for column in columns],
    ]
    lines = [
        element(
            "tr",
            element("th", "this row", scope="row"),
            *([] if ids is None else [element("td", row.id or "")]),
            element("td", "?"),
            element("td"),
            element("td"),
            *[value_cell(column.values[0], number=column.is_numeric) for column in columns],
            class_="this-row",
        )
    ]
    largest = max(row.vote_shares.max(), 0.0 if row.others is None else row.others.vote_share)
    for k, share in enumerate(row.vote_shares[: row.n_listed]):
        lines.append(
            element(
                "tr",
                element("th", str(names[k]), scope="row"),
                *([] if ids is None else [element("td", str(ids[k]))]),
                element("td", labeled(row, row.neighbor_labels[k])),
                bar_cell(share, largest, percent(share)),
                element("td", f"{row.distances[k]:.3g}", class_="number"),
                *[value_cell(column.values[1 + k], number=column.is_numeric) for column in columns],
            )
        )
    if row.others is not None:
        lines.append(
            element(
                "tr",
                element("th", row.others.title, scope="row"),
                *([] if ids is None else [element("td")]),
                element("td", row.others.label_text),
                bar_cell(row.others.vote_share, largest, percent(row.others.vote_share)),
                *[element("td") for _ in range(1 + len(columns))],
                class_="others",
            )
        )
    caption = "The training rows that voted, nearest first"
    return Html(element("h4", caption) + table(caption, header, lines, class_="neighbors"))


class _Column(NamedTuple):
    """A column with the values of a row and of its neighbors that are listed: (1 + n_listed,)."""

    name: str
    values: list[Any]

    @property
    def is_numeric(self) -> bool:
        return all(isinstance(value, float) or is_missing(value) for value in self.values)


def _shown_columns(row: ExplainedRow, n_features: int) -> list[_Column]:
    """Return the most relevant columns; none if the values of the neighbors are unknown."""
    if row.neighbor_values is None:
        return []
    listed = row.neighbor_values[: row.n_listed, :n_features]
    values = np.concatenate([row.values[None, :n_features], listed])
    return [_Column(str(row.feature_names[j]), column) for j, column in enumerate(values.T.tolist())]


def labeled(row: ExplainedRow, label: object) -> Html:
    """Return one of the labels of a row in the color of its class."""
    return class_label(label, row.class_index(label))
