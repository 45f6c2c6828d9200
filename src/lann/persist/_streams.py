"""What files have of the classifiers for streams: their memories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lann._support.sizes import LARGEST_VALUE
from lann.persist._fields import (
    BOOL,
    POSITIVE,
    Estimator,
    Flags,
    Floats,
    Indices,
    Int,
    InvalidModelFile,
    Kind,
    Names,
    Record,
    require,
    shown,
)
from lann.streams import (
    N_GROUPS,
    SAMKNN,
    SAMLANN,
    WEIGHTS,
    Limits,
    SavedMemories,
    new_metric,
    new_votes,
)

# Memories of other sizes are not saved: kernels would need more space than there is on any machine.
MOST_ROWS, MOST_NEIGHBORS = 10**9, 10**6
# Votes of the short-term memory, of the long-term memory, and of both.
N_VOTES = 3
# Log weights are far smaller, and so are standardized values, weights and the slopes of curves.
LARGEST_LOG_WEIGHT, LARGEST_EXTRA = 20.0, 1e15


def _limits(**values: int) -> Limits:
    require(values["long"] <= values["total"], "the long-term memory is larger than both memories")
    is_large = values["smallest"] > values["n_neighbors"]
    require(is_large, "a window is too small for the neighbors")
    return Limits(**values)


LIMITS = Record(
    _limits,
    {
        "n_neighbors": Int(1, high=MOST_NEIGHBORS),
        "total": Int(2, high=MOST_ROWS),
        "long": Int(0, high=MOST_ROWS),
        "smallest": Int(2, high=2 * MOST_ROWS),
    },
)


def _memories(n_extras: str | int) -> Record:
    """Return the declaration of memories with so many further values of each row."""
    return Record(
        SavedMemories,
        {
            "short_X": Floats("n_features", "n_short", within=LARGEST_VALUE, nan=True),
            "known": Flags("n_classes"),
            "short_labels": Indices("n_short", below="n_classes"),
            "short_arrivals": Indices("n_short"),
            "short_extras": Floats(n_extras, "n_short", within=LARGEST_EXTRA, nan=True),
            "hits": Flags(N_VOTES, "n_short"),
            "window_hits": Flags("n_windows", "n_short"),
            "n_older": Int(0, high="n_short"),
            "window_starts": Indices("n_windows", low=-1),
            "window_counts": Indices("n_windows"),
            "long_X": Floats("n_features", "n_long", within=LARGEST_VALUE, nan=True),
            "long_labels": Indices("n_long", below="n_classes"),
            "long_arrivals": Floats("n_long", low=0.0),
            "long_extras": Floats(n_extras, "n_long", within=LARGEST_EXTRA, nan=True),
            "long_sizes": Floats("n_long", low=POSITIVE),
            "before_X": Floats("n_features", "n_before", within=LARGEST_VALUE, nan=True),
            "before_labels": Indices("n_before", below="n_classes"),
            "before_arrivals": Indices("n_before"),
            "drifts": Indices("n_kept_drifts", 3),
            "n_seen": Int(0),
            "n_drifts": Int(0),
            "n_compressions": Int(0),
            "has_gaps": BOOL,
            "seed": Int(0, high=2**32),
        },
    )


# Sizes that occur nowhere else, by which the shapes of arrays say what they depend on.
_SAMPLE_SIZES = {211: "n_features", 223: "n_classes"}


def _arrays(sample: Any, bounds: Mapping[str, Mapping[str, Any]]) -> Record:
    """Return the declaration of a named tuple of arrays that depend on the numbers of features and classes.

    Parameters
    ----------
    sample : named tuple
        For the numbers of `_SAMPLE_SIZES`.
    bounds : mapping of str to mapping
        Bounds of the values of some fields; others are finite.
    """
    kinds: dict[str, Kind] = {}
    for name, array in sample._asdict().items():
        shape = [_SAMPLE_SIZES.get(size, size) for size in array.shape]
        kinds[name] = Indices(*shape) if array.dtype == np.int64 else Floats(*shape, **bounds.get(name, {}))
    return Record(type(sample), kinds)


METRIC = _arrays(
    new_metric(*_SAMPLE_SIZES),
    {
        "moments": {"low": -LARGEST_VALUE},
        "center": {"within": LARGEST_VALUE},
        "scale": {"low": POSITIVE, "infinite": True},
        "edges": {"within": LARGEST_EXTRA, "ascending": 1},
        "slopes": {"low": POSITIVE, "high": LARGEST_EXTRA},
        "class_weights": {"low": POSITIVE, "high": LARGEST_EXTRA},
        "typical": {"low": 0.0},
    },
)
VOTES = _arrays(new_votes(), {"weights": {"low": 0.0, "high": 1.0}, "hits": {"low": 0.0}})


def _restored(memories: SavedMemories, limits_: Limits, **values: Any) -> dict[str, Any]:
    """Return the fitted attributes."""
    if "metric_" in values:
        metric, n_features = values["metric_"], len(memories.short_X)
        learned = [getattr(metric, name)[0].ravel() for name in ("features", "classes", "age")]
        is_bounded = np.abs(np.concatenate(learned)).max(initial=0.0) <= LARGEST_LOG_WEIGHT
        require(is_bounded, "there are log weights that are too large")
        for extras in (memories.short_extras, memories.long_extras):
            is_complete = len(extras) == N_GROUPS * n_features
            require(is_complete, "the rows do not have the values of a learned metric")
            weights = extras[WEIGHTS * n_features : (WEIGHTS + 1) * n_features]
            require((weights >= 0).all(), "the rows have weights that are not at least 0")
    try:
        restored = memories.restored(limits_)
    except (ValueError, MemoryError) as error:
        raise InvalidModelFile(f"in its memories, {shown(str(error))}") from error
    return {**values, "limits_": limits_, "memories_": restored}


def _self_adjusting(cls: type, n_extras: str | int, **fields: Kind) -> Estimator:
    """Return the declaration of a classifier with memories."""
    # A learned metric needs rows that the short-term memory has dropped.
    with_older = bool(fields)
    return Estimator(
        cls,
        {
            "classes_": Names("n_classes", distinct=True),
            "limits_": LIMITS,
            "memories": _memories(n_extras),
            **fields,
        },
        follows=_restored,
        sources={"memories": lambda clf: SavedMemories.of(clf.memories_, clf.limits_, with_older=with_older)},
    )


STREAMS = (
    _self_adjusting(SAMKNN, 0),
    _self_adjusting(SAMLANN, "n_extras", metric_=METRIC, votes_=VOTES),
)
