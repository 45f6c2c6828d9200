"""The declaration of model files for the classifiers for streams."""

from __future__ import annotations

from typing import Any

from lann._support.sizes import LARGEST_VALUE
from lann.persist._fields import (
    POSITIVE,
    Estimator,
    Flags,
    Floats,
    Indices,
    Int,
    Names,
    Record,
    require,
)
from lann.streams import (
    N_GROUPS,
    SAMKNN,
    SAMLANN,
    Limits,
    Memories,
    Metric,
    Votes,
    restore_memories,
    trim_memories,
)

# Memories of other sizes are not saved: kernels would need more space than there is on any machine.
MOST_ROWS, MOST_NEIGHBORS = 10**9, 10**6


def _limits(**values: int) -> Limits:
    require(values["long"] <= values["total"], "the long-term memory is larger than both memories")
    is_large = values["smallest"] > values["n_neighbors"]
    require(is_large, "a window is too small for the neighbors")
    return Limits(**values)


LIMITS = Record(
    _limits,
    n_neighbors=Int(1, high=MOST_NEIGHBORS),
    total=Int(2, high=MOST_ROWS),
    long=Int(0, high=MOST_ROWS),
    smallest=Int(2, high=2 * MOST_ROWS),
)
MEMORIES = Record(
    Memories,
    short_X=Floats("n_features", "n_short", within=LARGEST_VALUE, nan=True),
    known=Flags("n_classes"),
    short_labels=Indices("n_short", below="n_classes"),
    short_arrivals=Indices("n_short"),
    short_extras=Floats("n_extras", "n_short", nan=True),
    hits=Flags(3, "n_short"),
    hit_counts=Indices(3),
    window_hits=Flags("n_windows", "n_short"),
    window_starts=Indices("n_windows", low=-1, below="n_short"),
    window_counts=Indices("n_windows"),
    long_X=Floats("n_features", "n_long", within=LARGEST_VALUE, nan=True),
    long_labels=Indices("n_long", below="n_classes"),
    long_arrivals=Floats("n_long", low=0.0),
    long_extras=Floats("n_extras", "n_long", nan=True),
    long_sizes=Floats("n_long", low=POSITIVE),
    before_X=Floats("n_features", "n_before", within=LARGEST_VALUE, nan=True),
    before_labels=Indices("n_before", below="n_classes"),
    before_arrivals=Indices("n_before"),
    drifts=Indices("n_kept_drifts", 3),
    counters=Indices(9),
)
# A feature has 8 bins; there are 9 votes, and hits of their mixture.
METRIC = Record(
    Metric,
    moments=Floats(3, "n_features"),
    center=Floats("n_features"),
    scale=Floats("n_features", low=POSITIVE, infinite=True),
    edges=Floats("n_features", 7, ascending=1),
    slopes=Floats("n_features", 8, low=POSITIVE),
    class_weights=Floats("n_classes", "n_features", low=POSITIVE),
    features=Floats(3, "n_features", 9),
    classes=Floats(3, "n_classes", "n_features"),
    age=Floats(3),
    typical=Floats(1, low=0.0),
    counters=Indices(4),
)
VOTES = Record(Votes, weights=Floats(9, low=0.0, high=1.0), hits=Floats(10, low=0.0))


def _restored(clf: SAMKNN) -> SAMKNN:
    """Set the memories with their kernels' arrays."""
    memories = clf.__dict__.pop("memories")
    n_extras = N_GROUPS * len(memories.short_X) if hasattr(clf, "metric_") else 0
    clf.memories_ = restore_memories(memories, clf.limits_, n_extras)
    return clf


def _self_adjusting(cls: type, **fields: Any) -> Estimator:
    """Return the declaration of a classifier with memories."""
    # A learned metric needs rows that the short-term memory has dropped.
    with_older = bool(fields)
    return Estimator(
        cls,
        finish=_restored,
        classes_=Names("n_classes", distinct=True),
        limits_=LIMITS,
        memories=MEMORIES.of(lambda clf: trim_memories(clf.memories_, clf.limits_, with_older=with_older)),
        **fields,
    )


STREAMS = (_self_adjusting(SAMKNN), _self_adjusting(SAMLANN, metric_=METRIC, votes_=VOTES))
