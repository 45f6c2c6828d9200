"""Both solvers reach a low cost, and what stops them does."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from lann.baselines._lvq.cost import Cost
from lann.baselines._lvq.metric_forms import DiagonalForm, MatrixForm
from lann.baselines._lvq.solvers import solve


@pytest.fixture(params=[DiagonalForm, MatrixForm])
def problem(request, blobs):
    X, y = blobs
    X = X - X.mean(axis=0)
    prototypes = np.stack([X[y == label].mean(axis=0) for label in range(3)])
    cost = Cost(X, y, np.arange(3), np.arange(3), request.param, steepness=5.0, alpha=0.01)
    return cost, prototypes, request.param.start(3, np.eye(4))


def solved(problem, solver, seed=0, **options):
    options = {"max_iter": 100, "tol": 1e-5, "name": "test", **options}
    return solve(solver, *problem, rng=np.random.default_rng(seed), **options)


def test_both_solvers_end_lower_and_near_each_other(problem):
    before = problem[0](*problem[1:])[0]
    costs = {}
    for solver in ("lbfgs", "stochastic"):
        found = solved(problem, solver, max_iter=200)
        costs[solver] = problem[0](*found.arrays)[0]
    assert costs["lbfgs"] < 0.9 * before
    assert costs["stochastic"] == pytest.approx(costs["lbfgs"], rel=0.1)


def test_the_order_of_the_points_is_the_seeds(problem):
    one, same, other = (solved(problem, "stochastic", seed, max_iter=5) for seed in (0, 0, 1))
    assert np.array_equal(one.arrays[0], same.arrays[0])
    assert not np.array_equal(one.arrays[0], other.arrays[0])


def test_the_stochastic_solver_ends_when_nothing_falls(problem):
    found = solved(problem, "stochastic", max_iter=1000, tol=0.5)
    assert found.converged
    assert found.n_iter < 100


def test_lbfgs_says_that_it_was_stopped(problem):
    with pytest.warns(ConvergenceWarning, match="test has not converged after 2 iterations"):
        assert solved(problem, "lbfgs", max_iter=2).n_iter == 2


@pytest.mark.parametrize(("solver", "what"), [("lbfgs", "iteration"), ("stochastic", "epoch")])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_progress_is_printed_when_asked_for(problem, capsys, solver, what):
    found = solved(problem, solver, max_iter=3, verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == found.n_iter == 3
    assert lines[-1] == f"[test] {what} 3/3: loss {found.losses[-1]:.6g}"
