import numpy as np
import pytest

from benchmarks.common.datasets import load_set
from benchmarks.common.protocols import PROTOCOLS
from benchmarks.missing.tasks import best_accuracy, empty_cells, make_informative_gaps, random_task


def test_a_fifth_of_the_cells_is_emptied_at_random():
    X = np.random.default_rng(0).normal(size=(4000, 5))
    emptied = empty_cells(X, np.random.default_rng(1))
    np.testing.assert_allclose(np.isnan(emptied).mean(axis=0), 0.2, atol=0.03)
    np.testing.assert_array_equal(emptied[~np.isnan(emptied)], X[~np.isnan(emptied)])
    assert not np.isnan(X).any()


def test_complete_and_emptied_rows_are_the_same_rows():
    wine = load_set("wine")
    emptied, complete = (random_task(wine.X, wine.y, 0, 1, gaps=gaps) for gaps in (True, False))
    train, test = PROTOCOLS["paper"].splits(wine.X, wine.y, 0)[1]
    for task in (emptied, complete):
        np.testing.assert_array_equal(task.y_train, wine.y[train])
        np.testing.assert_array_equal(task.y_test, wine.y[test])
    assert 0.1 < np.isnan(emptied.X_train).mean() < 0.3
    assert 0.1 < np.isnan(emptied.X_test).mean() < 0.3
    assert np.isfinite(complete.X_train).all()
    # Scaled by the values that are there.
    np.testing.assert_allclose(np.nanmean(emptied.X_train, axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(np.nanstd(emptied.X_train, axis=0), 1)


def test_gaps_are_reproducible_and_differ_between_splits():
    wine = load_set("wine")
    first, again = (random_task(wine.X, wine.y, 0, 0, gaps=True) for _ in range(2))
    np.testing.assert_array_equal(first.X_train, again.X_train)
    a, b = (np.isnan(empty_cells(wine.X, np.random.default_rng([0, number]))) for number in (0, 1))
    assert (a != b).any()


def test_planted_gaps_tell_the_class_and_the_values_do_not():
    X, y = make_informative_gaps(20_000, np.random.default_rng(0))
    gaps = np.isnan(X)
    assert [gaps[y == label, 1].mean().round(2) for label in (0, 1)] == [0.1, 0.7]
    assert [gaps[y == label, 2].mean().round(1) for label in (0, 1)] == [0.3, 0.3]
    assert not gaps[:, [0, 3, 4]].any()
    assert X[y == 1, 0].mean() - X[y == 0, 0].mean() == pytest.approx(1, abs=0.05)
    present = ~gaps[:, 1]
    assert set(X[present, 1]) == {0, 1, 2, 3, 4}
    shares = [(X[present & (y == label), 1] == 0).mean() for label in (0, 1)]
    np.testing.assert_allclose(shares, 0.8, atol=0.02)
    assert np.nanmedian(X[:, 1]) == 0


@pytest.mark.parametrize("imputed", [False, True])
def test_the_best_accuracy_is_that_of_the_likelihood_ratio(imputed):
    X, y = make_informative_gaps(200_000, np.random.default_rng(1))
    gap = np.isnan(X[:, 1])
    found = gap | (X[:, 1] == 0) if imputed else gap
    p0, p1 = (0.82, 0.94) if imputed else (0.1, 0.7)
    log_ratio = X[:, 0] - 0.5 + np.where(found, np.log(p1 / p0), np.log((1 - p1) / (1 - p0)))
    assert best_accuracy(imputed=imputed) == pytest.approx(((log_ratio > 0) == y).mean(), abs=0.005)
