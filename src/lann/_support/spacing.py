"""Distances relative to those between the rows around: some regions have more rows than others."""

from __future__ import annotations

import numpy as np

from lann._support.types import Floats, Indices

# Rows near a query with whose distances its own is compared.
N_AROUND = 10
# ε as a share of the mean distance: rows that have copies are at distance 0.
LEAST_SHARE = 0.1


def relative_distances(distances: Floats, spacing: Floats, around: Indices) -> Floats:
    """Return (d + ε) / (mean of the spacing of the rows around + ε): (n_queries,).

    Parameters
    ----------
    distances : (n_queries,)
    spacing : (n_rows,)
        Distance of each row to its nearest others; infinite if it has none.
    around : (n_queries, n_around)
        Rows near each query.
    """
    mean = float(spacing.mean())
    if np.isinf(mean):
        mean = float(spacing.mean(where=np.isfinite(spacing))) if np.isfinite(spacing).any() else 0.0
    least = LEAST_SHARE * mean or 1.0
    with np.errstate(over="ignore"):  # infinitely far
        relative: Floats = (distances + least) / (np.mean(spacing[around], axis=1) + least)
    return relative
