"""The compression of the long-term memory is k-means of each class, and keeps what rows stand for."""

import numpy as np
import pytest

from lann.streams import SAMKNN
from lann.streams._compression import compress, k_means
from lann.streams._memory import N_LONG, Limits, new_memories
from tests.streams import reference


def state_of(seed, n_compressions):
    return np.array([reference.Random(seed, n_compressions).state], np.uint64)


@pytest.mark.parametrize("kind", ["distinct", "gaps", "duplicates", "equal"])
@pytest.mark.parametrize("seed", range(3))
def test_k_means(kind, seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(41, 3))
    if kind == "gaps":
        rows[rng.random(rows.shape) < 0.2] = np.nan
        rows[np.isnan(rows).all(axis=1), 0] = 0.0
    if kind == "duplicates":
        rows = rng.integers(0, 3, size=(41, 3)).astype(float)
    if kind == "equal":
        rows[:] = 1.0
    centers, members = k_means(np.ascontiguousarray(rows.T), 20, kind == "gaps", state_of(seed, 0))
    expected = reference.k_means(rows, 20, reference.Random(seed, 0))
    np.testing.assert_array_equal(members, expected[1])
    np.testing.assert_allclose(centers.T, expected[0], rtol=1e-12)
    assert set(members) == set(range(20))


def test_centers_stand_for_all_rows():
    limits = Limits(5, 100, 40, 20)
    memories = new_memories(2, 3, limits, 0, n_extras=2)
    rng = np.random.default_rng(0)
    n_rows = 50
    memories.long_X[:, :n_rows] = rng.normal(size=(2, n_rows))
    memories.long_labels[:n_rows] = np.r_[np.zeros(30), np.ones(19), 2]
    memories.long_arrivals[:n_rows] = np.arange(n_rows)
    memories.long_sizes[:n_rows] = rng.integers(1, 4, n_rows)
    memories.long_extras[:, :n_rows] = memories.long_X[:, :n_rows] * [[1.0], [2.0]]
    memories.counters[N_LONG] = n_rows
    weights = memories.long_sizes[:n_rows].copy()
    totals = [weights.sum(), weights @ np.arange(n_rows), memories.long_extras[:, :n_rows] @ weights]
    compress(memories)
    assert memories.counters[N_LONG] == 25
    np.testing.assert_array_equal(memories.long_labels[:25], np.r_[np.zeros(15), np.ones(9), 2])
    weights = memories.long_sizes[:25]
    assert weights.sum() == totals[0]
    np.testing.assert_allclose(weights @ memories.long_arrivals[:25], totals[1])
    np.testing.assert_allclose(memories.long_extras[:, :25] @ weights, totals[2])


@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_as_many_classes_as_rows():
    rng = np.random.default_rng(0)
    clf = SAMKNN(window_size=40, min_window_size=10, random_state=0)
    probabilities = clf.test_then_train(rng.normal(size=(200, 2)), np.arange(200))
    assert np.isfinite(probabilities).all()
    assert clf.short_term_size_ + clf.long_term_size_ <= 40
