"""The explorer: a page, in one file, in which a person can question a fitted model."""

from lann.explorer._explorer import Explorer, explore

__all__ = ["Explorer", "explore"]
