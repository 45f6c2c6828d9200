"""Distances to prototypes equal their formula, and votes follow from them."""

import numpy as np
import pytest

from lann.baselines._lvq.metric_forms import DiagonalForm, MatrixForm
from lann.baselines._lvq.model import Prototypes


@pytest.fixture(params=["diagonal", "matrix"])
def prototypes(request):
    rng = np.random.default_rng(0)
    form, shape = (DiagonalForm, (2, 3)) if request.param == "diagonal" else (MatrixForm, (2, 2, 3))
    return Prototypes(
        rng.normal(size=(3, 3)),
        np.array([0, 0, 1]),
        np.array([0, 0, 1]),
        rng.normal(size=shape),
        form,
        training_rows=rng.normal(size=(20, 3)),
    )


def omega_of(prototypes, number):
    omega = prototypes.maps[prototypes.metric_indices[number]]
    return np.diag(omega) if omega.ndim == 1 else omega


def test_distances_equal_the_formula(prototypes):
    queries = np.random.default_rng(1).normal(size=(200, 3))
    distances = prototypes.all_distances(queries)
    for number, w in enumerate(prototypes.X):
        expected = np.square((queries - w) @ omega_of(prototypes, number).T).sum(axis=1)
        np.testing.assert_allclose(distances[:, number], expected)
    assert np.array_equal(prototypes.all_distances(queries, n_jobs=2), distances)


def test_distances_in_training_equal_those_of_the_model(prototypes):
    queries = np.random.default_rng(1).normal(size=(50, 3))
    fast = prototypes.form.squared_distances(
        queries, prototypes.X, prototypes.metric_indices, prototypes.maps
    )
    np.testing.assert_allclose(fast, prototypes.all_distances(queries), rtol=1e-9)


def test_nearest_prototype_of_every_class_votes():
    model = Prototypes(
        np.array([[0.0], [4.0], [7.0]]), np.array([0, 0, 1]), np.zeros(3, np.int64), np.ones((1, 1)),
        DiagonalForm, training_rows=np.zeros((2, 1)),
    )  # fmt: skip
    nearest, distances = model.voters(np.array([[3.0], [1.0], [6.0]]))
    assert nearest.tolist() == [[1, 2], [0, 2], [2, 1]]
    assert distances.tolist() == [[1.0, 16.0], [1.0, 36.0], [1.0, 4.0]]


def test_contributions_add_up_to_the_distances(prototypes):
    queries = np.random.default_rng(1).normal(size=(6, 3))
    contributions = prototypes.contributions(queries, np.array([[0, 1, 2]] * 6))
    np.testing.assert_allclose(contributions.sum(axis=2), prototypes.all_distances(queries))


def test_votes_decrease_with_the_distance_and_stay_finite(prototypes):
    distances = np.array([[1.0, 3.0], [0.0, 3.0], [0.0, 0.0], [1e300, np.inf], [np.inf, np.inf]])
    expected = np.array([[0.75, 0.25], [1.0, 0.0], [0.5, 0.5], [1.0, 0.0], [0.5, 0.5]])
    votes = prototypes.vote(np.array([[0, 2]] * 5), distances)
    np.testing.assert_allclose(votes.probabilities, expected)
    votes = prototypes.vote(np.array([[2, 0]] * 5), distances)  # the nearest is of the second class
    np.testing.assert_allclose(votes.shares, expected)
    np.testing.assert_allclose(votes.probabilities, expected[:, ::-1])


def test_neighbors_and_local_matrices_agree_with_the_distances(prototypes):
    queries = np.random.default_rng(1).normal(size=(6, 3))
    indices, distances = prototypes.kneighbors(queries, 2)
    expected = prototypes.all_distances(queries)
    np.testing.assert_array_equal(indices, np.argsort(expected, axis=1)[:, :2])
    np.testing.assert_array_equal(prototypes.distances(queries, indices), distances)
    steps = queries[:, None, :] - prototypes.X
    squares = np.einsum("qpf,pfg,qpg->qp", steps, prototypes.local_matrices(np.arange(3)), steps)
    np.testing.assert_allclose(squares, expected)


def test_overflow_is_an_infinite_distance(prototypes):
    with np.errstate(all="raise"):
        assert np.isinf(prototypes.all_distances(np.full((1, 3), 1e200))).all()
