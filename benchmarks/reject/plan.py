"""What a run measures."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from benchmarks.common.datasets import load_sets
from benchmarks.engine import data_digest
from benchmarks.reject.strangers import OtherSet

PART = "splits"

OTHER_SETS = (
    "iris",
    "wine",
    "ionosphere",
    "breast-cancer",
    "image-segmentation",
    "digits",
    "robot-navigation",
    "gamma-telescope",
)
"""Data sets whose rows are to be rejected as far by models of all others."""


def load_others() -> list[OtherSet]:
    """Return those of `OTHER_SETS` that can be loaded."""
    found, _ = load_sets(OTHER_SETS)
    return [OtherSet(one.name, one.X) for one in found]


def digest_of(others: Iterable[OtherSet]) -> str:
    """Return a digest of other data sets."""
    return data_digest(*(np.ascontiguousarray(one.X) for one in others))
