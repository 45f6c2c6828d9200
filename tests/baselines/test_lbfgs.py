"""The driver finds minima, tells its course, and says when it was stopped."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from lann.baselines._lbfgs import minimize_lbfgs


def valley(matrix, vector):
    """Least at matrix = 1, vector = (0, 1, 2)."""
    off, beside = matrix - 1.0, vector - np.arange(3.0)
    return np.sum(off**2) + np.sum(beside**4), [2.0 * off, 4.0 * beside**3]


START = [np.zeros((2, 2)), np.full(3, 5.0)]


def test_finds_the_minimum_of_several_arrays():
    found = minimize_lbfgs(valley, START, max_iter=200, tol=1e-12, name="valley")
    matrix, vector = found.arrays
    np.testing.assert_allclose(matrix, np.ones((2, 2)), atol=1e-3)
    np.testing.assert_allclose(vector, np.arange(3.0), atol=0.05)
    assert found.converged
    assert found.n_iter == len(found.losses) > 3
    assert all(later <= earlier for earlier, later in zip(found.losses, found.losses[1:], strict=False))
    assert START[0].sum() == 0.0


def test_warns_when_it_is_stopped(capsys):
    with pytest.warns(
        ConvergenceWarning, match=r"valley has not converged after 2 iterations; raise max_iter"
    ):
        found = minimize_lbfgs(valley, START, max_iter=2, tol=1e-12, name="valley", verbose=1)
    assert not found.converged
    assert found.n_iter == 2
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["[valley] iteration 1/2", "[valley] iteration 2/2"]


def test_no_iterations_give_the_start(recwarn):
    found = minimize_lbfgs(valley, START, max_iter=0, tol=1e-12, name="valley")
    assert all(np.array_equal(one, other) for one, other in zip(found.arrays, START, strict=True))
    assert found.losses == []
    assert not recwarn
