"""Parametric local metric learning: PLML."""
