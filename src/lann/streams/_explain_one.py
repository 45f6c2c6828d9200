"""Build the explanation of one prediction from the memories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from lann._support.inputs import get_feature_names
from lann._support.types import Floats, Indices
from lann.streams._dependence import evenly_spaced, feature_dependence
from lann.streams._explanation import MEMORY_NAMES, RECENT, StreamExplanation
from lann.streams._memory import LONG, N_BEFORE, N_SEEN, SHORT, START, STOP, Limits, Memories
from lann.streams._neighbors import vote_weights
from lann.streams._sam_kernels import deciding_vote, measure, new_measured

Result = TypeVar("Result")


class DecidingVote(NamedTuple):
    """The vote that decides about one row.

    Attributes
    ----------
    memory : int
        SHORT, LONG, COMBINED or RECENT.
    columns : (n_neighbors,)
        Of the neighbors, nearest first; −1 − column for a long-term row.
    contributions : (n_neighbors, n_features)
        Parts of the squared distances; NaN for a row without a common feature.
    shares : (n_neighbors,)
        Of the vote.
    age_contributions : (n_neighbors,) or None
        Parts of the squared distances that are due to the age of the neighbors.
    accuracy : float or None
        Recent accuracy of a vote under a learned metric; None for plain distances.
    """

    memory: int
    columns: Indices
    contributions: Floats
    shares: Floats
    age_contributions: Floats | None = None
    accuracy: float | None = None


class Dependence(NamedTuple):
    """How much each feature separates the classes, now and before the last drift: (n_features,) each."""

    now: Floats
    before: Floats | None


def plain_vote(memories: Memories, limits: Limits, x: Floats) -> DecidingVote:
    """Return the vote that decides about a row in plain Euclidean distances: (n_features,)."""
    measured = in_python(new_measured)(memories, limits)
    measure(memories, limits, x, measured)
    number = deciding_vote(memories, limits)
    n_found = int(measured.n_found[number])
    columns = measured.columns[number, :n_found].copy()
    if number == 1:
        columns = -1 - columns
    weights = np.empty(len(measured.weights))
    vote_weights(measured.lengths[number], n_found, weights)
    shares = weights[:n_found] / weights[:n_found].sum() if n_found else weights[:0]
    contributions = np.square(stored_rows(memories, columns) - x)
    n_common = np.isfinite(contributions).sum(axis=1)
    scales = np.where(n_common > 0, len(x) / np.maximum(n_common, 1), np.nan)
    contributions = np.nan_to_num(contributions, nan=0.0) * scales[:, None]
    return DecidingVote(int(number), columns, contributions, shares)


def in_python(function: Callable[..., Result]) -> Callable[..., Result]:
    """Return a compiled function as it was before.

    For those that return tuples with names: an interrupt at this time would end the process.
    """
    return getattr(function, "py_func", function)


def stored_rows(memories: Memories, columns: Indices) -> Floats:
    """Return the values of stored rows: (n_rows, n_features)."""
    rows = [memories.short_X[:, c] if c >= 0 else memories.long_X[:, -1 - c] for c in columns]
    return np.array(rows).reshape(len(columns), len(memories.short_X))


def plain_dependence(memories: Memories) -> Dependence:
    """Return the dependence on features in plain Euclidean distances."""
    counters = memories.counters
    start, stop, n_before = counters[START], counters[STOP], counters[N_BEFORE]
    columns = start + evenly_spaced(stop - start)
    now = feature_dependence(memories.short_X[:, columns].T, memories.short_labels[columns])
    if n_before == 0:
        return Dependence(now, None)
    before = feature_dependence(memories.before_X[:, :n_before].T, memories.before_labels[:n_before])
    return Dependence(now, before)


def build_explanation(
    clf: Any, x: Floats, probabilities: Floats, vote: DecidingVote, dependence: Dependence
) -> StreamExplanation:
    """Explain the prediction of a classifier with self-adjusting memories.

    Parameters
    ----------
    clf : SelfAdjustingClassifier
    x : (n_features,)
    probabilities : (n_classes,)
    vote : DecidingVote
    dependence : Dependence
    """
    memories = clf.memories_
    n_seen, is_long = int(memories.counters[N_SEEN]), vote.columns < 0
    short, long = np.where(is_long, 0, vote.columns), np.where(is_long, -1 - vote.columns, 0)
    arrivals = np.where(is_long, memories.long_arrivals[long], memories.short_arrivals[short])
    labels = np.where(is_long, memories.long_labels[long], memories.short_labels[short])
    drifts = clf.drifts_
    squared = vote.contributions.sum(axis=1)
    if vote.age_contributions is not None:
        squared = squared + vote.age_contributions
    # Of the newest rows, some have left the short-term memory.
    memory_numbers = np.where(is_long, LONG, np.where(vote.columns < memories.counters[START], RECENT, SHORT))
    return StreamExplanation(
        prediction=clf.classes_[int(probabilities.argmax())],
        classes=clf.classes_,
        probabilities=probabilities,
        memory=MEMORY_NAMES[vote.memory],
        memory_weights=clf.memory_weights_[:3],
        n_recent=clf.short_term_size_,
        feature_names=get_feature_names(clf),
        query=x,
        neighbors=stored_rows(memories, vote.columns),
        neighbor_labels=clf.classes_[labels],
        neighbor_memories=np.array(MEMORY_NAMES)[memory_numbers],
        ages=n_seen - arrivals,
        sizes=np.where(is_long, memories.long_sizes[long], 1.0),
        distances=np.where(np.isnan(squared), np.inf, np.sqrt(squared)),
        vote_shares=vote.shares,
        contributions=np.nan_to_num(vote.contributions, nan=0.0),
        dependence_now=dependence.now,
        dependence_before=dependence.before,
        last_drift=drifts[-1] if drifts else None,
        n_seen=n_seen,
        age_contributions=vote.age_contributions,
        vote_accuracy=vote.accuracy,
    )
