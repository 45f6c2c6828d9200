"""Compiled leaf of the large-margin loss: what the impostors in one tile of distances add to it."""

from __future__ import annotations

import numpy as np
from numba import njit

# The scan of a tile passes over this many values at a time.
GROUP = 32


@njit(nogil=True, cache=True)
def push_away(tile, first, same, offsets, limits, margins, points, sums, pulled, rows, columns):
    """Add up the squared hinges of a tile's triplets, and their slopes by pairs of query and impostor.

    A triplet (query i, target t, impostor l) costs [margin_it − d_il]₊² with margin_it = 1 + d_it; its slope
    2 [·]₊ counts for the pair (i, t) and, negatively, for (i, l). Only points of other classes are impostors.

    Parameters
    ----------
    tile : (n_queries, n_groups, GROUP) d_il − offset_i
    first : place of the tile's first column among the points
    same : (n_queries, 2) from which to which place the points are of the query's own class
    offsets : (n_queries,) what the tile lacks
    limits : (n_queries,) the largest margin less the offset: what is not below it costs nothing
    margins : (n_queries, n_targets) −inf where a target is missing
    points : (n_points, n_features)
    sums : (n_queries, n_targets) grows by the slopes, per target
    pulled : (n_queries, n_features) grows by Σ_l slope_il · point_l
    rows, columns : (n_queries,) and (n_points,) grow by the slopes, per query and per impostor
    """
    n_queries, n_groups, size = tile.shape  # a size known only at run time is what LLVM vectorizes best
    n_features = points.shape[1]
    total = 0.0
    for query in range(n_queries):
        limit, offset, moved = limits[query], offsets[query], pulled[query]
        same_from, same_to = same[query]
        for group in range(n_groups):
            row = tile[query, group]
            near = np.int32(0)
            for place in range(size):
                near += np.int32(row[place] < limit)
            if near == 0:
                continue
            start = first + group * size
            for place in range(size):
                impostor = start + place
                if not row[place] < limit or same_from <= impostor < same_to:
                    continue
                slope = 0.0
                for target in range(margins.shape[1]):
                    hinge = margins[query, target] - (row[place] + offset)
                    if hinge > 0.0:
                        total += hinge * hinge
                        sums[query, target] += 2.0 * hinge
                        slope += 2.0 * hinge
                rows[query] += slope
                columns[impostor] += slope
                there = points[impostor]
                for feature in range(n_features):
                    moved[feature] += slope * there[feature]
    return total
