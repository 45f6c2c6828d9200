import numpy as np
import pytest

from lann.metric import DiagonalMetric
from lann.search import ExactSearch, ScanPoints, find_nearest


@pytest.fixture
def stored():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=200)
    weights = np.exp(rng.normal(size=(3, 5)))
    return ScanPoints(
        rng.normal(size=(200, 5)), labels, weights, np.empty(0, np.int64), np.empty(0, np.int32)
    )


def exact(searched, rows=None):
    rows = np.arange(len(searched.points)) if rows is None else rows
    return ExactSearch(DiagonalMetric(searched.points[rows], searched.class_weights[searched.labels[rows]]))


def assert_equal(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("k", [1, 5, 50, 199])
@pytest.mark.parametrize("some", [False, True])
@pytest.mark.parametrize("rounded", [False, True])
def test_the_result_is_that_of_the_exact_search(stored, k, some, rounded):
    if rounded:  # many copies and ties
        stored = stored._replace(points=np.round(stored.points), class_weights=np.ones((3, 5)))
    rows = np.flatnonzero(np.arange(200) % 3 != 0) if some else np.arange(200)
    searched = stored._replace(rows=rows) if some else stored
    k = min(k, len(rows) - 1)
    queries = np.concatenate([stored.points[rows[:10]], np.random.default_rng(1).normal(size=(10, 5))])
    assert_equal(find_nearest(queries, searched, k), exact(stored, rows).query(queries, k))
    own = np.arange(10)
    assert_equal(
        find_nearest(queries[:10], searched, k, exclude=own),
        exact(stored, rows).query(queries[:10], k, exclude=own),
    )


@pytest.mark.parametrize("some", [False, True])
def test_a_search_within_a_class(stored, some):
    rows = np.flatnonzero(np.arange(200) % 3 != 0) if some else np.arange(200)
    searched = stored._replace(rows=rows) if some else stored
    queries = np.random.default_rng(1).normal(size=(10, 5))
    for label in range(3):
        members = np.flatnonzero(stored.labels[rows] == label)
        for k in (1, 20, len(members)):
            found, distances = find_nearest(queries, searched, k, label=label)
            expected = exact(stored, rows[members]).query(queries, k)
            assert_equal((found, distances), (members[expected[0]], expected[1]))


@pytest.mark.parametrize("some", [False, True])
def test_only_the_points_of_some_cells_are_searched(stored, some):
    rng = np.random.default_rng(2)
    rows = np.flatnonzero(np.arange(200) % 3 != 0) if some else np.arange(200)
    searched = stored._replace(cells=rng.integers(6, size=200).astype(np.int32))
    searched = searched._replace(rows=rows) if some else searched
    queries, probed = rng.normal(size=(8, 5)), rng.random((8, 6)) < 0.5
    found, distances = find_nearest(queries, searched, 4, probed=probed)
    for query in range(8):
        inside = np.flatnonzero(probed[query, searched.cells[rows]])
        expected = exact(stored, rows[inside]).query(queries[query : query + 1], 4)
        np.testing.assert_array_equal(found[query], inside[expected[0][0]])
        np.testing.assert_array_equal(distances[query], expected[1][0])
