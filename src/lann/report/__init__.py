"""Pages and figures that are one file: explained predictions with their model, and embeddings."""

from lann.report._embedding import embedding_page, save_embedding_page
from lann.report._explanation import report_page, save_report
from lann.report._figure import save_embedding_figure

__all__ = ["embedding_page", "report_page", "save_embedding_figure", "save_embedding_page", "save_report"]
