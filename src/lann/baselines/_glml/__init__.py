"""Generative local metric learning: GLML."""
