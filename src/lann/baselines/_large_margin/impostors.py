"""Compiled part of the large-margin loss: what the impostors in one tile of distances add to it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lann._compile import njit
from lann._types import Floats, Indices

# Number of distances of a query that are compared with its limit at a time.
GROUP = 32


class QueryBlock(NamedTuple):
    """Queries that are compared with the rows of a group, which are sorted by class.

    Attributes
    ----------
    same_class : (n_queries, 2)
        The rows of the class of each query: position of the first, and after the last.
    norms : (n_queries,)
        ‖Ωx‖² of each query, which is subtracted from the distances in a tile.
    limits : (n_queries,)
        The largest margin minus the norm: rows with larger entries in a tile are no impostors.
    margins : (n_queries, n_targets)
        1 + d_it; −inf where a target is missing.
    """

    same_class: Indices
    norms: Floats
    limits: Floats
    margins: Floats


class SlopeSums(NamedTuple):
    """Sums of the slopes of the squared hinges, s_itl = 2 [margin_it − d_il]₊, over impostors and targets.

    Attributes
    ----------
    targets : (n_queries, n_targets)
        Σ_l s_itl.
    weighted_rows : (n_queries, n_features)
        Σ_tl s_itl x_l.
    queries : (n_queries,)
        Σ_tl s_itl.
    impostors : (n_rows,)
        Σ_it s_itl.
    """

    targets: Floats
    weighted_rows: Floats
    queries: Floats
    impostors: Floats


@njit(nogil=True, cache=True)
def add_impostors(tile, first, block, X, sums):
    """Return the sum of the squared hinges of all triplets in a tile, and add their slopes to `sums`.

    A triplet of query i, target t and impostor l, a row of another class, costs [margin_it − d_il]₊².

    Parameters
    ----------
    tile : (n_queries, n_columns / GROUP, GROUP)
        Squared distances d_il minus the norms of the queries.
    first : int
        Position in X of the first column of the tile.
    block : QueryBlock
    X : (n_rows, n_features)
        Rows of the group.
    sums : SlopeSums
        Changed.
    """
    n_queries, n_parts, size = tile.shape  # LLVM vectorizes best if the size is known only at run time
    n_features = X.shape[1]
    total = 0.0
    for query in range(n_queries):
        limit, norm, weighted_rows = block.limits[query], block.norms[query], sums.weighted_rows[query]
        same_class_start, same_class_stop = block.same_class[query]
        for part in range(n_parts):
            distances = tile[query, part]
            n_near = np.int32(0)
            for column in range(size):
                n_near += np.int32(distances[column] < limit)
            if n_near == 0:
                continue
            start = first + part * size
            for column in range(size):
                impostor = start + column
                if not distances[column] < limit or same_class_start <= impostor < same_class_stop:
                    continue
                slope = 0.0
                for target in range(block.margins.shape[1]):
                    hinge = block.margins[query, target] - (distances[column] + norm)
                    if hinge > 0.0:
                        total += hinge * hinge
                        sums.targets[query, target] += 2.0 * hinge
                        slope += 2.0 * hinge
                sums.queries[query] += slope
                sums.impostors[impostor] += slope
                row = X[impostor]
                for feature in range(n_features):
                    weighted_rows[feature] += slope * row[feature]
    return total
