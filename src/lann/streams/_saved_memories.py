"""Memories without what is spare in their arrays, as model files have them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lann._support.types import Floats, Indices, Labels
from lann.streams._memory import (
    HAS_GAPS,
    MAX_BEFORE,
    MAX_DRIFTS,
    N_BEFORE,
    N_COMPRESSIONS,
    N_DRIFTS,
    N_LONG,
    N_SEEN,
    SEED,
    START,
    STOP,
    Limits,
    Memories,
    new_memories,
)

# Fields of the short-term rows, of the long-term rows, and of rows from before the last drift. Their last
# dimension is that of the rows.
_SHORT = ("short_X", "short_labels", "short_arrivals", "short_extras", "hits", "window_hits")
_LONG = ("long_X", "long_labels", "long_arrivals", "long_extras", "long_sizes")
_BEFORE = ("before_X", "before_labels", "before_arrivals")


class SavedMemories(NamedTuple):
    """The state of memories; see `Memories`.

    Attributes
    ----------
    short_X, short_labels, short_arrivals, short_extras, hits, window_hits : (..., n_short)
    n_older : int
        How many of these rows the short-term memory has dropped; they come first.
    window_starts : (n_windows,)
        Positions of the first rows of windows among these rows, -1 for none.
    window_counts : (n_windows,)
    long_X, long_labels, long_arrivals, long_extras, long_sizes : (..., n_long)
    before_X, before_labels, before_arrivals : (..., n_before)
    known : (n_classes,)
    drifts : (n_kept_drifts, 3)
    n_seen, n_drifts, n_compressions, seed : int
    has_gaps : bool
    """

    short_X: Floats
    short_labels: Labels
    short_arrivals: Indices
    short_extras: Floats
    hits: NDArray[np.uint8]
    window_hits: NDArray[np.uint8]
    n_older: int
    window_starts: Indices
    window_counts: Indices
    long_X: Floats
    long_labels: Labels
    long_arrivals: Floats
    long_extras: Floats
    long_sizes: Floats
    before_X: Floats
    before_labels: Labels
    before_arrivals: Indices
    known: NDArray[np.uint8]
    drifts: Indices
    n_seen: int
    n_drifts: int
    n_compressions: int
    has_gaps: bool
    seed: int

    @classmethod
    def of(cls, memories: Memories, limits: Limits, *, with_older: bool = False) -> SavedMemories:
        """Return the state of memories.

        Parameters
        ----------
        memories : Memories
        limits : Limits
        with_older : bool
            Whether rows that the short-term memory has dropped are of use, as far as they are among the
            newest `limits.total` rows.
        """
        counters = memories.counters
        stop = counters[STOP]
        first = max(stop - limits.total, 0) if with_older else counters[START]
        parts = [
            (_SHORT, slice(first, stop)),
            (_LONG, slice(counters[N_LONG])),
            (_BEFORE, slice(counters[N_BEFORE])),
        ]
        arrays = {name: getattr(memories, name)[..., rows].copy() for names, rows in parts for name in names}
        starts = np.where(memories.window_starts < 0, -1, memories.window_starts - first)
        # The first rows of a window are not predicted. Hits outside of windows are of earlier windows, and
        # never read.
        predicted = np.where(starts < 0, stop, starts + limits.n_neighbors)
        arrays["window_hits"][np.arange(stop - first) < predicted[:, None]] = 0
        return cls(
            **arrays,
            n_older=int(counters[START] - first),
            window_starts=starts,
            window_counts=memories.window_counts.copy(),
            known=memories.known.copy(),
            drifts=memories.drifts[: counters[N_DRIFTS]].copy(),
            n_seen=int(counters[N_SEEN]),
            n_drifts=int(counters[N_DRIFTS]),
            n_compressions=int(counters[N_COMPRESSIONS]),
            has_gaps=bool(counters[HAS_GAPS]),
            seed=int(counters[SEED]),
        )

    def restored(self, limits: Limits) -> Memories:
        """Return memories that go on as those of which this is the state.

        Parameters
        ----------
        limits : Limits

        Raises
        ------
        ValueError
            If the state does not fit them, or is inconsistent; the message is the end of a sentence.
        """
        self._check(limits)
        n_features, n_short = self.short_X.shape
        memories = new_memories(
            n_features,
            len(self.known),
            limits,
            self.seed,
            n_extras=len(self.short_extras),
            n_votes=len(self.hits),
        )
        if len(memories.window_starts) != len(self.window_starts):
            raise ValueError("the number of windows is not that of the window size")
        n_long, n_before = self.long_X.shape[1], self.before_X.shape[1]
        for names, size in ((_SHORT, n_short), (_LONG, n_long), (_BEFORE, n_before)):
            for name in names:
                getattr(memories, name)[..., :size] = getattr(self, name)
        memories.hit_counts[:] = self.hits[:, self.n_older :].sum(axis=1)
        memories.window_starts[:] = self.window_starts
        memories.window_counts[:] = self.window_counts
        memories.known[:] = self.known
        memories.drifts[: len(self.drifts)] = self.drifts
        counters = memories.counters
        counters[START], counters[STOP] = self.n_older, n_short
        counters[N_LONG], counters[N_BEFORE] = n_long, n_before
        counters[N_SEEN], counters[N_DRIFTS] = self.n_seen, self.n_drifts
        counters[N_COMPRESSIONS], counters[HAS_GAPS] = self.n_compressions, self.has_gaps
        return memories

    def _check(self, limits: Limits) -> None:
        n_short, n_long = self.short_X.shape[1], self.long_X.shape[1]
        labels = np.concatenate([self.short_labels, self.long_labels])
        n_kept = max(n_short - self.n_older + n_long, n_short)
        wrong = {
            f"there are {n_kept} rows, and at most {limits.total} are kept": n_kept > limits.total,
            "there are more rows that were dropped than rows": self.n_older > n_short,
            "there are windows of rows that are not there": (
                max(self.window_starts.max(initial=0), self.window_counts.max(initial=0)) > n_short
            ),
            f"there are more than {MAX_BEFORE} rows from before the last drift": (
                self.before_X.shape[1] > MAX_BEFORE
            ),
            "the drifts are not as many as were counted": len(self.drifts) != min(self.n_drifts, MAX_DRIFTS),
            "there are missing values where none were counted": (
                not self.has_gaps and bool(np.isnan(self.short_X).any() or np.isnan(self.long_X).any())
            ),
            "there are rows of unknown classes": not self.known[labels].all(),
        }
        for sentence, is_wrong in wrong.items():
            if is_wrong:
                raise ValueError(sentence)
