"""The parts around the figure of an embedding: toolbar, figure, and sidebar with legend and details."""

from __future__ import annotations

from lann._markup import Html, element
from lann.tables import EmbeddedTable

COLORINGS = {
    "class": "class",
    "prediction": "predicted class",
    "errors": "errors",
    "confidence": "confidence",
    "column": "most relevant column",
}
SUBSETS = {"all": "all rows", "training": "training rows", "new": "new rows"}


def toolbar(embedded: EmbeddedTable) -> Html:
    """Return the controls above the figure."""
    by_column = element("optgroup", id="by-column", label="relevance of a column")
    coloring = element("select", *_options(COLORINGS), by_column, id="coloring")
    subset = element("select", *_options(SUBSETS), id="subset")
    search = element(
        "input",
        id="search",
        type="search",
        placeholder="name or row",
        autocomplete="off",
        spellcheck="false",
    )
    return element(
        "div",
        _labeled("Color by", coloring),
        *([_labeled("Show", subset)] if embedded.n_new else []),
        _checkbox("errors-only", "Only errors"),
        _checkbox("class-names", "Class names"),
        _labeled("Find", search),
        element("span", id="search-result", class_="soft", role="status"),
        element("span", id="count", class_="soft", role="status"),
        class_="toolbar",
    )


def figure() -> Html:
    """Return the figure: a canvas for the rows, and one above it for the selected row."""
    zoom = [("zoom-in", "+", "Zoom in"), ("zoom-out", "−", "Zoom out"), ("zoom-all", "⤢", "Show all rows")]
    return element(
        "div",
        element(
            "div",
            element("canvas", id="points"),
            element("canvas", id="overlay"),
            element("div", id="tooltip", hidden=True, aria_hidden="true"),
            id="figure",
            tabindex="0",
            role="application",
            aria_label="Figure of the rows. Arrow keys select a row, plus and minus zoom, 0 shows all rows. "
            "The same rows are in a table below.",
        ),
        element("div", *_buttons(zoom), class_="zoom", role="group", aria_label="Zoom"),
        element("p", id="announcement", class_="visually-hidden", aria_live="polite"),
        class_="frame",
    )


def sidebar(embedded: EmbeddedTable) -> Html:
    """Return the legend, and the details of a row."""
    steps = [("previous", "‹", "Previous row"), ("next", "›", "Next row")]
    new = "New rows have an outline, and the color of their label or, without one, of their prediction."
    ends = [element("span", id=id) for id in ("scale-low", "scale-unit", "scale-high")]
    return element(
        "aside",
        element(
            "section",
            element("h2", "Colors"),
            element("ul", id="groups"),
            element(
                "div",
                element("div", id="color-ramp", aria_hidden="true"),
                element("div", *ends, class_="scale-ends"),
                id="scale",
            ),
            id="colors",
            aria_label="Colors",
            hidden=True,
        ),
        element(
            "section",
            element(
                "div",
                element("h2", "Classes"),
                element("button", "all", id="show-all", type="button", class_="link"),
                element("button", "none", id="show-none", type="button", class_="link"),
                class_="title",
            ),
            element("ul", id="classes"),
            *([element("p", new, class_="soft")] if embedded.n_new else []),
            aria_label="Classes",
        ),
        element(
            "section",
            element("div", element("h2", "No row selected", id="row-name"), *_buttons(steps), class_="title"),
            element("p", "Point at a row to see it; click to select it.", id="hint", class_="soft"),
            element("div", id="details", hidden=True),
            aria_label="Selected row",
        ),
    )


def _options(choices: dict[str, str]) -> list[Html]:
    return [element("option", text, value=value) for value, text in choices.items()]


def _buttons(buttons: list[tuple[str, str, str]]) -> list[Html]:
    return [
        element("button", sign, id=id, type="button", title=text, aria_label=text)
        for id, sign, text in buttons
    ]


def _labeled(text: str, control: Html) -> Html:
    return element("label", element("span", text), control)


def _checkbox(id: str, text: str) -> Html:
    control = element("input", id=id, type="checkbox")
    return element("label", control, element("span", text), class_="checkbox")
