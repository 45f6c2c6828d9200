"""The parts of the results, and the methods that are compared."""

from __future__ import annotations

RANDOM, INFORMATIVE = PARTS = ("random", "informative")

COMPLETE = "complete"
"""The results on the rows of the part "random" before cells were emptied."""

OURS, IMPUTED, BOOSTING, FOREST = "lann", "lann-median", "boosting", "forest"
