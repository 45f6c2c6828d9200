"""Where the choices of a case come from: a random number generator here, hypothesis in the short slice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np


class Source(Protocol):
    """Makes the choices of a case."""

    def choose(self, items: Sequence[Any]) -> Any:
        """Return one of the items."""

    def integer(self, high: int) -> int:
        """Return an integer from 0 to `high`, without it."""

    def chance(self, percent: int) -> bool:
        """Return True that often."""


class RandomSource:
    """
    Choices that a seed and a number determine.

    Parameters
    ----------
    seed, number
        Of the case.
    """

    def __init__(self, seed: int, number: int) -> None:
        self._rng = np.random.default_rng([seed, number])

    def choose(self, items: Sequence[Any]) -> Any:
        return items[self.integer(len(items))]

    def integer(self, high: int) -> int:
        return int(self._rng.integers(high))

    def chance(self, percent: int) -> bool:
        return self.integer(100) < percent
