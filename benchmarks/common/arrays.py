"""Names for the kinds of arrays in signatures."""

from lann._types import Floats, Indices, Labels

__all__ = ["Floats", "Indices", "Labels"]
