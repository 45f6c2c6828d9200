"""Neighbor lists are what a matrix of all pairs would give."""

import numpy as np
import pytest

from lann import LANNClassifier
from lann.embedding.graph import RULES, neighbor_lists


def all_lengths(clf):
    """√d_j(x_i) for all pairs, (n_points, n_points), in the plainest way."""
    levels = clf.model_.levels
    metric = levels.local_metric()
    n_points = len(levels.X)
    everyone = np.tile(np.arange(n_points), (n_points, 1))
    return np.sqrt(metric.distances(levels.points, everyone))


def nearest(lengths, k):
    rows = []
    for i, row in enumerate(lengths):
        order = sorted((row[j], j) for j in range(len(row)) if j != i)
        rows.append(order[:k])
    return np.array([[j for _, j in row] for row in rows]), np.array(
        [[far for far, _ in row] for row in rows]
    )


@pytest.fixture(scope="module", params=["diagonal", "full"])
def clf(request, wine):
    X, y = wine
    return LANNClassifier(metric=request.param, n_candidates=None, max_iter=2, random_state=0).fit(X, y)


def test_by_the_neighbors_own_measure(clf):
    lists = neighbor_lists(clf.model_, 7, "neighbor")
    indices, lengths = nearest(all_lengths(clf), 7)
    assert np.array_equal(lists.indices, indices)
    np.testing.assert_allclose(lists.lengths, lengths)


@pytest.mark.parametrize("symmetry", RULES)
def test_symmetric_rules_on_all_pairs(clf, symmetry):
    """With enough pairs measured the lists are exactly those of the symmetric matrix."""
    measured = all_lengths(clf)
    one, other = measured, measured.T
    matrix = {"min": np.minimum(one, other), "mean": (one + other) / 2, "max": np.maximum(one, other)}
    k = len(measured) - 1
    lists = neighbor_lists(clf.model_, k, symmetry)
    indices, lengths = nearest(matrix[symmetry], k)
    np.testing.assert_allclose(lists.lengths, lengths)
    assert np.array_equal(np.sort(lists.indices), np.sort(indices))


@pytest.mark.parametrize("symmetry", RULES)
def test_few_neighbors_are_nearly_those_of_the_matrix(clf, symmetry):
    measured = all_lengths(clf)
    rule = {"min": np.minimum, "mean": lambda a, b: (a + b) / 2, "max": np.maximum}[symmetry]
    matrix = rule(measured, measured.T)
    lists = neighbor_lists(clf.model_, 10, symmetry)
    np.testing.assert_allclose(
        lists.lengths, np.take_along_axis(matrix, lists.indices, axis=1)
    )  # every pair is measured rightly
    assert (np.diff(lists.lengths, axis=1) >= 0).all()
    indices, _ = nearest(matrix, 10)
    found = np.mean([np.isin(a, b).mean() for a, b in zip(indices, lists.indices, strict=True)])
    assert found > 0.95


def test_no_point_is_its_own_neighbor(clf):
    for symmetry in ("neighbor", *RULES):
        indices = neighbor_lists(clf.model_, 5, symmetry).indices
        assert (indices != np.arange(len(indices))[:, None]).all()
        assert all(len(set(row)) == 5 for row in indices.tolist())


def test_the_same_at_any_number_of_threads(clf):
    for symmetry in ("neighbor", "mean"):
        one, two = (neighbor_lists(clf.model_, 8, symmetry, n_jobs=jobs) for jobs in (1, 2))
        assert np.array_equal(one.indices, two.indices)
        assert np.array_equal(one.lengths, two.lengths)
