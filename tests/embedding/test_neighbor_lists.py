"""Neighbor lists equal those of a matrix of all pairs."""

import numpy as np
import pytest

from lann import LANNClassifier
from lann.embedding._neighbor_lists import RULES, list_neighbors


def all_distances(clf):
    """Return √d_j(x_i) for all pairs: (n_rows, n_rows)."""
    levels = clf.model_.levels
    metric = levels.local_metric()
    n_rows = len(levels.X)
    everyone = np.tile(np.arange(n_rows), (n_rows, 1))
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


def test_distances_are_those_of_the_neighbor(clf):
    lists = list_neighbors(clf.model_, 7, "neighbor")
    indices, lengths = nearest(all_distances(clf), 7)
    assert np.array_equal(lists.indices, indices)
    np.testing.assert_allclose(lists.distances, lengths)


@pytest.mark.parametrize("symmetry", RULES)
def test_symmetric_rules_on_all_pairs(clf, symmetry):
    """With enough pairs measured the lists are exactly those of the symmetric matrix."""
    measured = all_distances(clf)
    one, other = measured, measured.T
    matrix = {"min": np.minimum(one, other), "mean": (one + other) / 2, "max": np.maximum(one, other)}
    k = len(measured) - 1
    lists = list_neighbors(clf.model_, k, symmetry)
    indices, lengths = nearest(matrix[symmetry], k)
    np.testing.assert_allclose(lists.distances, lengths)
    assert np.array_equal(np.sort(lists.indices), np.sort(indices))


@pytest.mark.parametrize("symmetry", RULES)
def test_few_neighbors_are_nearly_those_of_the_matrix(clf, symmetry):
    measured = all_distances(clf)
    rule = {"min": np.minimum, "mean": lambda a, b: (a + b) / 2, "max": np.maximum}[symmetry]
    matrix = rule(measured, measured.T)
    lists = list_neighbors(clf.model_, 10, symmetry)
    np.testing.assert_allclose(
        lists.distances, np.take_along_axis(matrix, lists.indices, axis=1)
    )  # every pair is measured correctly
    assert (np.diff(lists.distances, axis=1) >= 0).all()
    indices, _ = nearest(matrix, 10)
    found = np.mean([np.isin(a, b).mean() for a, b in zip(indices, lists.indices, strict=True)])
    assert found > 0.95


def test_no_row_is_its_own_neighbor(clf):
    for symmetry in ("neighbor", *RULES):
        indices = list_neighbors(clf.model_, 5, symmetry).indices
        assert (indices != np.arange(len(indices))[:, None]).all()
        assert all(len(set(row)) == 5 for row in indices.tolist())


def test_the_same_at_any_number_of_threads(clf):
    for symmetry in ("neighbor", "mean"):
        one, two = (list_neighbors(clf.model_, 8, symmetry, n_jobs=jobs) for jobs in (1, 2))
        assert np.array_equal(one.indices, two.indices)
        assert np.array_equal(one.distances, two.distances)
