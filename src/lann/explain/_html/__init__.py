"""Explanations as HTML: the explained rows, a page of them, and the view in notebooks."""

from lann.explain._html.details import PageDetails
from lann.explain._html.notebook import notebook_view
from lann.explain._html.page import explanation_page, save_html, to_html

__all__ = ["PageDetails", "explanation_page", "notebook_view", "save_html", "to_html"]
