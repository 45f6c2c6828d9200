"""Elements: text is escaped unless it is markup."""

from __future__ import annotations

from html import escape

EMPTY_ELEMENTS = ("input", "meta")


class Html(str):
    """Text that is markup."""

    __slots__ = ()


def element(tag: str, *children: str | Html, **attributes: str | bool | None) -> Html:
    """Return an element.

    Parameters
    ----------
    tag : str
    *children : str or Html
        Its content; a str is escaped.
    **attributes : str, bool or None
        `class_` is written as class, and an underscore within a name as a hyphen. None and False are left
        out; True is an attribute without a value.

    >>> element("p", "a < b", class_="note", hidden=True)
    '<p class="note" hidden>a &lt; b</p>'
    """
    written = ""
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        name = name.rstrip("_").replace("_", "-")
        written += f" {name}" if value is True else f' {name}="{escape(str(value), quote=True)}"'
    if tag in EMPTY_ELEMENTS:
        return Html(f"<{tag}{written}>")
    inner = "".join(child if isinstance(child, Html) else escape(str(child)) for child in children)
    return Html(f"<{tag}{written}>{inner}</{tag}>")
