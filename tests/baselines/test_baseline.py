"""What baselines share: L-BFGS over several arrays, and valid parameters."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from lann.baselines import DANN, GLML, LGMLVQ, LMNN, PLML, MultiMetricLMNN
from lann.baselines._baseline import minimize_lbfgs

INITIAL = [np.zeros((2, 2)), np.full(3, 5.0)]


def objective(matrix, vector):
    """Compute a function with its minimum at matrix = 1, vector = (0, 1, 2), and its gradients."""
    matrix_step, vector_step = matrix - 1.0, vector - np.arange(3.0)
    return np.sum(matrix_step**2) + np.sum(vector_step**4), [2.0 * matrix_step, 4.0 * vector_step**3]


def test_finds_the_minimum_of_several_arrays():
    (matrix, vector), losses = minimize_lbfgs(objective, INITIAL, max_iter=200, tol=1e-12, name="test")
    np.testing.assert_allclose(matrix, np.ones((2, 2)), atol=1e-3)
    np.testing.assert_allclose(vector, np.arange(3.0), atol=0.05)
    assert len(losses) > 3
    assert np.all(np.diff(losses) <= 0)


def test_warns_if_it_has_not_converged(capsys):
    with pytest.warns(ConvergenceWarning, match=r"test has not converged after 2 iterations; raise max_iter"):
        minimize_lbfgs(objective, INITIAL, max_iter=2, tol=1e-12, name="test", verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["[test] iteration 1/2", "[test] iteration 2/2"]


@pytest.mark.parametrize(
    ("estimator", "parameter", "value"),
    [
        (DANN, "alpha", 0.0),
        (DANN, "shrinkage", 2.0),
        (GLML, "shrinkage", "best"),
        (GLML, "alpha", -1.0),
        (LMNN, "n_targets", 0),
        (LMNN, "push_weight", 1.5),
        (LMNN, "init", "random"),
        (LMNN, "tol", None),
        (MultiMetricLMNN, "groups", "clusters"),
        (MultiMetricLMNN, "shared_alpha", -1),
        (PLML, "n_anchors", 0),
        (PLML, "n_components", 1.5),
        (PLML, "locality", -1),
        (LGMLVQ, "prototypes_per_class", 1.5),
        (LGMLVQ, "n_components", 0),
        (LGMLVQ, "metric_per", "point"),
        (LGMLVQ, "activation", "relu"),
        (LGMLVQ, "max_iter", -1),
    ],
)
def test_invalid_parameters_raise(estimator, parameter, value, iris):
    with pytest.raises(ValueError, match=f"{parameter} must be .*; got {value!r}"):
        estimator(**{parameter: value}).fit(*iris)


@pytest.mark.parametrize("estimator", [LMNN, LGMLVQ])
def test_more_components_than_features_raise(estimator, iris):
    with pytest.raises(ValueError, match="n_components=5 must be at most the number of features, 4"):
        estimator(n_components=5).fit(*iris)


@pytest.mark.parametrize(
    "estimator",
    [
        DANN(1, n_metric_neighbors=1, max_iter=2),
        DANN(1),
        GLML(1),
        GLML(1, shrinkage=1e-3),
        PLML(1, random_state=0),
        PLML(1, n_components=0.5, random_state=0),
        LMNN(1),
        MultiMetricLMNN(1, n_components=3),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_few_rows_constant_feature_and_class_of_one_row(estimator):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(15, 2)), 2, axis=0) @ rng.normal(size=(2, 6))
    X[:, 5] = 3.0
    y = np.arange(30) % 2
    y[-1] = 2
    estimator.fit(X, y)
    assert np.isfinite(estimator.feature_weights_).all()
    assert np.isfinite(estimator.predict_proba(X + 0.1)).all()
