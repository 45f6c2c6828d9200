"""Levels of small data sets before and after training, batches, and slow references."""

import numpy as np
import pytest

from lann.metric import Levels
from lann.training import Settings, train
from lann.training._loss import Batch

EPSILON = 0.05


@pytest.fixture
def plain(blobs):
    return Levels.plain(*blobs, 3)


@pytest.fixture
def learned(plain):
    return train(plain, Settings(max_iter=4), np.random.default_rng(0)).levels


@pytest.fixture
def rings():
    """Two features determine the class together: whether exactly one of them is far from 0."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(2000, 5))
    far = np.abs(X) > 0.6
    return X, (far[:, 0] != far[:, 1]).astype(np.int64)


@pytest.fixture(params=["equal", "weighted"])
def row_weights(request):
    """Return weights of so many rows, None where they count alike."""
    weighted = request.param == "weighted"
    return lambda n_rows: np.random.default_rng(2).uniform(0.2, 5.0, n_rows) if weighted else None


@pytest.fixture
def small_levels(row_weights):
    """30 rows of two classes over three features, with class weights."""
    rng = np.random.default_rng(0)
    plain = Levels.plain(rng.normal(size=(30, 3)), rng.integers(0, 2, 30), 2, row_weights=row_weights(30))
    return plain.replace(class_log_weights=0.5 * rng.normal(size=(2, 3)))


@pytest.fixture
def make_batch():
    """Make a random batch whose last axis is dropped."""

    def make(n_points=30, n_axes=3, *, seed=1, n_queries=10, n_candidates=12):
        rng = np.random.default_rng(seed)
        rows = rng.choice(n_points, n_queries, replace=False)
        others = [np.delete(np.arange(n_points), i) for i in rows]
        candidates = np.stack([some[rng.permutation(n_points - 1)[:n_candidates]] for some in others])
        mask = np.ones(n_axes)
        mask[-1] = 0.0
        dropped = rng.random(candidates.shape) >= 0.8
        return Batch(rows, np.where(dropped, -1, candidates), mask, EPSILON)

    return make
