"""Explanations of predictions."""

from lann.explain.explanation import Explanation

__all__ = ["Explanation"]
