"""What files have of the classifiers for streams: their memories."""

from __future__ import annotations

from typing import Any

from lann.persist._errors import InvalidModelFile, one_sentence
from lann.persist._kinds import Bool, Flags, Floats, Indices, Int, Maybe, Names, Size, Texts
from lann.persist._records import Estimator, Record, Values, if_present
from lann.streams import LARGEST_VALUE, SAMKNN, Limits, SavedMemories

# Memories of other sizes are not saved: kernels would need more space than there is on any machine.
MOST_ROWS, MOST_NEIGHBORS = 10**9, 10**6


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


def _memories(n_votes: int, n_extras: str | int) -> Record:
    """Return the declaration of memories, with so many votes and further values of each row."""
    return Record(
        SavedMemories,
        {
            "short_X": Floats("n_features", "n_short", low=-LARGEST_VALUE, high=LARGEST_VALUE, nan=True),
            "known": Flags("n_classes"),
            "short_labels": Indices("n_short", below="n_classes"),
            "short_arrivals": Indices("n_short", below=None),
            "short_extras": Floats(n_extras, "n_short", nan=True),
            "hits": Flags(n_votes, "n_short"),
            "window_hits": Flags("n_windows", "n_short"),
            "window_starts": Indices("n_windows", below=None, low=-1),
            "window_counts": Indices("n_windows", below=None),
            "long_X": Floats("n_features", "n_long", low=-LARGEST_VALUE, high=LARGEST_VALUE, nan=True),
            "long_labels": Indices("n_long", below="n_classes"),
            "long_arrivals": Floats("n_long", low=0.0),
            "long_extras": Floats(n_extras, "n_long", nan=True),
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


def _fitted_attributes(memories: SavedMemories, limits_: Limits, **values: Any) -> Values:
    try:
        restored = memories.restored(limits_)
    except (ValueError, MemoryError) as error:
        raise InvalidModelFile(f"in its memories, {one_sentence(error)}") from error
    return {**values, "limits_": limits_, "memories_": restored}


def _self_adjusting(cls: type, memories: Record) -> Estimator:
    """Return the declaration of a classifier with memories."""
    return Estimator(
        cls,
        Record(
            _fitted_attributes,
            {
                "n_features_in_": Size("n_features"),
                "feature_names_in_": Maybe(Texts("n_features")),
                "classes_": Names("n_classes", distinct=True),
                "limits_": LIMITS,
                "memories": memories,
            },
            sources={
                "feature_names_in_": if_present("feature_names_in_"),
                "memories": lambda clf: SavedMemories.of(clf.memories_, clf.limits_.n_neighbors),
            },
        ),
    )


STREAMS = (_self_adjusting(SAMKNN, _memories(3, 0)),)
