"""What files have of the classifiers for streams: their memories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lann._sizes import LARGEST_VALUE
from lann.persist._errors import InvalidModelFile, one_sentence
from lann.persist._kinds import Bool, Flags, Floats, Indices, Int, Kind, Maybe, Names, Size, Texts
from lann.persist._records import Estimator, Record, Rule, Values, if_present
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
# Weights that add up to 1 do so up to this.
LARGEST_ROUNDING = 1e-9


def _sizes_fit(values: Values) -> str | None:
    if values["long"] > values["total"]:
        return "the long-term memory is larger than both memories"
    return None if values["smallest"] > values["n_neighbors"] else "a window is too small for the neighbors"


LIMITS = Record(
    Limits,
    {
        "n_neighbors": Int(1, MOST_NEIGHBORS),
        "total": Int(2, MOST_ROWS),
        "long": Int(0, MOST_ROWS),
        "smallest": Int(2, 2 * MOST_ROWS),
    },
    rules=(_sizes_fit,),
)


def _memories(n_extras: str | int) -> Record:
    """Return the declaration of memories with so many further values of each row."""
    return Record(
        SavedMemories,
        {
            "short_X": Floats("n_features", "n_short", low=-LARGEST_VALUE, high=LARGEST_VALUE, nan=True),
            "known": Flags("n_classes"),
            "short_labels": Indices("n_short", below="n_classes"),
            "short_arrivals": Indices("n_short", below=None),
            "short_extras": Floats(n_extras, "n_short", low=-LARGEST_EXTRA, high=LARGEST_EXTRA, nan=True),
            "hits": Flags(N_VOTES, "n_short"),
            "window_hits": Flags("n_windows", "n_short"),
            "n_older": Int(0, "n_short"),
            "window_starts": Indices("n_windows", below=None, low=-1),
            "window_counts": Indices("n_windows", below=None),
            "long_X": Floats("n_features", "n_long", low=-LARGEST_VALUE, high=LARGEST_VALUE, nan=True),
            "long_labels": Indices("n_long", below="n_classes"),
            "long_arrivals": Floats("n_long", low=0.0),
            "long_extras": Floats(n_extras, "n_long", low=-LARGEST_EXTRA, high=LARGEST_EXTRA, nan=True),
            "long_sizes": Floats("n_long", above=0.0),
            "before_X": Floats("n_features", "n_before", low=-LARGEST_VALUE, high=LARGEST_VALUE, nan=True),
            "before_labels": Indices("n_before", below="n_classes"),
            "before_arrivals": Indices("n_before", below=None),
            "drifts": Indices("n_kept_drifts", 3, below=None),
            "n_seen": Int(0),
            "n_drifts": Int(0),
            "n_compressions": Int(0),
            "has_gaps": Bool(),
            "seed": Int(0, 2**32),
        },
        at_least={"n_features": 1, "n_classes": 1},
    )


# Sizes that occur nowhere else, by which the shapes of arrays say what they depend on.
_SAMPLE_SIZES = {211: "n_features", 223: "n_classes"}


def _arrays(sample: Any, bounds: Mapping[str, Mapping[str, Any]], *rules: Rule) -> Record:
    """Return the declaration of a named tuple of arrays that depend on the numbers of features and classes.

    Parameters
    ----------
    sample : named tuple
        For the numbers of `_SAMPLE_SIZES`.
    bounds : mapping of str to mapping
        Bounds of the values of some fields; others are finite.
    *rules : callables
    """
    kinds: dict[str, Kind] = {}
    for name, array in sample._asdict().items():
        shape = [_SAMPLE_SIZES.get(size, size) for size in array.shape]
        if array.dtype == np.int64:
            kinds[name] = Indices(*shape, below=None)
        else:
            kinds[name] = Floats(*shape, **bounds.get(name, {}))
    return Record(type(sample), kinds, rules=rules)


def _log_weights_are_bounded(values: Values) -> str | None:
    learned = [values[name][0].ravel() for name in ("features", "classes", "age")]
    bounded = np.abs(np.concatenate(learned)).max(initial=0.0) <= LARGEST_LOG_WEIGHT
    return None if bounded else "there are log weights that are too large"


METRIC = _arrays(
    new_metric(*_SAMPLE_SIZES),
    {
        "moments": {"low": -LARGEST_VALUE},
        "center": {"low": -LARGEST_VALUE, "high": LARGEST_VALUE},
        "scale": {"above": 0.0, "infinite": True},
        "edges": {"low": -LARGEST_EXTRA, "high": LARGEST_EXTRA, "ascending": 1},
        "slopes": {"above": 0.0, "high": LARGEST_EXTRA},
        "class_weights": {"above": 0.0, "high": LARGEST_EXTRA},
        "typical": {"low": 0.0},
    },
    _log_weights_are_bounded,
)


def _weights_add_up(values: Values) -> str | None:
    add_up = abs(values["weights"].sum() - 1.0) <= LARGEST_ROUNDING
    return None if add_up else "the weights of the votes do not add up to 1"


VOTES = _arrays(new_votes(), {"weights": {"low": 0.0}, "hits": {"low": 0.0}}, _weights_add_up)


def _restored(memories: SavedMemories, limits_: Limits, **values: Any) -> Values:
    """Return the fitted attributes."""
    try:
        restored = memories.restored(limits_)
    except (ValueError, MemoryError) as error:
        raise InvalidModelFile(f"in its memories, {one_sentence(error)}") from error
    return {**values, "limits_": limits_, "memories_": restored}


def _extras_fit(values: Values) -> str | None:
    memories = values["memories"]
    n_features = len(memories.short_X)
    for extras in (memories.short_extras, memories.long_extras):
        if len(extras) != N_GROUPS * n_features:
            return "the rows do not have the values of a learned metric"
        weights = extras[WEIGHTS * n_features : (WEIGHTS + 1) * n_features]
        if not (weights >= 0).all():
            return "the rows have weights that are not at least 0"
    return None


def _self_adjusting(
    cls: type, memories: Record, *rules: Rule, with_older: bool = False, **fields: Kind
) -> Estimator:
    """Return the declaration of a classifier with memories.

    Parameters
    ----------
    cls : type
    memories : Record
    *rules : callables
    with_older : bool
        Whether it needs rows that the short-term memory has dropped.
    **fields : Kind
        The fitted attributes beside the memories.
    """
    return Estimator(
        cls,
        Record(
            _restored,
            {
                "n_features_in_": Size("n_features"),
                "feature_names_in_": Maybe(Texts("n_features")),
                "classes_": Names("n_classes", distinct=True),
                "limits_": LIMITS,
                "memories": memories,
                **fields,
            },
            sources={
                "feature_names_in_": if_present("feature_names_in_"),
                "memories": lambda clf: SavedMemories.of(clf.memories_, clf.limits_, with_older=with_older),
            },
            rules=rules,
        ),
    )


STREAMS = (
    _self_adjusting(SAMKNN, _memories(0)),
    _self_adjusting(
        SAMLANN, _memories("n_extras"), _extras_fit, with_older=True, metric_=METRIC, votes_=VOTES
    ),
)
