"""The page of an explorer: one file with the document, the style sheet and the modules."""

from __future__ import annotations

import re

from lann._markup import page_hash, read_resource, render
from lann.explorer._document import Document

PACKAGE = "lann.explorer"
# In an order in which each needs earlier ones only.
MODULES = (
    "encoding", "model", "counterfactual", "format", "data", "ask", "dom", "state", "select", "points", "map",
    "table", "filters", "row", "whatif", "groups", "review", "report", "app", "main",
)  # fmt: skip
# A worker runs the script of the page again, from a blob; nothing is loaded.
POLICY = (
    "default-src 'none'; img-src data: blob:; base-uri 'none'; form-action 'none'; worker-src blob:; "
    "style-src 'unsafe-inline'; style-src-attr 'unsafe-inline'; style-src-elem {style}; script-src {script}"
)


def explorer_page(document: Document) -> str:
    """Return the page of a document as text."""
    script, style = linked_modules(), read_resource(PACKAGE, "page.css")
    policy = POLICY.format(style=page_hash(style), script=page_hash(script))
    values = {"document": document, "policy": policy, "style": style, "script": script}
    return str(render(PACKAGE, "page.html", **values))


def linked_modules() -> str:
    """Return all modules as one script, in which each is a function that returns what it exports."""
    parts = [_as_function(name, read_resource(PACKAGE, f"{name}.js")) for name in MODULES]
    return "\n".join(['"use strict";', "(() => {", "const modules = {};", *parts, "})();"])


def _as_function(name: str, module: str) -> str:
    """Return a module without its imports and exports, as a part of a script."""
    exported = ", ".join(
        re.findall(r"^export (?:async )?(?:const|function|class) (\w+)", module, re.MULTILINE)
    )
    body = re.sub(
        r'^import (\{[^}]*\}) from "\./(\w+)\.js";', r"const \1 = modules.\2;", module, flags=re.MULTILINE
    )
    body = re.sub(r"^export ", "", body, flags=re.MULTILINE)
    return f"modules.{name} = (() => {{\n{body}return {{ {exported} }};\n}})();"
