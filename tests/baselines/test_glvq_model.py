"""Distances to prototypes are those of the formula, even far out, and shares follow them."""

import numpy as np
import pytest

from lann.baselines._glvq_metrics import DiagonalForm, MatrixForm
from lann.baselines._glvq_model import Prototypes, inverse_shares


@pytest.fixture(params=["diagonal", "matrix"])
def prototypes(request):
    rng = np.random.default_rng(0)
    form, shape = (DiagonalForm, (2, 3)) if request.param == "diagonal" else (MatrixForm, (2, 2, 3))
    labels = np.array([0, 0, 1])
    return Prototypes(rng.normal(size=(3, 3)), labels, np.array([0, 0, 1]), rng.normal(size=shape), form)


def omega_of(prototypes, place):
    own = prototypes.maps[prototypes.owners[place]]
    return np.diag(own) if own.ndim == 1 else own


def test_distances_are_those_of_the_formula(prototypes):
    queries = np.random.default_rng(1).normal(size=(200, 3))
    found = prototypes.distances(queries)
    for place, w in enumerate(prototypes.places):
        expected = np.square((queries - w) @ omega_of(prototypes, place).T).sum(axis=1)
        np.testing.assert_allclose(found[:, place], expected)
    assert np.array_equal(prototypes.distances(queries, n_jobs=2), found)


def test_training_measures_as_the_model_does(prototypes):
    queries = np.random.default_rng(1).normal(size=(50, 3))
    fast = prototypes.form.measure(queries, prototypes.places, prototypes.owners, prototypes.maps)
    np.testing.assert_allclose(fast, prototypes.distances(queries), rtol=1e-9)


def test_the_nearest_prototype_of_every_class():
    model = Prototypes(
        np.array([[0.0], [4.0], [7.0]]), np.array([0, 0, 1]), np.zeros(3, np.int64), np.ones((1, 1)),
        DiagonalForm,
    )  # fmt: skip
    nearest, distances = model.nearest_of_classes(model.distances(np.array([[3.0], [1.0]])))
    assert nearest.tolist() == [[1, 2], [0, 2]]
    assert distances.tolist() == [[1.0, 16.0], [1.0, 36.0]]


def test_parts_add_up_to_the_distances(prototypes):
    queries = np.random.default_rng(1).normal(size=(6, 3))
    indices = np.array([[0, 1, 2]] * 6)
    parts = prototypes.contributions(queries, indices)
    np.testing.assert_allclose(parts.sum(axis=2), prototypes.distances(queries))


def test_shares_fall_with_the_distance_and_stay_finite():
    distances = np.array([[1.0, 3.0], [0.0, 3.0], [0.0, 0.0], [1e300, np.inf], [np.inf, np.inf]])
    expected = [[0.75, 0.25], [1.0, 0.0], [0.5, 0.5], [1.0, 0.0], [0.5, 0.5]]
    np.testing.assert_allclose(inverse_shares(distances), expected)


def test_what_is_too_far_to_be_measured_is_infinitely_far(prototypes):
    with np.errstate(all="raise"):
        assert np.isinf(prototypes.distances(np.full((1, 3), 1e200))).all()
