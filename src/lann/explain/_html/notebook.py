"""The view of an explanation in notebooks: a small table of its first rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lann._class_colors import N_COLORS, class_color
from lann._format import counted, percent
from lann._markup import Html, bar, element, read_resource
from lann.explain._explained_row import ExplainedRow, others_text

if TYPE_CHECKING:
    from lann.explain._explanation import Explanation

MOST_ROWS = 5
MOST_FEATURES = 5
MOST_NEIGHBORS = 5
# The least relevance that is shown: one that is not rounded to 0%.
LEAST_SHOWN = 0.005


def notebook_view(explanation: Explanation) -> str:
    """Return the first rows as a table, which notebooks show for an explanation.

    Bars are the relevances of the features that a prediction depends on most. Their color is that of the
    class that the value supports, and the sign says whether it supports the prediction or opposes it. The
    table loads nothing and runs no script.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> view = LANNClassifier(random_state=0).fit(X, y).explain(X[:20])._repr_html_()
    >>> view.count("<tr>"), "and 15 more rows" in view
    (6, True)
    """
    rows = list(explanation[:MOST_ROWS].rows())
    full = max((float(row.relevances.max()) for row in rows), default=0.0)
    signs = ": + supports it, − opposes it" if explanation.has_supports else ""
    header = [element("th", text) for text in ("", "prediction", f"depends on{signs}", "neighbors")]
    n_more = len(explanation) - len(rows)
    styles = read_resource("lann.explain._html", "notebook.css") + _class_styles(explanation)
    return element(
        "div",
        Html(f"<style>{styles}</style>"),
        element("p", repr(explanation), class_="soft"),
        element(
            "table",
            element("thead", element("tr", *header)),
            element("tbody", *[_row(row, full) for row in rows]),
        ),
        *([element("p", f"and {counted(n_more, 'more row')}", class_="soft")] if n_more else []),
        class_="lann-explanation",
    )


def _class_styles(explanation: Explanation) -> str:
    """Return style sheets with the colors of the classes."""
    sheets = []
    for k in range(min(len(explanation.classes), N_COLORS)):
        marks = f".lann-explanation .bar.c{k} span, .lann-explanation b.c{k}::before"
        sheets.append(f"{marks} {{ background: {class_color(k)}; }}\n")
    return "".join(sheets)


def _row(row: ExplainedRow, full: float) -> Html:
    cells: list[list[str] | list[Html]] = [
        [str(row.row) if row.id is None else row.id],
        _prediction(row),
        _features(row, full),
        _neighbors(row),
    ]
    return element("tr", *[element("td", *cell) for cell in cells])


def _prediction(row: ExplainedRow) -> list[Html]:
    next_best = f"next: {row.runner_up} {percent(row.runner_up_probability)}"
    return [
        element(
            "div",
            element("b", str(row.prediction), class_=f"c{row.class_index(row.prediction) % N_COLORS}"),
            f" {percent(row.probability)}",
        ),
        element("div", next_best, class_="soft"),
        *_decision(row),
    ]


def _decision(row: ExplainedRow) -> list[Html]:
    """Return a line that says why the prediction was rejected, if it was."""
    decision = row.decision
    if decision is None or not decision.is_rejected:
        return []
    return [element("div", element("strong", f"rejected: {decision.decision}"), title=decision.reason)]


def _features(row: ExplainedRow, full: float) -> list[Html]:
    lines = []
    for j, relevance in enumerate(row.relevances[:MOST_FEATURES]):
        if row.support is not None and relevance < LEAST_SHOWN:
            break
        name, text = str(row.feature_names[j]), f"{relevance:.3g}"
        if row.support is not None:
            text = f"{'+' if row.support[j] >= 0 else '−'} {percent(relevance)}"
        lines.append(
            element(
                "div",
                element("span", name, class_="name", title=name),
                bar(relevance, full, row.supported_class(j)),
                element("span", text),
            )
        )
    return lines or [element("span", "no single feature", class_="soft")]


def _neighbors(row: ExplainedRow) -> list[Html]:
    names = row.neighbors if row.neighbor_ids is None else row.neighbor_ids
    n_shown = min(row.n_listed, MOST_NEIGHBORS)
    lines = [
        element(
            "div",
            f"{names[k]}: {row.neighbor_labels[k]} ",
            element("span", f"{percent(row.vote_shares[k])} of the votes", class_="soft"),
        )
        for k in range(n_shown)
    ]
    if len(names) > n_shown:
        share = percent(float(row.vote_shares[n_shown:].sum()))
        lines.append(element("div", f"{others_text(len(names) - n_shown)}: {share}", class_="soft"))
    return lines
