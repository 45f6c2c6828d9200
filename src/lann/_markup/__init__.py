"""HTML from Python: elements, cells of tables, and pages that are one file."""

from lann._markup._cells import (
    MOST_COLUMNS,
    bar,
    bar_cell,
    class_label,
    folded_table,
    header_cell,
    signed_bar_cell,
    step_bar_cell,
    table,
    value_cell,
)
from lann._markup._document import (
    check_page_name,
    check_page_path,
    definitions,
    footer,
    note,
    page,
    read_resource,
    save_page,
)
from lann._markup._elements import Html, element

__all__ = [
    "MOST_COLUMNS",
    "Html",
    "bar",
    "bar_cell",
    "check_page_name",
    "check_page_path",
    "class_label",
    "definitions",
    "element",
    "folded_table",
    "footer",
    "header_cell",
    "note",
    "page",
    "read_resource",
    "save_page",
    "signed_bar_cell",
    "step_bar_cell",
    "table",
    "value_cell",
]
