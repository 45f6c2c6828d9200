"""The cost of generalized LVQ is that of its definition, and so are its gradients."""

from itertools import product

import numpy as np
import pytest

from lann.baselines._lvq import cost as cost_module
from lann.baselines._lvq.cost import Cost
from lann.baselines._lvq.metric_forms import DiagonalForm, MatrixForm

N_FEATURES = 4
# Global, per prototype and per class.
WHOSE = {
    "all": np.zeros(5, np.int64),
    "prototype": np.arange(5),
    "class": np.array([0, 0, 1, 1, 2]),
}
every_kind = pytest.mark.parametrize(
    ("form", "rank", "whose"),
    [(DiagonalForm, None, whose) for whose in WHOSE]
    + [(MatrixForm, rank, whose) for rank, whose in product([2, N_FEATURES], WHOSE)],
)


def a_problem(form, rank, whose, **options):
    """A cost of 40 points of three classes, with five prototypes and metrics of any trace."""
    rng = np.random.default_rng(0)
    owners = WHOSE[whose]
    shape = (owners[-1] + 1, N_FEATURES) if rank is None else (owners[-1] + 1, rank, N_FEATURES)
    cost = Cost(
        rng.normal(size=(40, N_FEATURES)), rng.integers(0, 3, 40), np.array([0, 0, 1, 1, 2]), owners, form,
        **options,
    )  # fmt: skip
    return cost, rng.normal(size=(5, N_FEATURES)), rng.normal(size=shape)


def as_defined(cost, prototypes, raw):
    """A loop over points and prototypes."""
    omegas = [np.diag(own) if own.ndim == 1 else own for own in raw]
    omegas = [omega / np.linalg.norm(omega) for omega in omegas]
    total = 0.0
    for x, label in zip(cost.points, cost.labels, strict=True):
        found = [
            np.sum((omegas[owner] @ (x - w)) ** 2) for w, owner in zip(prototypes, cost.owners, strict=True)
        ]
        like = min(d for d, own in zip(found, cost.prototype_labels, strict=True) if own == label)
        unlike = min(d for d, own in zip(found, cost.prototype_labels, strict=True) if own != label)
        mu = (like - unlike) / (like + unlike)
        total += mu if cost.steepness is None else 1 / (1 + np.exp(-cost.steepness * mu))
    volumes = [np.log(np.linalg.det(omega @ omega.T)) / len(omega) for omega in omegas]
    return total / len(cost.points) - cost.alpha * np.mean(volumes)


@every_kind
@pytest.mark.parametrize("steepness", [None, 3.0])
@pytest.mark.parametrize("alpha", [0.0, 0.2])
def test_the_cost_is_that_of_its_definition(form, rank, whose, steepness, alpha):
    cost, prototypes, raw = a_problem(form, rank, whose, steepness=steepness, alpha=alpha)
    loss, _ = cost(prototypes, raw)
    assert loss == pytest.approx(as_defined(cost, prototypes, raw), rel=1e-10)


@every_kind
@pytest.mark.parametrize("steepness", [None, 3.0])
@pytest.mark.parametrize("alpha", [0.0, 0.2])
def test_the_gradients_equal_finite_differences(reference, form, rank, whose, steepness, alpha):
    cost, prototypes, raw = a_problem(form, rank, whose, steepness=steepness, alpha=alpha)
    _, (pulls, slopes) = cost(prototypes, raw)
    expected = reference.slopes(lambda some: cost(some, raw)[0], prototypes)
    assert np.abs(expected).max() > 1e-3
    np.testing.assert_allclose(pulls, expected, rtol=1e-5, atol=1e-8)
    expected = reference.slopes(lambda some: cost(prototypes, some)[0], raw)
    assert np.abs(expected).max() > 1e-3
    np.testing.assert_allclose(slopes, expected, rtol=1e-5, atol=1e-8)


@every_kind
def test_the_size_of_a_map_does_not_matter(form, rank, whose):
    cost, prototypes, raw = a_problem(form, rank, whose, alpha=0.1)
    assert cost(prototypes, 7.0 * raw)[0] == pytest.approx(cost(prototypes, raw)[0])


@every_kind
def test_blocks_add_up_in_order_at_any_number_of_threads(monkeypatch, form, rank, whose):
    whole = a_problem(form, rank, whose)
    expected_loss, expected = whole[0](*whole[1:])
    # A block of three or so points at a time.
    monkeypatch.setattr(cost_module, "MAPPED", 60)
    found = []
    for n_jobs in (1, 2):
        cost, prototypes, raw = a_problem(form, rank, whose, n_jobs=n_jobs)
        found.append(cost(prototypes, raw))
    assert found[0][0] == found[1][0] == pytest.approx(expected_loss)
    for one, other, whole_one in zip(found[0][1], found[1][1], expected, strict=True):
        assert np.array_equal(one, other)
        np.testing.assert_allclose(one, whole_one, atol=1e-12)


def test_a_point_on_two_prototypes_costs_nothing_and_pulls_nobody():
    points = np.array([[0.0, 0.0], [0.0, 0.0]])
    cost = Cost(points, np.array([0, 1]), np.array([0, 1]), np.zeros(2, np.int64), DiagonalForm)
    loss, gradients = cost(points, np.ones((1, 2)))
    assert loss == 0.0
    assert not any(gradient.any() for gradient in gradients)
