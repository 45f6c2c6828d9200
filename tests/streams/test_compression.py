"""The compression of the long-term memory is k-means of each class, and keeps what rows stand for."""

import numpy as np
import pytest

from lann import _native
from lann.streams import SAMKNN
from lann.streams._memory import N_COMPRESSIONS
from tests.streams import reference


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
    centers, members = np.empty((3, 20)), np.zeros(41, np.int64)
    state = reference.Random(seed, 0).state
    _native.k_means(np.ascontiguousarray(rows.T), kind == "gaps", state, centers, members)
    expected = reference.k_means(rows, 20, reference.Random(seed, 0))
    np.testing.assert_array_equal(members, expected[1])
    np.testing.assert_allclose(centers.T, expected[0], rtol=1e-12)
    assert set(members) == set(range(20))


def test_centers_stand_for_all_rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 2)) + 100 * y[:, None]  # no row removes another
    clf = SAMKNN(window_size=60, min_window_size=100, random_state=0).fit(X, y)
    memories, n_long, n_left = clf.memories_, clf.long_term_size_, 400 - clf.short_term_size_
    sizes = memories.long_sizes[:n_long]
    assert memories.counters[N_COMPRESSIONS] > 5
    assert sizes.max() > 4
    assert sizes.sum() == n_left
    np.testing.assert_allclose(sizes @ memories.long_arrivals[:n_long], np.arange(n_left).sum())
    counts = np.bincount(memories.long_labels[:n_long], sizes)
    np.testing.assert_array_equal(counts, np.bincount(y[:n_left]))


@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_as_many_classes_as_rows():
    rng = np.random.default_rng(0)
    clf = SAMKNN(window_size=40, min_window_size=10, random_state=0)
    probabilities = clf.test_then_train(rng.normal(size=(200, 2)), np.arange(200))
    assert np.isfinite(probabilities).all()
    assert clf.short_term_size_ + clf.long_term_size_ <= 40
