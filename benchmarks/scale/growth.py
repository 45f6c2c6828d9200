"""Exponents of growth."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np


def exponent(values: Mapping[int, float]) -> float | None:
    """
    Return b of the power law c · size^b that is nearest to the values, on logarithmic scales.

    Parameters
    ----------
    values
        By size. None is returned for fewer than two, or if one of them is not positive.
    """
    if len(values) < 2 or min(values.values()) <= 0:
        return None
    return float(np.polyfit(np.log(list(values)), np.log(list(values.values())), 1)[0])
