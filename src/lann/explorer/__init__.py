"""The explorer: a page, in one file, in which a person can question a fitted model."""

from lann.explorer._document import Options as Options
from lann.explorer._explorer import Explorer, explore

# For the command line; it can change.
from lann.explorer._explorer import build_explorer as build_explorer

__all__ = ["Explorer", "explore"]
