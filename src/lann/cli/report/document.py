"""A page as one file: nothing is fetched, and nothing runs but lann's own, whatever stands in the tables."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files

from lann.cli.report.markup import Html, element

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def whole_page(title: str, *parts: Html, styles: Sequence[str], script: str | None = None) -> str:
    """The page as text.

    parts : the elements of its body
    styles : style sheets, later ones above earlier ones
    script : runs once the body is there; no other does
    """
    policy = POLICY
    if script is not None:
        policy += f"; script-src 'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"
    head = element(
        "head",
        Html('<meta charset="utf-8">'),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html('<meta name="color-scheme" content="light dark">'),
        Html('<link rel="icon" href="data:,">'),
        element("title", title),
        *[Html(f"<style>{style}</style>") for style in styles],
    )
    run = [] if script is None else [Html(f"<script>{script}</script>")]
    return f"<!doctype html>\n{element('html', head, element('body', *parts, *run), lang='en')}\n"


def style_sheet() -> str:
    """The look that all pages share."""
    return files("lann.cli.report").joinpath("style.css").read_text("utf-8")
