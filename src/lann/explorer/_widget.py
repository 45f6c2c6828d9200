"""The explorer as a widget of a notebook, whose selection Python can read."""

from __future__ import annotations

from typing import Any

from lann._markup import read_resource


def make_widget(page: str, height: int) -> Any:
    """Return a widget with a page; None if anywidget is not installed."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        return None

    class ExplorerWidget(anywidget.AnyWidget):
        """A frame with a page that tells which rows are selected."""

        _esm = read_resource("lann.explorer", "widget.js")
        page = traitlets.Unicode().tag(sync=True)
        height = traitlets.Int().tag(sync=True)
        selected: Any = traitlets.List().tag(sync=True)

    return ExplorerWidget(page=page, height=height)
