"""The data sets with missing values, and which of them can be loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from benchmarks.common.datasets import QUICK_SETS, load_sets
from benchmarks.common.measure import Task
from benchmarks.common.published import PUBLISHED
from benchmarks.missing.tasks import MOST_TRAINING_ROWS, N_PLANTED, planted_task, random_task, table_task
from benchmarks.mixed.data import load_mixed_sets

RANDOM_SETS = tuple(PUBLISHED)
QUICK_RANDOM_SETS = tuple(name for name in QUICK_SETS if name in PUBLISHED)
VOTES, PLANTED = INFORMATIVE_SETS = ("house-votes-84", "planted-gaps")


@dataclass(frozen=True)
class Source:
    """
    Rows for training and testing.

    Parameters
    ----------
    name
        The data set.
    digest
        Digest of its data; empty if they are generated.
    make
        From a seed and the number of a split to the rows.
    size
        Number of cells of the training rows.
    has_tables
        Whether the rows are data frames with categories, rather than arrays.
    """

    name: str
    digest: str
    make: Callable[[int, int], Task]
    size: int
    has_tables: bool = False


def random_sources(names: Iterable[str], *, gaps: bool) -> tuple[list[Source], dict[str, str]]:
    """Return the data sets of the paper that can be loaded, and the reasons why the others cannot."""
    found, skipped = load_sets(names)
    sources = []
    for data in found:
        size = min(len(data.y) // 4, MOST_TRAINING_ROWS) * data.X.shape[1]
        sources.append(Source(data.name, data.digest, partial(random_task, data.X, data.y, gaps=gaps), size))
    return sources, skipped


def informative_sources(names: Iterable[str]) -> tuple[list[Source], dict[str, str]]:
    """Return the data sets with informative gaps, and the reasons why some cannot be loaded."""
    chosen = list(names)
    votes, skipped = load_mixed_sets([VOTES] if VOTES in chosen else [])
    sources = [
        Source(data.name, data.digest, partial(table_task, data), data.table.size // 2, has_tables=True)
        for data in votes
    ]
    if PLANTED in chosen:
        sources.append(Source(PLANTED, "", planted_task, N_PLANTED * 5))
    return sources, skipped
