"""The tables of an explained row beside those of its columns: neighbors, contrast and counterfactual."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lann._format import counted, is_missing, percent
from lann._markup import Html, bar_cell, element, header_cell, table, value_cell
from lann.explain._explained_row import MOST_LABELS, Others
from lann.explain._html.view import RowView

# Columns that are listed of those that keep a row of another class away, and the least share of the distance.
MOST_KEEPING, LEAST_KEEPING = 5, 0.01


def neighbor_table(view: RowView, n_features: int) -> Html:
    """Return the neighbors of an explained row, with their values beside those of the row."""
    row = view.row
    columns = _shown_columns(view, n_features)
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
            element("td", "?" if row.true_label is None else view.labeled(row.true_label)),
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
                element("th", view.training_row(row.neighbors[k], str(names[k])), scope="row"),
                *([] if ids is None else [element("td", str(ids[k]))]),
                element("td", view.labeled(row.neighbor_labels[k])),
                bar_cell(share, largest, percent(share), row.class_index(row.neighbor_labels[k])),
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
                element("td", *_other_labels(view, row.others)),
                bar_cell(row.others.vote_share, largest, percent(row.others.vote_share)),
                *[element("td") for _ in range(1 + len(columns))],
                class_="others",
            )
        )
    caption = "The training rows that voted, nearest first"
    return Html(element("h4", caption) + table(caption, header, lines, class_="neighbors"))


def _other_labels(view: RowView, others: Others) -> list[str | Html]:
    """Return how many of the neighbors that are not listed have each label, the most frequent ones."""
    parts: list[str | Html] = []
    for label, count in others.labels[:MOST_LABELS]:
        parts.append(element("span", view.labeled(label), f" ×{count}"))
    n_more = len(others.labels) - MOST_LABELS
    return [*parts, *([f"and {n_more} more"] if n_more > 0 else [])]


class _Column(NamedTuple):
    """A column with the values of a row and of its neighbors that are listed: (1 + n_listed,)."""

    name: str
    values: list[Any]

    @property
    def is_numeric(self) -> bool:
        return all(isinstance(value, float) or is_missing(value) for value in self.values)


def _shown_columns(view: RowView, n_features: int) -> list[_Column]:
    """Return the columns with the largest effect; none if the values of the neighbors are unknown."""
    row, shown = view.row, view.order[:n_features]
    if row.neighbor_values is None:
        return []
    values = np.concatenate([row.values[None, shown], row.neighbor_values[: row.n_listed, shown]])
    return [
        _Column(str(row.feature_names[j]), column) for j, column in zip(shown, values.T.tolist(), strict=True)
    ]


def contrast_table(view: RowView) -> Html:
    """Return the nearest training row of another class, and the columns that keep it away."""
    contrast, i, row = view.details.contrast, view.position, view.row
    if contrast is None:
        return Html("")
    total = float(contrast.contributions[i].sum())
    shares = contrast.contributions[i] / total if total > 0 else np.zeros(len(contrast.feature_names))
    order = np.argsort(-shares, kind="stable")
    listed = [j for j in order[:MOST_KEEPING] if shares[j] >= LEAST_KEEPING]
    number, label = int(contrast.rows[i]), contrast.labels[i]
    id = None if contrast.ids is None else str(contrast.ids[i])
    name = f"row {number}" if id is None or id == str(number) else f"row {number}: {id}"
    if row.neighbors_by_id and id is not None:
        name = f"row {id}"
    texts: list[str | Html] = [view.training_row(number, name), " (", view.labeled(label)]
    parts = [element("h4", "The nearest row of another class")]
    if not listed:
        parts.append(element("p", *texts, ") has the same values in all columns that are measured."))
        return Html("".join(parts))
    nearest = f"), at distance {contrast.distances[i]:.3g}"
    compared = f"; the nearest row that voted is at {row.distances[0]:.3g}" if len(row.distances) else ""
    parts.append(element("p", *texts, f"{nearest}{compared}. These columns keep it away:"))
    full = float(shares[listed[0]])
    values = [(contrast.query_values[i][j], contrast.row_values[i][j]) for j in listed]
    is_number = [all(isinstance(v, float) or is_missing(v) for v in pair) for pair in values]
    lines = [
        element(
            "tr",
            element("th", str(contrast.feature_names[j]), scope="row"),
            *[value_cell(value, number=number) for value in pair],
            bar_cell(float(shares[j]), full, percent(float(shares[j]))),
        )
        for j, pair, number in zip(listed, values, is_number, strict=True)
    ]
    if n_more := len(order) - len(listed):
        rest = percent(max(1 - float(shares[listed].sum()), 0.0))
        cells = [element("td"), element("td"), element("td", rest, class_="bars")]
        name_cell = element("th", counted(n_more, "other column"), scope="row")
        lines.append(element("tr", name_cell, *cells, class_="others"))
    header = [
        header_cell("column"),
        header_cell("this row", number=True),
        header_cell("that row", number=True),
    ]
    header.append(header_cell("share of the distance"))
    parts.append(table("Columns that keep it away", header, lines, class_="contrast"))
    return Html("".join(parts))


def change_table(view: RowView) -> Html:
    """Return the smallest change that was found to lead to another prediction."""
    found, position = view.details.counterfactuals, view.position
    if found is None or position >= len(found):
        return Html("")
    heading = element("h4", "What would change the prediction")
    if str(found.predictions[position]) != str(view.row.prediction):
        text = (
            "Not computed: this training row is in the model, and without its own vote the prediction is "
            "another one."
        )
        return Html(heading + element("p", text, class_="soft"))
    if not found.found[position]:
        text = "No change of up to three columns was found that leads to another prediction."
        return Html(heading + element("p", text))
    changed = np.flatnonzero(found.changed[position])
    header = [
        header_cell("column"),
        header_cell("this row", number=True),
        header_cell("changed to", number=True),
    ]
    lines = []
    for j in changed:
        pair = found.query_values[position][j], found.row_values[position][j]
        number = all(isinstance(value, float) or is_missing(value) for value in pair)
        name = element("th", str(found.feature_names[j]), scope="row")
        lines.append(element("tr", name, *[value_cell(value, number=number) for value in pair]))
    probability, itself = "", "" if view.row.left_out is None else ", by the whole model with this row in it"
    if found.row_probabilities is not None:
        probability = f", with probability {percent(float(found.row_probabilities[position]))}"
    text = element(
        "p",
        "With this change, the smallest that was found, the prediction is ",
        view.labeled(found.labels[position]),
        f"{probability}{itself}:",
    )
    return Html(heading + text + table("The change", header, lines, class_="change"))
