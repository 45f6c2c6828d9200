import numpy as np

from lann.bench.explanations.real_sets import real_task
from lann.bench.paper import load_sets
from lann.bench.protocols import PROTOCOLS


def test_a_split_of_the_papers_protocol_scaled_by_its_training_part():
    (wine,), _ = load_sets(["wine"])
    task = real_task(wine, 1, 20, n_jobs=1)
    train, test = PROTOCOLS["paper"].splits(wine.X, wine.y, 0)[1]
    np.testing.assert_array_equal(task.y, wine.y[train])
    np.testing.assert_array_equal(task.answers, wine.y[test[:20]])
    np.testing.assert_allclose(task.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(task.X.std(axis=0), 1)
    center, scale = wine.X[train].mean(axis=0), wine.X[train].std(axis=0)
    np.testing.assert_allclose(task.queries, (wine.X[test[:20]] - center) / scale)
