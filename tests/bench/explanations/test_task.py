import numpy as np

from lann.bench.explanations.task import FULL, QUICK, planted_task
from lann.datasets import make_local_relevance


def test_the_generators_defaults_in_two_parts():
    task = planted_task(8, 5, 40, 10, n_jobs=1)
    X, y, mask = make_local_relevance(50, 8, random_state=5)
    np.testing.assert_array_equal(np.concatenate([task.X, task.queries]), X)
    np.testing.assert_array_equal(np.concatenate([task.y, task.answers]), y)
    np.testing.assert_array_equal(task.planted, mask[40:])


def test_sizes_are_those_that_are_promised():
    assert (FULL.n_seeds, FULL.n_features, FULL.n_train, FULL.n_test) == (10, (8, 12, 20), 2000, 500)
    assert FULL.timed_rows == QUICK.timed_rows == 10_000
    assert len(FULL.real_sets) == 13
    assert set(QUICK.real_sets) < set(FULL.real_sets)
    for sizes in (FULL, QUICK):
        assert dict(sizes.rows).keys() == dict(sizes.nudged_rows).keys() == {"all", "some", "few"}
        assert all(dict(sizes.nudged_rows)[kind] <= n <= sizes.n_test for kind, n in sizes.rows)
