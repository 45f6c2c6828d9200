import numpy as np

from benchmarks.common.datasets import load_set
from benchmarks.common.protocols import PROTOCOLS, scale
from benchmarks.explanations.tasks import FULL, QUICK, permuted_task, planted_task, real_task
from lann.datasets import make_local_relevance


def test_planted_data_are_those_of_the_generator_in_two_parts():
    task = planted_task(8, 5, 40, 10, n_jobs=1)
    X, y, mask = make_local_relevance(50, 8, random_state=5)
    np.testing.assert_array_equal(np.concatenate([task.X, task.X_test]), X)
    np.testing.assert_array_equal(np.concatenate([task.y, task.y_test]), y)
    np.testing.assert_array_equal(task.planted, mask[40:])


def test_permuted_labels_are_reproducible(task):
    first, again, second = (permuted_task(task, permutation) for permutation in (0, 0, 1))
    np.testing.assert_array_equal(first.y, again.y)
    assert (first.y != second.y).any()
    assert (first.y != task.y).mean() > 0.3
    np.testing.assert_array_equal(np.sort(first.y), np.sort(task.y))
    assert first.X is task.X


def test_real_data_are_a_split_of_the_papers_protocol():
    wine = load_set("wine")
    task = real_task(wine, 1, 20, n_jobs=1)
    train, test = PROTOCOLS["paper"].splits(wine.X, wine.y, 0)[1]
    np.testing.assert_array_equal(task.y, wine.y[train])
    np.testing.assert_array_equal(task.y_test, wine.y[test[:20]])
    X, X_test = scale(wine.X, (train, test[:20]))
    np.testing.assert_array_equal(task.X, X)
    np.testing.assert_array_equal(task.X_test, X_test)


def test_a_method_explains_no_more_rows_than_there_are():
    for sizes in (FULL, QUICK):
        assert sizes.n_rows.keys() == sizes.n_perturbed.keys() == {"all", "some", "few"}
        assert all(sizes.n_perturbed[kind] <= n <= sizes.n_test for kind, n in sizes.n_rows.items())
    assert set(QUICK.real_sets) < set(FULL.real_sets)
