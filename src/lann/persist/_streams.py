"""What files have of the classifiers for streams: their memories."""

from __future__ import annotations

from lann.persist._kinds import Bool, Flags, Floats, Indices, Int
from lann.persist._records import Record
from lann.streams import SavedMemories

# Squares of such values, and sums of these, are finite.
LARGEST = 1e150

MEMORIES = Record(
    SavedMemories,
    {
        "short_X": Floats("n_features", "n_short", low=-LARGEST, high=LARGEST, nan=True),
        "known": Flags("n_classes"),
        "short_labels": Indices("n_short", below="n_classes"),
        "short_arrivals": Indices("n_short", below=None),
        "short_extras": Floats("n_extras", "n_short", nan=True),
        "hits": Flags("n_votes", "n_short"),
        "window_hits": Flags("n_windows", "n_short"),
        "window_starts": Indices("n_windows", below=None, low=-1),
        "window_counts": Indices("n_windows", below=None),
        "long_X": Floats("n_features", "n_long", low=-LARGEST, high=LARGEST, nan=True),
        "long_labels": Indices("n_long", below="n_classes"),
        "long_arrivals": Floats("n_long", low=0.0),
        "long_extras": Floats("n_extras", "n_long", nan=True),
        "long_sizes": Floats("n_long", above=0.0),
        "before_X": Floats("n_features", "n_before", low=-LARGEST, high=LARGEST, nan=True),
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
