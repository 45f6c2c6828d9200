"""The kernels of SAMKNN agree with memories that are lists, row by row."""

import numpy as np
import pytest

from lann.streams import SAMKNN
from tests.streams.reference import SelfAdjustingMemories


def drifting(rng, n_rows):
    """Return rows whose classes are swapped after the first half, and that move afterwards."""
    X = rng.normal(size=(n_rows, 3))
    y = (X[:, 0] + 0.3 * rng.normal(size=n_rows) > 0).astype(int)
    y[n_rows // 2 :] = 1 - y[n_rows // 2 :]
    X[3 * n_rows // 4 :] += 0.5
    return X, y


def with_gaps(rng, n_rows):
    X, y = drifting(rng, n_rows)
    X[rng.random(X.shape) < 0.2] = np.nan
    return X, y


def with_ties(rng, n_rows):
    """Return rows of few values: duplicates, and many equal distances."""
    X = rng.integers(0, 4, size=(n_rows, 3)).astype(float)
    X[:, 2] = 7.0
    y = ((X[:, 0] > 1) ^ (np.arange(n_rows) > n_rows // 2)).astype(int)
    noisy = rng.random(n_rows) < 0.1
    y[noisy] = 1 - y[noisy]
    return X, y


def recurring(rng, n_rows):
    """Return four classes of which two at a time occur, in turns."""
    turn = np.arange(n_rows) // 60 % 2
    y = 2 * turn + rng.integers(0, 2, n_rows)
    X = np.column_stack([y + 0.4 * rng.normal(size=n_rows), rng.normal(size=n_rows)])
    return X, y


CASES = [
    (drifting, {"k": 5, "total": 100, "long": 40, "smallest": 20}),
    (drifting, {"k": 1, "total": 60, "long": 24, "smallest": 10}),
    (with_gaps, {"k": 3, "total": 90, "long": 36, "smallest": 15}),
    (with_ties, {"k": 5, "total": 80, "long": 40, "smallest": 16}),
    (recurring, {"k": 4, "total": 120, "long": 30, "smallest": 12}),
]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("make", "sizes"), CASES)
def test_every_prediction_and_both_memories(make, sizes, seed):
    X, y = make(np.random.default_rng(seed), 360)
    n_classes = y.max() + 1
    clf = SAMKNN(
        sizes["k"],
        window_size=sizes["total"],
        long_term_share=sizes["long"] / sizes["total"],
        min_window_size=sizes["smallest"],
        random_state=seed,
    )
    found = clf.test_then_train(X, y)
    slow = SelfAdjustingMemories(n_classes, seed=int(np.random.RandomState(seed).randint(2**31 - 1)), **sizes)
    for row, (x, label) in enumerate(zip(X, y, strict=True)):
        np.testing.assert_allclose(found[row], slow.predict_proba(x), rtol=1e-12, err_msg=f"row {row}")
        slow.learn(x, int(label))
    assert [tuple(reset) for reset in clf.resets_] == slow.resets
    assert (clf.short_term_size_, clf.long_term_size_) == (len(slow.short), len(slow.long))
    np.testing.assert_allclose(clf.memory_weights_, np.mean(slow.hits, axis=0))
    memories = clf.memories_
    np.testing.assert_allclose(
        memories.long_X[:, : len(slow.long)].T, [row for row, _ in slow.long], rtol=1e-12
    )
    assert memories.long_labels[: len(slow.long)].tolist() == [label for _, label in slow.long]
    assert slow.n_compressions > 0
    assert len(slow.resets) > 0
