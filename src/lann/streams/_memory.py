"""The arrays of self-adjusting memories and of their learned metric, on which the compiled `Stream` works.

Rows are stored feature by feature. The short-term rows are the columns from `counters[START]` to
`counters[STOP]` of arrays that are longer than needed: when the end is reached, they are moved to the
beginning. The first `counters[N_LONG]` columns are the long-term rows.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from lann._support.types import Indices

# Entries of `counters`.
START, STOP, N_LONG, N_SEEN, N_RESETS, N_COMPRESSIONS, N_BEFORE, HAS_GAPS, SEED = range(9)
# An entry of `schedule`: the number of rows at which what was learned is applied next.
NEXT_REFRESH = 1
# Groups of extras of a stored row: its transformed values, point log weights u, and weights w.
AXES, POINTS, WEIGHTS = range(3)
N_GROUPS = 3
# How many memory resets, and how many rows from before the last reset, are kept.
MAX_RESETS, MAX_BEFORE = 1000, 200
N_BINS, N_VOTES = 8, 9


class Limits(NamedTuple):
    """The sizes of the memories.

    Attributes
    ----------
    n_neighbors : int
        Number of neighbors that vote.
    total : int
        Largest number of rows in both memories.
    long : int
        Number of long-term rows beyond which they are compressed once both memories are full.
    smallest : int
        Smallest candidate window; more than `n_neighbors`.
    """

    n_neighbors: int
    total: int
    long: int
    smallest: int


# Types and dimensions of the arrays of the memories.
MEMORIES = {
    "short_X": "f8 n_features n_short",  # oldest first
    "short_labels": "i8 n_short",  # class indices
    "short_arrivals": "i8 n_short",  # number of rows that were learned before each
    "short_extras": "f8 n_extras n_features n_short",  # of a learned metric
    "hits": "u1 3 n_short",  # whether the votes by short-term rows, long-term rows and both were right
    "hit_counts": "i8 3",  # sums of `hits` over the short-term rows
    # Window j has the newest n // 2^j rows. Hits tell whether the rows before a row in it predict its label.
    "window_hits": "u1 n_windows n_short",
    "window_starts": "i8 n_windows",  # the first column of each window; -1 for none
    "window_counts": "i8 n_windows",  # sums of `window_hits`
    "long_X": "f8 n_features n_long",
    "long_labels": "i8 n_long",
    "long_arrivals": "f8 n_long",  # means over the rows that a long-term row stands for
    "long_extras": "f8 n_extras n_features n_long",
    "long_sizes": "f8 n_long",  # number of rows that a long-term row stands for
    "known": "u1 n_classes",  # whether a class was announced or learned
    "before_X": "f8 n_features n_before",  # some of the rows that the last reset removed, oldest first
    "before_labels": "i8 n_before",
    "before_arrivals": "i8 n_before",
    "resets": "i8 n_kept_resets 3",  # the row that showed it, size before and size after: a ring
    "counters": "i8 9",
}
# Those of a learned metric: the squared distance of a stored row x_j to a row x is
#     Σ_f w_jf (φ_f(x_jf) − φ_f(x_f))² + w_age g(age of x_j)²,    log w_jf = v_cf + u_jf,  c = y_j
# with a monotone curve φ_f of standardized values, piecewise linear over bins of equal numbers of rows, with
# slopes exp(a_f + s_fb); class weights v; point weights u, which are extras of the stored rows; and the age
# of a row, on a logarithmic axis, in units of the typical squared distance.
METRIC = {
    "moments": "f8 3 n_features",  # weight, mean and variance of the values so far, with forgetting
    "center": "f8 n_features",  # standardization in use; the scale of a constant feature is infinite
    "scale": "f8 n_features",
    "edges": f"f8 n_features {N_BINS - 1}",  # between the bins, standardized, ascending
    "slopes": f"f8 n_features {N_BINS}",  # of the curves in use
    "class_weights": "f8 n_classes n_features",  # exp(v) in use
    "features": f"f8 3 n_features {1 + N_BINS}",  # a and s, and the moments of their gradients
    "classes": "f8 3 n_classes n_features",  # v, and the moments of its gradients
    "age": "f8 3",  # log weight of the age, and the moments of its gradients
    "typical": "f8 1",  # squared distance to the fifth neighbor
    "vote_weights": f"f8 {N_VOTES}",  # of the votes in the mixture, by their recent log-loss
    "vote_hits": f"f8 {N_VOTES + 1}",  # recent hits of each vote, and of the mixture
    "schedule": "i8 4",  # steps; rows up to the next refresh and the next choice of bins; compressions
}
# What entries are at first, if not 0: bins are between −1.5 and 1.5 standard deviations until rows are there.
FIRST: dict[str, Any] = {
    "window_starts": -1,
    "scale": np.inf,
    "edges": (np.arange(N_BINS - 1) + 0.5) * 3.0 / (N_BINS - 1) - 1.5,
    "slopes": 1.0,
    "class_weights": 1.0,
    "age": [-2.0, 0.0, 0.0],
    "typical": 1.0,
    "vote_weights": 1.0 / N_VOTES,
    "schedule": [0, 1, 50, 0],
}


def sizes_of(limits: Limits, n_features: int, n_classes: int, n_groups: int) -> dict[str, int]:
    """Return the lengths of the dimensions that the arrays of a model have."""
    long = limits.total + 1
    return {
        "n_features": n_features,
        "n_classes": n_classes,
        "n_extras": n_groups,
        "n_short": long + max(limits.total // 4, 64),
        "n_long": long,
        "n_before": MAX_BEFORE,
        "n_kept_resets": MAX_RESETS,
        "n_windows": max(int(np.log2(long / limits.smallest)), 0) + 2,
    }


def with_sizes(
    declared: dict[str, str],
    sizes: dict[str, int],
    present: SimpleNamespace | None = None,
    classes: Indices | None = None,
) -> SimpleNamespace:
    """Return arrays that begin with the present ones, and go on with first values.

    Parameters
    ----------
    declared : dict of str to str
        `MEMORIES` or `METRIC`.
    sizes : dict of str to int
    present : SimpleNamespace or None
    classes : (n_present_classes,) or None
        The new class index of each class, if it is another one.
    """
    arrays = SimpleNamespace()
    for name, declaration in declared.items():
        dtype, *dimensions = declaration.split()
        array = np.empty([sizes[d] if d in sizes else int(d) for d in dimensions], dtype)
        array[...] = FIRST.get(name, 0)
        if present is not None:
            values = getattr(present, name)
            target: list[Any] = [slice(length) for length in values.shape]
            if classes is not None and "n_classes" in dimensions:
                target[dimensions.index("n_classes")] = classes
            if classes is not None and name.endswith("_labels") and len(classes):
                values = classes[values]
            array[tuple(target)] = values
        setattr(arrays, name, array)
    return arrays


def trim_memories(memories: SimpleNamespace, limits: Limits) -> SimpleNamespace:
    """Return memories without the spare columns of their arrays, as model files have them.

    With a learned metric, rows that the short-term memory has dropped are kept, as far as they are among the
    newest `limits.total` rows. They come before the column `counters[START]`.
    """
    counters = memories.counters
    learns = len(memories.short_extras) > 0
    first = max(counters[STOP] - limits.total, 0) if learns else counters[START]
    used = {
        "n_short": slice(first, counters[STOP]),
        "n_long": slice(counters[N_LONG]),
        "n_before": slice(counters[N_BEFORE]),
        "n_kept_resets": slice(counters[N_RESETS]),
    }
    trimmed = SimpleNamespace()
    for name, declaration in MEMORIES.items():
        columns = [used.get(dimension, slice(None)) for dimension in declaration.split()[1:]]
        setattr(trimmed, name, getattr(memories, name)[tuple(columns)].copy())
    trimmed.window_starts[trimmed.window_starts >= 0] -= first
    trimmed.counters[[START, STOP]] -= first
    return trimmed


def restore_memories(saved: SimpleNamespace, limits: Limits, n_groups: int) -> SimpleNamespace:
    """Return memories that go on as those of which `trim_memories` has made `saved`.

    Raises
    ------
    ValueError
        If the numbers of rows, windows or further values do not fit the limits.
    """
    (n_features, n_short), n_long = saved.short_X.shape, saved.long_X.shape[1]
    n_older = int(saved.counters[START])
    if n_older > n_short or max(n_short, n_short - n_older + n_long) > limits.total:
        raise ValueError(f"there are more than {limits.total} rows")
    memories = with_sizes(MEMORIES, sizes_of(limits, n_features, len(saved.known), n_groups), saved)
    memories.known[np.concatenate([saved.short_labels, saved.long_labels])] = 1
    counters = memories.counters
    counters[[STOP, N_LONG, N_BEFORE]] = n_short, n_long, saved.before_X.shape[1]
    counters[HAS_GAPS] |= bool(np.isnan(saved.short_X).any() or np.isnan(saved.long_X).any())
    return memories
