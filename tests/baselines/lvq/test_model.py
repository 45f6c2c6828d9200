"""Distances to prototypes equal their formula, and votes follow them."""

import numpy as np
import pytest

from lann.baselines._lvq.metric_forms import DiagonalForm, MatrixForm
from lann.baselines._lvq.model import Prototypes


@pytest.fixture(params=["diagonal", "matrix"])
def prototypes(request):
    rng = np.random.default_rng(0)
    form, shape = (DiagonalForm, (2, 3)) if request.param == "diagonal" else (MatrixForm, (2, 2, 3))
    labels = np.array([0, 0, 1])
    return Prototypes(
        rng.normal(size=(3, 3)),
        labels,
        np.array([0, 0, 1]),
        rng.normal(size=shape),
        form,
        training_rows=rng.normal(size=(20, 3)),
    )


def omega_of(prototypes, number):
    own = prototypes.maps[prototypes.owners[number]]
    return np.diag(own) if own.ndim == 1 else own


def test_distances_are_those_of_the_formula(prototypes):
    queries = np.random.default_rng(1).normal(size=(200, 3))
    found = prototypes.all_distances(queries)
    for number, w in enumerate(prototypes.X):
        expected = np.square((queries - w) @ omega_of(prototypes, number).T).sum(axis=1)
        np.testing.assert_allclose(found[:, number], expected)
    assert np.array_equal(prototypes.all_distances(queries, n_jobs=2), found)


def test_training_measures_as_the_model_does(prototypes):
    queries = np.random.default_rng(1).normal(size=(50, 3))
    fast = prototypes.form.measure(queries, prototypes.X, prototypes.owners, prototypes.maps)
    np.testing.assert_allclose(fast, prototypes.all_distances(queries), rtol=1e-9)


def test_the_nearest_prototype_of_every_class():
    model = Prototypes(
        np.array([[0.0], [4.0], [7.0]]), np.array([0, 0, 1]), np.zeros(3, np.int64), np.ones((1, 1)),
        DiagonalForm, training_rows=np.zeros((2, 1)),
    )  # fmt: skip
    nearest, distances = model.voters(np.array([[3.0], [1.0], [6.0]]))
    assert nearest.tolist() == [[1, 2], [0, 2], [2, 1]]
    assert distances.tolist() == [[1.0, 16.0], [1.0, 36.0], [1.0, 4.0]]


def test_parts_add_up_to_the_distances(prototypes):
    queries = np.random.default_rng(1).normal(size=(6, 3))
    indices = np.array([[0, 1, 2]] * 6)
    parts = prototypes.contributions(queries, indices)
    np.testing.assert_allclose(parts.sum(axis=2), prototypes.all_distances(queries))


def test_votes_fall_with_the_distance_and_stay_finite(prototypes):
    distances = np.array([[1.0, 3.0], [0.0, 3.0], [0.0, 0.0], [1e300, np.inf], [np.inf, np.inf]])
    expected = np.array([[0.75, 0.25], [1.0, 0.0], [0.5, 0.5], [1.0, 0.0], [0.5, 0.5]])
    votes = prototypes.vote(np.array([[0, 2]] * 5), distances)
    np.testing.assert_allclose(votes.probabilities, expected)
    votes = prototypes.vote(np.array([[2, 0]] * 5), distances)  # nearest first, of the other class
    np.testing.assert_allclose(votes.shares, expected)
    np.testing.assert_allclose(votes.probabilities, expected[:, ::-1])


def test_local_matrices_and_neighbors(prototypes):
    queries = np.random.default_rng(1).normal(size=(6, 3))
    indices, distances = prototypes.kneighbors(queries, 2)
    expected = prototypes.all_distances(queries)
    np.testing.assert_array_equal(indices, np.argsort(expected, axis=1)[:, :2])
    np.testing.assert_array_equal(prototypes.distances(queries, indices), distances)
    steps = queries[:, None, :] - prototypes.X
    squares = np.einsum("qpf,pfg,qpg->qp", steps, prototypes.local_matrices(np.arange(3)), steps)
    np.testing.assert_allclose(squares, expected)


def test_an_overflow_is_infinitely_far(prototypes):
    with np.errstate(all="raise"):
        assert np.isinf(prototypes.all_distances(np.full((1, 3), 1e200))).all()
