"""Embeddings compared on held-out rows, and the cost of LANN's."""
