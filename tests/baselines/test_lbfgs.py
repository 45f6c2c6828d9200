"""L-BFGS minimizes functions of several arrays, and warns if it has not converged."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from lann.baselines._optimization import IterationSettings, minimize_lbfgs

INITIAL = [np.zeros((2, 2)), np.full(3, 5.0)]


def objective(matrix, vector):
    """Compute a function with its minimum at matrix = 1, vector = (0, 1, 2), and its gradients."""
    matrix_step, vector_step = matrix - 1.0, vector - np.arange(3.0)
    return np.sum(matrix_step**2) + np.sum(vector_step**4), [2.0 * matrix_step, 4.0 * vector_step**3]


def test_finds_the_minimum_of_several_arrays():
    minimum = minimize_lbfgs(objective, INITIAL, IterationSettings(200, 1e-12, "test"))
    matrix, vector = minimum.arrays
    np.testing.assert_allclose(matrix, np.ones((2, 2)), atol=1e-3)
    np.testing.assert_allclose(vector, np.arange(3.0), atol=0.05)
    assert minimum.converged
    assert minimum.n_iter == len(minimum.losses) > 3
    assert all(later <= earlier for earlier, later in zip(minimum.losses, minimum.losses[1:], strict=False))
    assert INITIAL[0].sum() == 0.0


def test_warns_if_it_has_not_converged(capsys):
    message = r"test has not converged after 2 iterations; raise max_iter"
    with pytest.warns(ConvergenceWarning, match=message):
        minimum = minimize_lbfgs(objective, INITIAL, IterationSettings(2, 1e-12, "test", verbose=1))
    assert not minimum.converged
    assert minimum.n_iter == 2
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["[test] iteration 1/2", "[test] iteration 2/2"]


def test_max_iter_0_returns_the_initial_arrays(recwarn):
    minimum = minimize_lbfgs(objective, INITIAL, IterationSettings(0, 1e-12, "test"))
    assert all(np.array_equal(one, other) for one, other in zip(minimum.arrays, INITIAL, strict=True))
    assert minimum.losses == []
    assert not recwarn
