"""The page of an embedding: an interactive figure, the rows as a table, and accuracies by class."""

from lann.report._embedding.page import embedding_page, save_embedding_page

__all__ = ["embedding_page", "save_embedding_page"]
