"""Memories without spare columns: they go on as those of which they are the state, to the bit."""

import numpy as np
import pytest

from lann.streams._memory import Limits, new_memories
from lann.streams._sam_kernels import learn_rows
from lann.streams._saved_memories import SavedMemories

LIMITS = Limits(n_neighbors=3, total=120, long=40, smallest=10)


def rows_with_drift(n_rows, *, gaps=False, seed=0):
    """Return rows of two classes whose boundary turns now and then."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    turned = np.arange(n_rows) // 150 % 2 == 1
    labels = (np.where(turned, X[:, 0], X[:, 1]) > 0).astype(np.int64)
    if gaps:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, labels


def learned(memories, X, labels):
    """Learn rows; return the probabilities of each before."""
    out = np.empty((len(X), 2))
    learn_rows(memories, LIMITS, X, labels, out)
    return out


def state(memories, **options):
    return SavedMemories.of(memories, LIMITS, **options)


@pytest.mark.parametrize("with_older", [False, True])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("n_rows", [1, 2, 30, 151, 400, 707])
def test_restored_memories_go_on_with_the_same_bits(n_rows, gaps, with_older):
    X, labels = rows_with_drift(1000, gaps=gaps)
    memories = new_memories(3, 2, LIMITS, seed=5)
    learned(memories, X[:n_rows], labels[:n_rows])
    saved = state(memories, with_older=with_older)
    restored = saved.restored(LIMITS)
    expected = learned(memories, X[n_rows:], labels[n_rows:])
    np.testing.assert_array_equal(learned(restored, X[n_rows:], labels[n_rows:]), expected)
    for one, other in zip(state(restored), state(memories), strict=True):
        np.testing.assert_array_equal(one, other)


def test_rows_that_were_dropped_come_first():
    X, labels = rows_with_drift(170)
    memories = new_memories(3, 2, LIMITS, seed=5)
    learned(memories, X, labels)
    saved, short = state(memories, with_older=True), state(memories)
    assert saved.short_X.shape[1] == min(LIMITS.total, 170)
    assert saved.n_older == saved.short_X.shape[1] - short.short_X.shape[1] > 0
    np.testing.assert_array_equal(saved.short_X, X[-saved.short_X.shape[1] :].T)
    np.testing.assert_array_equal(saved.restored(LIMITS).hit_counts, memories.hit_counts)


def test_nothing_spare_is_saved_and_nothing_is_shared():
    X, labels = rows_with_drift(700)
    memories = new_memories(3, 2, LIMITS, seed=5)
    learned(memories, X, labels)
    saved = state(memories)
    assert saved.short_X.shape[1] + saved.long_X.shape[1] <= LIMITS.total
    assert saved.n_seen == 700
    assert saved.n_drifts > 0
    assert saved.n_compressions > 0
    short = saved.short_X.copy()
    learned(memories, X, labels)
    learned(saved.restored(LIMITS), X, labels)
    np.testing.assert_array_equal(saved.short_X, short)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"window_starts": 1000}, "windows of rows that are not there"),
        ({"window_counts": 1000}, "windows of rows that are not there"),
        ({"n_older": 500}, "more rows that were dropped"),
        ({"n_drifts": 7000}, "drifts are not as many"),
        ({"short_X": np.nan}, "missing values where none were counted"),
        ({"known": 0}, "unknown classes"),
    ],
)
def test_states_that_are_inconsistent(changes, message):
    memories = new_memories(3, 2, LIMITS, seed=5)
    learned(memories, *rows_with_drift(400))
    saved = state(memories)
    ((name, value),) = changes.items()
    if isinstance(getattr(saved, name), np.ndarray):
        getattr(saved, name)[...] = value
    else:
        saved = saved._replace(**changes)
    with pytest.raises(ValueError, match=message):
        saved.restored(LIMITS)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (LIMITS._replace(total=50), "rows, and at most 50 are kept"),
        (LIMITS._replace(smallest=2), "number of windows"),
    ],
)
def test_states_that_do_not_fit_the_sizes(limits, message):
    memories = new_memories(3, 2, LIMITS, seed=5)
    learned(memories, *rows_with_drift(400))
    with pytest.raises(ValueError, match=message):
        state(memories).restored(limits)
