"""Both solvers decrease the cost, and stop as their settings say."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from lann.baselines._lbfgs import IterationSettings
from lann.baselines._lvq.cost import Cost
from lann.baselines._lvq.metric_forms import DiagonalForm, MatrixForm
from lann.baselines._lvq.solvers import minimize_cost


@pytest.fixture(params=[DiagonalForm, MatrixForm])
def problem(request, blobs):
    X, y = blobs
    X = X - X.mean(axis=0)
    prototypes = np.stack([X[y == label].mean(axis=0) for label in range(3)])
    cost = Cost(X, y, np.arange(3), np.arange(3), request.param, steepness=5.0, alpha=0.01)
    return cost, prototypes, request.param.initial_maps(3, np.eye(4))


def minimize(problem, solver, seed=0, *, max_iter=100, tol=1e-5, verbose=0):
    settings = IterationSettings(max_iter, tol, "test", verbose)
    return minimize_cost(*problem, solver=solver, settings=settings, rng=np.random.default_rng(seed))


def test_solvers_reach_similar_lower_costs(problem):
    cost, *initial = problem
    costs = {}
    for solver in ("lbfgs", "stochastic"):
        minimum = minimize(problem, solver, max_iter=200)
        costs[solver] = cost(*minimum.arrays)[0]
    assert costs["lbfgs"] < 0.9 * cost(*initial)[0]
    assert costs["stochastic"] == pytest.approx(costs["lbfgs"], rel=0.1)


def test_stochastic_solver_depends_on_the_seed(problem):
    one, same, other = (minimize(problem, "stochastic", seed, max_iter=5) for seed in (0, 0, 1))
    assert np.array_equal(one.arrays[0], same.arrays[0])
    assert not np.array_equal(one.arrays[0], other.arrays[0])


def test_stochastic_solver_stops_without_progress(problem):
    minimum = minimize(problem, "stochastic", max_iter=1000, tol=0.5)
    assert minimum.converged
    assert minimum.n_iter < 100


def test_lbfgs_warns_if_it_has_not_converged(problem):
    with pytest.warns(ConvergenceWarning, match="test has not converged after 2 iterations"):
        assert minimize(problem, "lbfgs", max_iter=2).n_iter == 2


@pytest.mark.parametrize(("solver", "unit"), [("lbfgs", "iteration"), ("stochastic", "epoch")])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_verbose_prints_a_line_per_iteration(problem, capsys, solver, unit):
    minimum = minimize(problem, solver, max_iter=3, verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == minimum.n_iter == 3
    assert lines[-1] == f"[test] {unit} 3/3: loss {minimum.losses[-1]:.6g}"
