"""Explained predictions as one HTML page that needs nothing else."""

from lann.cli.report.page import make_page, write_report

__all__ = ["make_page", "write_report"]
