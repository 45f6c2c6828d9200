"""The report of explained predictions: the model, the relevant columns of each class, and the rows."""

from lann.report._explanation.page import report_page, save_report

__all__ = ["report_page", "save_report"]
