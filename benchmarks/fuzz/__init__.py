"""Hostile model files: what `lann.load`, and the use of what it loads, do with them."""
