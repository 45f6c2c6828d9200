import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lann.metric import DiagonalMetric
from lann.search import CellSearch, ExactSearch, Shortlist, _cell_search, coarse_search


@st.composite
def shortlists(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_points, n_features = draw(st.integers(2, 80)), draw(st.integers(1, 5))
    # Small integers: no rounding, many ties, so that indices can be compared one by one.
    points = rng.integers(-3, 4, (n_points, n_features)).astype(float)
    coarse = DiagonalMetric(points, rng.integers(1, 4, points.shape).astype(float))
    own = DiagonalMetric(points, rng.integers(0, 5, points.shape).astype(float))
    queries = rng.integers(-3, 4, (5, n_features)).astype(float)
    exclude = rng.integers(0, n_points, 5) if draw(st.booleans()) else None
    k = draw(st.integers(1, n_points - (exclude is not None)))
    n_candidates = draw(st.integers(1, n_points + 5))
    return coarse, own, queries, exclude, k, n_candidates


@given(shortlists())
def test_it_is_the_nearest_of_the_candidates(reference, search):
    coarse, own, queries, exclude, k, n_candidates = search
    found = Shortlist(ExactSearch(coarse), own, n_candidates).query(queries, k, exclude=exclude)
    expected = reference.shortlisted(
        reference.distances(queries, coarse.points, coarse.weights),
        reference.distances(queries, own.points, own.weights),
        min(max(n_candidates, k), own.n_points - (exclude is not None)),
        k,
        exclude,
    )
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


def test_with_all_points_as_candidates_it_is_the_exact_search():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(120, 4))
    own = DiagonalMetric(points, rng.exponential(size=points.shape))
    queries = rng.normal(size=(30, 4))
    coarse = ExactSearch(DiagonalMetric(points, np.ones(4)))
    found = Shortlist(coarse, own, 120).query(queries, 5)
    for one, other in zip(found, ExactSearch(own).query(queries, 5), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_far_point_that_ignores_features_is_excluded():
    points = np.concatenate([np.random.default_rng(0).normal(size=(20, 2)), [[0.0, 100.0]]])
    weights = np.ones_like(points)
    weights[-1] = [1.0, 0.0]  # ignores the feature in which it is far
    query = np.zeros((1, 2))
    own = DiagonalMetric(points, weights)
    assert 20 in ExactSearch(own).query(query, 5)[0]
    coarse = ExactSearch(DiagonalMetric(points, np.ones(2)))
    assert 20 not in Shortlist(coarse, own, 10).query(query, 5)[0]


def test_many_points_are_searched_by_cells(monkeypatch):
    monkeypatch.setattr(_cell_search, "FEWEST_POINTS", 100)
    points = np.random.default_rng(0).normal(size=(100, 3))
    assert isinstance(coarse_search(DiagonalMetric(points[:99], np.ones(3))), ExactSearch)
    assert isinstance(coarse_search(DiagonalMetric(points, np.ones(3))), CellSearch)
