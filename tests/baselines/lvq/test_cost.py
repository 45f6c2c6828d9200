"""The cost of generalized LVQ and its gradients equal their definitions."""

from itertools import product

import numpy as np
import pytest

from lann.baselines._lvq import cost as cost_module
from lann.baselines._lvq.cost import Cost
from lann.baselines._lvq.metric_forms import DiagonalForm, MatrixForm

N_FEATURES = 4
PROTOTYPE_LABELS = np.array([0, 0, 1, 1, 2])
# Which prototypes share a metric.
METRIC_INDICES = {"all": np.zeros(5, np.int64), "prototype": np.arange(5), "class": PROTOTYPE_LABELS}
all_forms = pytest.mark.parametrize(
    ("form", "rank", "metric_per"),
    [(DiagonalForm, None, metric_per) for metric_per in METRIC_INDICES]
    + [(MatrixForm, rank, metric_per) for rank, metric_per in product([2, N_FEATURES], METRIC_INDICES)],
)


def make_problem(form, rank, metric_per, **options):
    """Return a cost of 40 rows of three classes, five prototypes and maps of any trace."""
    rng = np.random.default_rng(0)
    metric_indices = METRIC_INDICES[metric_per]
    n_metrics = metric_indices[-1] + 1
    shape = (n_metrics, N_FEATURES) if rank is None else (n_metrics, rank, N_FEATURES)
    X, labels = rng.normal(size=(40, N_FEATURES)), rng.integers(0, 3, 40)
    cost = Cost(X, labels, PROTOTYPE_LABELS, metric_indices, form, **options)
    return cost, rng.normal(size=(5, N_FEATURES)), rng.normal(size=shape)


def reference_cost(cost, prototypes, maps):
    """Compute the cost in a loop over rows and prototypes."""
    omegas = [np.diag(omega) if omega.ndim == 1 else omega for omega in maps]
    omegas = [omega / np.linalg.norm(omega) for omega in omegas]
    total = 0.0
    for x, label in zip(cost.X, cost.labels, strict=True):
        distances = [
            np.sum((omegas[metric] @ (x - w)) ** 2)
            for w, metric in zip(prototypes, cost.metric_indices, strict=True)
        ]
        same = min(d for d, other in zip(distances, cost.prototype_labels, strict=True) if other == label)
        other = min(d for d, other in zip(distances, cost.prototype_labels, strict=True) if other != label)
        mu = (same - other) / (same + other)
        total += mu if cost.steepness is None else 1 / (1 + np.exp(-cost.steepness * mu))
    log_determinants = [np.log(np.linalg.det(omega @ omega.T)) / len(omega) for omega in omegas]
    return total / len(cost.X) - cost.alpha * np.mean(log_determinants)


@all_forms
@pytest.mark.parametrize("steepness", [None, 3.0])
@pytest.mark.parametrize("alpha", [0.0, 0.2])
def test_cost_equals_definition(form, rank, metric_per, steepness, alpha):
    cost, prototypes, maps = make_problem(form, rank, metric_per, steepness=steepness, alpha=alpha)
    value, _ = cost(prototypes, maps)
    assert value == pytest.approx(reference_cost(cost, prototypes, maps), rel=1e-10)


@all_forms
@pytest.mark.parametrize("steepness", [None, 3.0])
@pytest.mark.parametrize("alpha", [0.0, 0.2])
def test_gradients_equal_finite_differences(reference, form, rank, metric_per, steepness, alpha):
    cost, prototypes, maps = make_problem(form, rank, metric_per, steepness=steepness, alpha=alpha)
    _, (prototype_gradient, map_gradient) = cost(prototypes, maps)
    expected = reference.slopes(lambda changed: cost(changed, maps)[0], prototypes)
    assert np.abs(expected).max() > 1e-3
    np.testing.assert_allclose(prototype_gradient, expected, rtol=1e-5, atol=1e-8)
    expected = reference.slopes(lambda changed: cost(prototypes, changed)[0], maps)
    assert np.abs(expected).max() > 1e-3
    np.testing.assert_allclose(map_gradient, expected, rtol=1e-5, atol=1e-8)


@all_forms
def test_cost_does_not_depend_on_the_norm_of_maps(form, rank, metric_per):
    cost, prototypes, maps = make_problem(form, rank, metric_per, alpha=0.1)
    assert cost(prototypes, 7.0 * maps)[0] == pytest.approx(cost(prototypes, maps)[0])


@all_forms
def test_blocks_give_the_same_bits_with_any_n_jobs(monkeypatch, form, rank, metric_per):
    cost, prototypes, maps = make_problem(form, rank, metric_per)
    expected_value, expected_gradients = cost(prototypes, maps)
    monkeypatch.setattr(cost_module, "MAPPED", 60)  # blocks of a few rows
    results = []
    for n_jobs in (1, 2):
        cost, prototypes, maps = make_problem(form, rank, metric_per, n_jobs=n_jobs)
        results.append(cost(prototypes, maps))
    assert results[0][0] == results[1][0] == pytest.approx(expected_value)
    for one, other, expected in zip(results[0][1], results[1][1], expected_gradients, strict=True):
        assert np.array_equal(one, other)
        np.testing.assert_allclose(one, expected, atol=1e-12)


def test_rows_on_prototypes_of_two_classes_have_no_cost_and_no_gradient():
    X = np.array([[0.0, 0.0], [0.0, 0.0]])
    cost = Cost(X, np.array([0, 1]), np.array([0, 1]), np.zeros(2, np.int64), DiagonalForm)
    value, gradients = cost(X, np.ones((1, 2)))
    assert value == 0.0
    assert not any(gradient.any() for gradient in gradients)
