"""The table of all explained rows of a page: to sort, to search and to filter."""

from __future__ import annotations

from lann._format import counted, is_missing, percent, signed_percent, value_text
from lann._markup import Html, element, header_cell, table
from lann.explain._html.view import RowView

# Columns that are named as reasons of a prediction, and characters of a value that are shown.
MOST_REASONS, MOST_CHARACTERS = 3, 24
# The least support, or relevance where supports are unknown, of a reason: a hundredth of the vote.
LEAST_REASON = 0.01

FLAGS = {
    "mistake": ("mistakes", "predicted wrongly"),
    "doubtful": ("doubtful", "the runner-up has almost as many votes"),
    "ambiguous": ("ambiguous", "the certainty of the prediction is below what is required"),
    "far": ("far", "nothing similar was seen"),
}
REJECTED = "rejected"
FILTERS = {REJECTED: (REJECTED, "the reject option gives no prediction"), **FLAGS}


def overview(views: list[RowView]) -> Html:
    """Return the section with a line for each row; it can be read without the script."""
    decided = views[0].row.decision is not None
    unused = "doubtful" if decided else "ambiguous"
    counts = {flag: sum(flag in view.flags for view in views) for flag in FLAGS if flag != unused}
    if decided:
        counts = {REJECTED: sum(view.is_rejected for view in views)} | counts
    known = any(view.row.true_label is not None for view in views)
    return element(
        "section",
        element("h2", "Overview", id="overview"),
        element("p", _summary(views, counts, known=known)),
        _controls(counts, known=known),
        table(
            "All explained rows", _header(views, known=known), _lines(views, known=known), class_="overview"
        ),
        aria_labelledby="overview",
    )


def _summary(views: list[RowView], counts: dict[str, int], *, known: bool) -> str:
    parts = []
    if known:
        n_known = sum(view.row.true_label is not None for view in views)
        n_correct = n_known - counts["mistake"]
        parts.append(
            f"{n_correct:,} of {counted(n_known, 'row')} with a known label "
            f"{'is' if n_known == 1 else 'are'} predicted correctly ({percent(n_correct / n_known)})."
        )
    if REJECTED in counts:
        return " ".join([*parts, *_rejected(views, counts, known=known)])
    n_doubtful, n_far = counts["doubtful"], counts["far"]
    if n_doubtful:
        rows = "row is" if n_doubtful == 1 else "rows are"
        parts.append(
            f"{n_doubtful:,} {rows} doubtful: the prediction has less than 20% of the votes more than the "
            "runner-up."
        )
    if n_far:
        rows = "row is" if n_far == 1 else "rows are"
        parts.append(f"{n_far:,} {rows} far from all training rows: nothing similar was seen.")
    return " ".join(parts) or "No row is doubtful: every prediction has a clear majority of the votes."


def _rejected(views: list[RowView], counts: dict[str, int], *, known: bool) -> list[str]:
    """Return sentences about the rows that are rejected, and about the others."""
    n_rejected, n_ambiguous = counts[REJECTED], counts["ambiguous"]
    rows = f"{n_rejected:,} of {counted(len(views), 'row')} {'is' if n_rejected == 1 else 'are'} rejected"
    parts = [f"{rows} ({percent(n_rejected / len(views))})" if n_rejected else "No row is rejected"]
    if n_rejected:
        parts[0] += f": {n_ambiguous:,} ambiguous, {n_rejected - n_ambiguous:,} far"
    labeled = [view for view in views if view.row.true_label is not None and not view.is_rejected]
    if known and n_rejected and labeled:
        n_correct = sum(not view.is_mistake for view in labeled)
        share = percent(n_correct / len(labeled))
        parts.append(
            f"of the {counted(len(labeled), 'accepted row')} with a known label, {n_correct:,} "
            f"{'is' if n_correct == 1 else 'are'} predicted correctly ({share})"
        )
    return [f"{part[0].upper()}{part[1:]}." for part in parts]


def _controls(counts: dict[str, int], *, known: bool) -> Html:
    """Return the search and the filters, which the script shows."""
    search = element(
        "label",
        element("span", "Search"),
        element(
            "input",
            id="search",
            type="search",
            placeholder="row, class or column",
            autocomplete="off",
            spellcheck="false",
        ),
    )
    boxes = [
        element(
            "label",
            element("input", type="checkbox", data_flag=flag),
            element("span", f"{FILTERS[flag][0]} ({count:,})"),
            title=f"Show only rows that are {FILTERS[flag][0]}: {FILTERS[flag][1]}",
            class_="checkbox",
        )
        for flag, count in counts.items()
        if known or flag != "mistake"
    ]
    return element(
        "div",
        search,
        element("span", "Only", class_="soft"),
        *boxes,
        element("span", id="count", class_="soft", role="status"),
        class_="controls",
        id="controls",
        hidden=True,
    )


def _header(views: list[RowView], *, known: bool) -> list[Html]:
    names = ["row"]
    if any(view.id_beside_row for view in views):
        names.append("id")
    if known:
        names.append("truth")
    header = [header_cell(name) for name in [*names, "prediction"]]
    header.append(header_cell("probability", number=True))
    return [*header, *(header_cell(name) for name in ("runner-up", "flags", "strongest reasons"))]


def _lines(views: list[RowView], *, known: bool) -> list[Html]:
    has_ids = any(view.id_beside_row for view in views)
    return [_line(view, has_id=has_ids, known=known) for view in views]


def _line(view: RowView, *, has_id: bool, known: bool) -> Html:
    row = view.row
    cells = [element("th", element("a", view.name, href=f"#{view.anchor}"), scope="row", data_key=view.name)]
    if has_id:
        cells.append(element("td", row.id or "", class_="text"))
    if known:
        cells.append(element("td", "" if view.row.true_label is None else view.labeled(view.row.true_label)))
    cells += [
        element("td", view.labeled(row.prediction)),
        element("td", percent(row.probability), class_="number", data_key=f"{row.probability:.6f}"),
        element("td", view.labeled(row.runner_up), class_="soft-label"),
        element("td", flags(view), data_key=f"{len(view.flags)} {' '.join(view.flags)}"),
        element("td", *_reasons(view), class_="reasons"),
    ]
    marks = [*view.flags, REJECTED] if view.is_rejected else view.flags
    return element("tr", *cells, data_row=view.anchor, data_flags=" ".join(marks))


def flags(view: RowView) -> Html:
    """Return the flags of a row: mistake, doubtful or ambiguous, far; that of a rejected row says so."""
    decision = view.row.decision
    marks = []
    for flag in view.flags:
        is_reason = decision is not None and decision.is_rejected and decision.decision == flag
        text = f"{REJECTED}: {flag}" if is_reason else flag
        marks.append(element("span", text, class_=f"flag {flag}", title=FLAGS[flag][1]))
    return Html(" ".join(marks))


def _reasons(view: RowView) -> list[str | Html]:
    """Return the columns whose values support the prediction most, with values and supports."""
    row, order = view.row, view.order
    reasons = row.relevances if row.support is None else row.support
    found = [j for j in sorted(order, key=lambda j: -reasons[j]) if reasons[j] >= LEAST_REASON][:MOST_REASONS]
    if not found:
        return ["no single column"]
    parts: list[str | Html] = []
    for j in found:
        amount = percent(reasons[j]) if row.support is None else signed_percent(reasons[j])
        # A group of columns has no value of its own.
        value = "" if is_missing(row.values[j]) else f" {_shortened(value_text(row.values[j]))}"
        parts += [", "] if parts else []
        parts += [f"{row.feature_names[j]}{value} ", element("span", amount, class_="soft")]
    return parts


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"
