"""The columns of an explained row: its values in context, and how they add up to the prediction."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from lann import _texts
from lann._format import counted, percent, signed_percent
from lann._markup import (
    MOST_COLUMNS,
    Html,
    bar_cell,
    element,
    folded_table,
    header_cell,
    signed_bar_cell,
    step_bar_cell,
    table,
    value_cell,
)
from lann._types import Floats
from lann.explain._html.scale import Scale
from lann.explain._html.view import RowView

SUPPORTED = "How the prediction adds up"
RELEVANT = "What the prediction depends on"
AROUND = "what matters around this row"


def column_tables(view: RowView, n_features: int, scale: Scale) -> Html:
    """Return the columns of an explained row, those with the largest effect first; others are folded."""
    row, order = view.row, view.order
    if row.support is not None and row.base_values is not None:
        parts = _additive(view, row.support, row.base_values, n_features, scale)
        return Html("".join([element("h4", SUPPORTED), *parts]))
    parts = [element("h4", RELEVANT)]
    if not row.has_relevant_feature:
        parts.append(element("p", _texts.NO_RELEVANT_COLUMN))
    lines = [_line(view, j, [], scale) for j in order[:MOST_COLUMNS]]
    n_more = len(order) - n_features
    parts.append(folded_table(RELEVANT, _header(view), lines, n_features, n_more, class_="columns"))
    return Html("".join(parts))


def _additive(
    view: RowView, support: Floats, base_values: Floats, n_features: int, scale: Scale
) -> list[Html]:
    """Return the vote at the rows of other classes, what each column adds, and the probability.

    The largest steps come first, then one of all other columns; these are listed in a table that is folded.
    """
    row, order = view.row, view.order
    predicted = row.class_index(row.prediction)
    base = float(base_values[predicted])
    # A single other column is listed, too.
    n_shown = len(order) if len(order) <= n_features + 1 else n_features
    shown, rest = order[:n_shown], order[n_shown:]
    remaining = float(support[rest].sum())
    steps = [*support[shown].tolist(), *([remaining] if len(rest) else [])]
    totals = [base, *(base + np.cumsum(steps)).tolist()]
    limits = (min(0.0, *totals), max(1.0, *totals))
    lines = [_total_line(view, [_texts.BASE_VALUE], base, limits, None)]
    ends = list(pairwise(totals))
    for j, (start, end) in zip(shown, ends[: len(shown)], strict=True):
        color = row.supported_class(j)
        cell = step_bar_cell(start, end, limits, _amount(view, j, float(support[j])), color)
        lines.append(_line(view, j, [cell], scale))
    if len(rest):
        color = predicted if remaining >= 0 else row.class_index(row.runner_up)
        lines.append(
            element(
                "tr",
                element("th", counted(len(rest), "other column"), scope="row"),
                element("td"),
                step_bar_cell(*ends[-1], limits, signed_percent(remaining), color),
                *_blank(view),
                class_="others",
            )
        )
    end_name = ["this row: probability of ", view.labeled(row.prediction)]
    lines.append(_total_line(view, end_name, totals[-1], limits, predicted))
    parts = [table(SUPPORTED, _header(view), lines, class_="columns additive")]
    if len(rest):
        folded = [
            _line(view, j, [_signed_cell(view, j, float(support[j]), scale)], scale)
            for j in rest[:MOST_COLUMNS]
        ]
        title = counted(len(rest), "other column")
        if len(folded) < len(rest):
            title += f", {len(folded)} of them here"
        more = table(f"{SUPPORTED}: {title}", _header(view), folded, class_="columns")
        parts.append(element("details", element("summary", f"The {title}"), more))
    return parts


def _header(view: RowView) -> list[Html]:
    row, label = view.row, view.labeled(view.row.prediction)
    header = [header_cell("column"), header_cell("this row", number=True)]
    if row.support is None:
        header.append(header_cell("relevance"))
    else:
        header += [header_cell("adds to ", label), header_cell(AROUND)]
    if row.percentiles is not None:
        header.append(header_cell("percentile"))
    if row.typical is not None:
        header.append(header_cell("typical of ", label))
    return header


def _line(view: RowView, feature: int, bars: list[Html], scale: Scale) -> Html:
    row, value, share = view.row, view.row.values[feature], float(view.row.relevances[feature])
    cells = [
        element("th", row.feature_names[feature], scope="row"),
        value_cell(value, number=isinstance(value, float), note=row.value_note(feature)),
        *bars,
        bar_cell(share, scale.relevance, percent(share, 1)),
    ]
    if row.percentiles is not None:
        cells.append(element("td", row.percentile_text(feature), class_="context"))
    if row.typical is not None:
        cells.append(element("td", str(row.typical[feature]), class_="context"))
    return element("tr", *cells)


def _signed_cell(view: RowView, feature: int, support: float, scale: Scale) -> Html:
    """Return a bar to the right for support, and to the left for opposition."""
    color = view.row.supported_class(feature)
    return signed_bar_cell(support, scale.support, _amount(view, feature, support), color)


def _amount(view: RowView, feature: int, support: float) -> str | Html:
    """Return the support as text; where it is for another one of several classes, with this class."""
    row, supported, text = view.row, view.row.supported_class(feature), signed_percent(support)
    if supported is None or len(row.classes) == 2 or not text.startswith("−"):
        return text
    instead = element("span", "for ", view.labeled(row.classes[supported]), class_="instead")
    return Html(text + instead)


def _total_line(
    view: RowView, name: list[str | Html], total: float, limits: tuple[float, float], color: int | None
) -> Html:
    cell = step_bar_cell(0.0, total, limits, percent(total, 1), color)
    head = element("th", *name, scope="row", colspan="2")
    return element("tr", head, cell, *_blank(view), class_="total")


def _blank(view: RowView) -> list[Html]:
    """Return the empty cells to the right of a step: relevance and context."""
    n_cells = 1 + (view.row.percentiles is not None) + (view.row.typical is not None)
    return [element("td") for _ in range(n_cells)]
