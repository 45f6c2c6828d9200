"""HTML from Jinja templates: the macros and the frame that all pages share.

A page is one file: it loads nothing, and runs no script but its own, whatever the data contain.
"""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from jinja2.ext import Extension
from markupsafe import Markup as Html

from lann._markup import texts as _texts
from lann._support import format as _format
from lann._support.files import check_writable, write_atomically

__all__ = [
    "MOST_COLUMNS", "Html", "check_page_path", "footer", "page", "page_hash", "read_resource", "render",
    "save_page",
]  # fmt: skip

PACKAGE = "lann._markup"
# Columns of the user's data in a page, at most.
MOST_COLUMNS = 200
# What templates can call.
FUNCTIONS = (
    "class_color", "counted", "figure", "is_missing", "p_value_text", "percent", "signed_percent",
    "value_text",
)  # fmt: skip
# Bars have their lengths as attributes, which the policy allows; style sheets and scripts need their hashes.
# Browsers that do not know the directives about elements and attributes use the one about all styles.
POLICY = (
    "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'; "
    "style-src-attr 'unsafe-inline'; style-src-elem"
)
PAGE_SUFFIXES = (".html", ".htm")


class _WithoutLineBreaks(Extension):
    """Remove line breaks and indentation from the source of templates, which would become spaces."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return re.sub(r"\n\s*", "", source)


@cache
def _environment(package: str) -> Environment:
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader(PACKAGE)]),
        autoescape=True,
        extensions=[_WithoutLineBreaks],
        undefined=StrictUndefined,
    )
    environment.globals |= {name: getattr(_format, name) for name in FUNCTIONS}
    environment.globals |= {"n_colors": _format.N_COLORS, "texts": _texts}
    macros = environment.get_template("macros.html").module
    environment.globals |= {name: macro for name, macro in vars(macros).items() if not name.startswith("_")}
    return environment


def render(package: str, template: str, **values: Any) -> Html:
    """Return a template of a package, in its folder ``templates``, filled with values; these are escaped."""
    return Html(_environment(package).get_template(template).render(**values))


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
    all_styles = [read_resource(PACKAGE, "page.css"), *styles]
    policy = " ".join([POLICY, *map(page_hash, all_styles)])
    if script is not None:
        policy += f"; script-src {page_hash(script)}"
    values = {"title": title, "policy": policy, "styles": all_styles, "parts": parts, "script": script}
    return str(render(PACKAGE, "document.html", **values))


def page_hash(text: str) -> str:
    """Return what allows a script or a style sheet in a policy."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def footer(row_names: str = _texts.ROW_NUMBERS) -> Html:
    """Return the footer that all pages share, with a sentence about how rows are named."""
    return Html("<footer><p>Made by lann. {}</p></footer>").format(row_names)


def read_resource(package: str, name: str) -> str:
    """Return the text of a file of a package: a style sheet or a script."""
    return files(package).joinpath(name).read_text("utf-8")


def check_page_path(path: str | os.PathLike[str]) -> None:
    """Raise an error if a page cannot be written to a file of this name."""
    if Path(path).suffix.lower() not in PAGE_SUFFIXES:
        raise ValueError(f"{path} has an unknown format; give a file name that ends in .html.")
    check_writable(path)


def save_page(path: str | os.PathLike[str], text: str) -> None:
    """Write a page; on failure nothing is written."""
    check_writable(path)
    # A name of a file that is not valid text has halves of surrogate pairs, which UTF-8 does not have.
    write_atomically(Path(path), text.encode(errors="backslashreplace"))
