"""An embedding as one HTML page to look around in, which needs nothing else."""

from lann.cli.embedding_page.page import make_page, write_page

__all__ = ["make_page", "write_page"]
