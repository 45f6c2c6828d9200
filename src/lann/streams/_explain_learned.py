"""The vote that decides about a row, and what the classes depend on, under a learned metric."""

from __future__ import annotations

import numpy as np

from lann._support.types import Floats, Indices
from lann.streams._dependence import evenly_spaced, feature_dependence
from lann.streams._explain_one import DecidingVote, Dependence, in_python, plain_vote, stored_rows
from lann.streams._explanation import RECENT as RECENT_MEMORY
from lann.streams._memory import COMBINED, N_BEFORE, START, STOP, Limits
from lann.streams._metric import AXES, N_GROUPS, WEIGHTS, Metric
from lann.streams._metric_kernels import transform_row
from lann.streams._metric_steps import new_gradients
from lann.streams._metric_votes import PLAIN, RECENT, TIMELESS, VOTES, age_weight, guard_of, new_found
from lann.streams._sam_kernels import new_measured
from lann.streams._samlann_kernels import SAM_VOTE, Learned, Space, best_vote, predict_one


def learned_vote(learned: Learned, limits: Limits, x: Floats) -> DecidingVote:
    """Return the vote with the best recent record, for one row: (n_features,)."""
    memories, metric, votes = learned
    number = best_vote(votes)
    if number == SAM_VOTE:
        return plain_vote(memories, limits, x)
    space = Space(
        in_python(new_measured)(memories, limits),
        in_python(new_found)(memories, limits),
        in_python(new_gradients)(metric),
        np.zeros(len(memories.known)),
    )
    predict_one(learned, limits, x, space)
    found = space.found
    search, n_neighbors, power = VOTES[number]
    n_found = min(int(found.n_found[search]), n_neighbors)
    positions, capacity = found.columns[search, :n_found], memories.short_X.shape[1]
    columns = np.where(positions < capacity, positions, capacity - 1 - positions)
    guarded = found.lengths[search, :n_found] + (guard_of(metric, found, search) if n_found else 0.0)
    support = (guarded[:1] / guarded) ** power
    if search == PLAIN:
        steps = stored_rows(memories, columns) - x
        weights: Floats = np.ones(steps.shape)
    else:
        extras = _extras_of(learned, columns)
        steps, weights = extras[:, AXES] - found.axes, extras[:, WEIGHTS]
    n_common = np.isfinite(steps).sum(axis=1)
    scales = np.where(n_common > 0, len(x) / np.maximum(n_common, 1), np.nan)
    contributions = np.nan_to_num(weights * np.square(steps), nan=0.0) * scales[:, None]
    ages = np.zeros(n_found) if search in (PLAIN, TIMELESS) else age_weight(metric) * found.ages[positions]
    memory = RECENT_MEMORY if search == RECENT else COMBINED
    accuracy = None if search == PLAIN else float(votes.hits[number])
    return DecidingVote(memory, columns, contributions, support / support.sum(), ages, accuracy)


def learned_dependence(learned: Learned) -> Dependence:
    """Return the dependence on features as the metric measures now."""
    memories, metric, _ = learned
    counters = memories.counters
    start, stop, n_before = int(counters[START]), int(counters[STOP]), int(counters[N_BEFORE])
    extras = _extras_of(learned, start + evenly_spaced(stop - start))
    labels = memories.short_labels[start + evenly_spaced(stop - start)]
    scale = np.sqrt(extras[:, WEIGHTS].mean(axis=0)) if len(extras) else np.ones(len(metric.center))
    now = feature_dependence(extras[:, AXES] * scale, labels)
    if n_before == 0:
        return Dependence(now, None)
    before = _transformed(metric, memories.before_X[:, :n_before].T) * scale
    return Dependence(now, feature_dependence(before, memories.before_labels[:n_before]))


def _extras_of(learned: Learned, columns: Indices) -> Floats:
    """Return the extras of stored rows: (n_rows, 3, n_features)."""
    short, long = learned.memories.short_extras, learned.memories.long_extras
    rows = [short[:, c] if c >= 0 else long[:, -1 - c] for c in columns]
    return np.array(rows).reshape(len(columns), N_GROUPS, -1)


def _transformed(metric: Metric, X: Floats) -> Floats:
    rows = np.ascontiguousarray(X)
    out = np.empty(rows.shape)
    for row, target in zip(rows, out, strict=True):
        transform_row(metric, row, target)
    return out
