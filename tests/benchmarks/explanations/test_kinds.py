import numpy as np
import pytest

from benchmarks.explanations.kinds import DEEP, JOINT, KINDS, N_FEATURES, PAIR, QUADRANTS, kind_task


@pytest.mark.parametrize("kind", KINDS)
def test_the_planted_features_alone_determine_the_label(kind):
    made = KINDS[kind](np.random.default_rng(0), 400)
    rng = np.random.default_rng(1)
    others = KINDS[kind](rng, 400)
    kept = made.planted.copy()
    kept[:, list(made.ignored)] = True
    changed = np.where(kept, made.X, others.X)
    expected = {
        QUADRANTS: lambda X: X[made.planted],
        JOINT: lambda X: X[:, 0] * X[:, 1],
    }.get(kind, lambda X: (X * made.planted * ([1, 1, 0.7] + [1] * 7 if kind == DEEP else 1)).sum(axis=1))
    np.testing.assert_allclose(expected(changed), made.score)
    assert 0.35 < (made.score > 0).mean() < 0.65


def test_copies_are_correlated_and_the_rest_is_not():
    X = KINDS[PAIR](np.random.default_rng(0), 4000).X
    correlations = np.corrcoef(X.T)
    assert correlations[0, 1] == pytest.approx(1 / 1.09, abs=0.03)
    np.fill_diagonal(correlations, 0.0)
    correlations[:2, :2] = 0.0
    assert np.abs(correlations).max() < 0.08


def test_decoys_are_correlated_with_the_features_that_decide():
    X = KINDS["correlated noise"](np.random.default_rng(0), 4000).X
    assert np.corrcoef(X[:, 0], X[:, 2])[0, 1] == pytest.approx(0.8, abs=0.03)
    assert X.std(axis=0) == pytest.approx(np.ones(N_FEATURES), abs=0.05)


def test_deep_rows_are_the_ones_farthest_from_the_boundary():
    task = kind_task(DEEP, 0, 100, 30, n_jobs=1)
    assert len(task.X) == 100
    assert len(task.X_test) == len(task.planted) == 30

    def margins(X):
        return np.abs(X[:, 0] + X[:, 1] + 0.7 * X[:, 2])

    assert margins(task.X_test).min() > np.quantile(margins(task.X), 0.6)
    np.testing.assert_array_equal(
        task.y_test, task.X_test[:, 0] + task.X_test[:, 1] + 0.7 * task.X_test[:, 2] > 0
    )


def test_the_features_that_choose_are_left_out():
    assert kind_task(QUADRANTS, 0, 10, 5, n_jobs=1).ignored == (0, 1)
    assert kind_task(JOINT, 0, 10, 5, n_jobs=1).ignored == ()


def test_seeds_give_other_data():
    first, again, other = (kind_task(JOINT, seed, 10, 5, n_jobs=1) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.X, again.X)
    assert (first.X != other.X).all()
