"""The `lann` command."""

from lann.cli.app import app, main

__all__ = ["app", "main"]
