"""The order in which features, rows and classes are shown."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def largest_first(values: NDArray[np.float64], n_largest: int | None = None) -> NDArray[np.int64]:
    """Return the indices of the largest values, largest first and ties in order; None returns all."""
    order = np.argsort(-np.asarray(values), kind="stable")
    return order if n_largest is None else order[:n_largest]


def natural_order(names: Sequence[str]) -> list[int]:
    """Return the positions of names in alphabetical order, with the numbers in them ordered by value.

    >>> names = ["type 10", "type 2", "other"]
    >>> [names[position] for position in natural_order(names)]
    ['other', 'type 2', 'type 10']
    """
    # At odd positions of the parts are the numbers. Of two numbers the longer one is larger.
    parts = [re.split(r"0*(\d+)", name) for name in names]
    keys = [[(len(part) if k % 2 else 0, part) for k, part in enumerate(own)] for own in parts]
    return sorted(range(len(names)), key=lambda position: keys[position])
