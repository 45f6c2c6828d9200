"""What stands around the picture: tools above it, the point in question and the key beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lann.cli.report.markup import Html, element

if TYPE_CHECKING:
    from lann.cli.embedded import Embedded

COLORINGS = {
    "class": "class",
    "prediction": "predicted class",
    "mistakes": "mistakes",
    "confidence": "confidence",
    "dominant": "most relevant column",
}


def tools(embedded: Embedded) -> Html:
    options = [element("option", text, value=name) for name, text in COLORINGS.items()]
    by_column = element("optgroup", id="by-column", label="relevance of a column")
    choose = element("select", *options, by_column, id="color")
    which = element(
        "select",
        element("option", "all rows", value="all"),
        element("option", "training rows", value="training"),
        element("option", "placed rows", value="placed"),
        id="which",
    )
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
        _labeled("Color by", choose),
        *([_labeled("Show", which)] if embedded.n_new else []),
        _checkbox("mistakes", "Only mistakes"),
        _checkbox("names", "Names"),
        _labeled("Find", search),
        element("span", id="found", class_="soft", role="status"),
        element("span", id="count", class_="soft", role="status"),
        class_="tools",
    )


def stage() -> Html:
    """The picture: one canvas for the points, one above it for what is pointed at."""
    zooms = [("in", "+", "Zoom in"), ("out", "−", "Zoom out"), ("fit", "⤢", "Show all")]
    buttons = [
        element("button", sign, id=id, type="button", title=said, aria_label=said) for id, sign, said in zooms
    ]
    return element(
        "div",
        element(
            "div",
            element("canvas", id="points"),
            element("canvas", id="over"),
            element("div", id="tip", hidden=True, aria_hidden="true"),
            id="stage",
            tabindex="0",
            role="application",
            aria_label="Picture of the rows; arrow keys go from point to point, plus and minus zoom, 0 shows "
            "all. The same points are in a table below.",
        ),
        element("div", *buttons, class_="zoom", role="group", aria_label="Zoom"),
        element("p", id="said", class_="unseen", aria_live="polite"),
        class_="frame",
    )


def beside(embedded: Embedded) -> Html:
    placed = "With a rim: placed rows, in the class of their label, or else as predicted."
    ways = [("previous", "‹", "Previous row"), ("next", "›", "Next row")]
    steps = [
        element("button", sign, id=id, type="button", title=said, aria_label=said) for id, sign, said in ways
    ]
    scale = element(
        "div",
        element("div", id="ramp", aria_hidden="true"),
        element(
            "div",
            element("span", id="low"),
            element("span", id="unit"),
            element("span", id="high"),
            class_="ends",
        ),
        id="scale",
    )
    return element(
        "aside",
        element(
            "section",
            element("h2", "Colors"),
            element("ul", id="groups"),
            scale,
            id="colors",
            aria_label="Colors",
            hidden=True,
        ),
        element(
            "section",
            element(
                "div",
                element("h2", "Classes"),
                element("button", "all", id="all", type="button", class_="link"),
                element("button", "none", id="no", type="button", class_="link"),
                class_="title",
            ),
            element("ul", id="classes"),
            *([element("p", placed, class_="soft")] if embedded.n_new else []),
            aria_label="Classes",
        ),
        element(
            "section",
            element("div", element("h2", "No row chosen", id="name"), *steps, class_="title"),
            element("p", "Point at a row, or click on it to keep it.", id="none", class_="soft"),
            element("div", id="point", hidden=True),
            aria_label="The row in question",
        ),
    )


def _labeled(text: str, control: Html) -> Html:
    return element("label", element("span", text), control)


def _checkbox(id: str, text: str) -> Html:
    return element("label", element("input", id=id, type="checkbox"), element("span", text), class_="check")
