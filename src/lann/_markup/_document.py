"""A page that is one file: it loads nothing, and runs no script but its own, whatever the data contain."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from lann import _texts
from lann._files import check_writable, write_atomically
from lann._markup._elements import Html, element

# Bars have their lengths as attributes, which the policy allows; style sheets and scripts need their hashes.
# Browsers that do not know the directives about elements and attributes use the one about all styles.
POLICY = (
    "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'; "
    "style-src-attr 'unsafe-inline'; style-src-elem"
)
PAGE_SUFFIXES = (".html", ".htm")


def page(title: str, *parts: Html, styles: Sequence[str] = (), script: str | None = None) -> str:
    """Return a page as text.

    Parameters
    ----------
    title : str
    *parts : Html
        The elements of the body.
    styles : sequence of str
        Style sheets that follow the one that all pages share.
    script : str or None
        It runs after the body has been read; other scripts are blocked.
    """
    all_styles = [read_resource("lann._markup", "page.css"), *styles]
    policy = " ".join([POLICY, *map(_hash, all_styles)])
    if script is not None:
        policy += f"; script-src {_hash(script)}"
    head = element(
        "head",
        Html('<meta charset="utf-8">'),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html('<meta name="color-scheme" content="light dark">'),
        Html('<link rel="icon" href="data:,">'),
        element("title", title),
        *[Html(f"<style>{style}</style>") for style in all_styles],
    )
    scripts = [] if script is None else [Html(f"<script>{script}</script>")]
    return f"<!doctype html>\n{element('html', head, element('body', *parts, *scripts), lang='en')}\n"


def _hash(text: str) -> str:
    """Return what allows a script or a style sheet in a policy."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def definitions(terms: Sequence[tuple[str, str | Html]], *, class_: str | None = None) -> Html:
    """Return a list of terms with what each means."""
    parts = [part for term, text in terms for part in (element("dt", term), element("dd", text))]
    return element("dl", *parts, class_=class_)


def note(text: str) -> Html:
    """Return a note to the reader of a page."""
    return element("p", f"Note: {text}", class_="note")


def footer(row_names: str = _texts.ROW_NUMBERS) -> Html:
    """Return the footer that all pages share, with a sentence about how rows are named."""
    return element("footer", element("p", f"Made by lann. {row_names}"))


def read_resource(package: str, name: str) -> str:
    """Return the text of a file of a package: a style sheet or a script."""
    return files(package).joinpath(name).read_text("utf-8")


def check_page_name(path: str | os.PathLike[str]) -> None:
    """Raise ValueError if the name of a file is not that of a page."""
    if Path(path).suffix.lower() not in PAGE_SUFFIXES:
        raise ValueError(f"{path} has an unknown format; give a file name that ends in .html.")


def check_page_path(path: str | os.PathLike[str]) -> None:
    """Raise an error if a page cannot be written to a file of this name."""
    check_page_name(path)
    check_writable(path)


def save_page(path: str | os.PathLike[str], text: str) -> None:
    """Write a page; on failure nothing is written."""
    check_writable(path)
    # A name of a file that is not valid text has halves of surrogate pairs, which UTF-8 does not have.
    write_atomically(Path(path), text.encode(errors="backslashreplace"))
