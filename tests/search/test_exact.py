import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lann.metric import DiagonalMetric
from lann.search import ExactSearch


def check_nearest(reference, metric, queries, k, exclude=None, found=None):
    """The neighbors are right up to the last bits of float64, in order, and ties come by index."""
    indices, distances = found or ExactSearch(metric).query(queries, k, exclude=exclude)
    queries = np.asarray(queries)
    n_queries = len(queries)
    assert indices.shape == distances.shape == (n_queries, k)
    truth = reference.distances(queries, metric.points, metric.weights)
    _, expected = reference.nearest(truth, k, exclude)
    np.testing.assert_allclose(distances, expected, rtol=1e-12, atol=0)
    assert indices.min() >= 0
    np.testing.assert_allclose(np.take_along_axis(truth, indices, axis=1), distances, rtol=1e-12, atol=0)
    for query in range(n_queries):
        assert len(set(indices[query])) == k
        if exclude is not None:
            assert exclude[query] not in indices[query]
        order = list(zip(distances[query], indices[query], strict=True))
        assert order == sorted(order)


@st.composite
def searches(draw, scales=(1.0,), offsets=(0.0,)):
    """A metric with queries, a k and perhaps points to leave out."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_points = draw(st.one_of(st.integers(1, 12), st.integers(30, 150)))
    n_features = draw(st.integers(1, 7))
    scale, offset = draw(st.sampled_from(scales)), draw(st.sampled_from(offsets))
    points = rng.normal(size=(n_points, n_features))
    if draw(st.booleans()):  # duplicates
        points = points[rng.integers(0, max(n_points // 3, 1), n_points)]
    if draw(st.booleans()):  # a constant feature
        points[:, 0] = 1.0
    points = points * scale + offset
    queries = rng.normal(size=(draw(st.integers(1, 6)), n_features)) * scale + offset
    queries[0] = points[-1]
    weights = rng.exponential(size=n_features if draw(st.booleans()) else points.shape)
    weights[rng.random(weights.shape) < draw(st.sampled_from([0.0, 0.3, 1.0]))] = 0.0
    exclude = rng.integers(0, n_points, len(queries)) if n_points > 1 and draw(st.booleans()) else None
    k = draw(st.integers(1, n_points - (exclude is not None)))
    return DiagonalMetric(points, weights), queries, k, exclude


@given(searches())
def test_it_equals_the_definition(reference, search):
    check_nearest(reference, *search)


@given(searches(scales=(1e-60, 1e-25, 1e-19, 1e-8, 1e8, 1e17, 1e25, 1e60)))
def test_tiny_and_huge_scales(reference, search):
    check_nearest(reference, *search)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n_points", [5, 300])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("far", [1e15, 1e19, 1e25, 1e40, 1e100])
def test_a_query_far_away_from_ordinary_points(reference, n_points, shared, far):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(n_points, 3))
    weights = rng.uniform(0.1, 2, points.shape)
    queries = np.concatenate([rng.normal(size=(2, 3)), np.full((1, 3), far), np.full((1, 3), -far)])
    check_nearest(reference, DiagonalMetric(points, weights[0] if shared else weights), queries, 3)


@given(st.integers(0, 10**6), st.integers(1, 3), st.booleans(), st.data())
def test_integer_grids_with_massive_ties(reference, seed, n_features, shared, data):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 3, (int(rng.integers(2, 150)), n_features)).astype(float)
    queries = rng.integers(0, 3, (4, n_features)).astype(float)
    weights = rng.integers(0, 3, n_features if shared else points.shape).astype(float)
    k = data.draw(st.integers(1, len(points) - 1))
    exclude = rng.integers(0, len(points), 4)
    # Sums of small integers have no rounding: the indices must agree one by one.
    expected, expected_distances = reference.nearest(
        reference.distances(queries, points, weights), k, exclude
    )
    indices, distances = ExactSearch(DiagonalMetric(points, weights)).query(queries, k, exclude=exclude)
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_array_equal(distances, expected_distances)


def test_more_points_than_a_tile_and_more_queries_than_a_block(reference):
    rng = np.random.default_rng(0)
    points, weights = rng.normal(size=(3000, 5)), rng.exponential(size=(3000, 5))
    queries = rng.normal(size=(1100, 5))
    indices, distances = ExactSearch(DiagonalMetric(points, weights)).query(queries, 7)
    for start in range(0, 1100, 100):
        part = slice(start, start + 100)
        truth = np.einsum("qjf,jf->qj", (queries[part, None] - points) ** 2, weights)
        np.testing.assert_array_equal(indices[part], np.argsort(truth, axis=1, kind="stable")[:, :7])
        np.testing.assert_allclose(distances[part], np.sort(truth, axis=1)[:, :7], rtol=1e-12)


@pytest.mark.parametrize("shared", [False, True])
def test_the_same_bits_for_any_number_of_threads_and_any_pieces(shared):
    rng = np.random.default_rng(2)
    points = rng.normal(size=(1500, 9))
    weights = rng.exponential(size=9 if shared else points.shape)
    queries = np.concatenate([rng.normal(size=(1290, 9)), points[:10]])
    finder = ExactSearch(DiagonalMetric(points, weights))
    expected = finder.query(queries, 6, n_jobs=1)
    tries = [finder.query(queries, 6, n_jobs=n_jobs) for n_jobs in (2, None, 3)]
    for size in (1, 7, 333):
        parts = [finder.query(queries[s : s + size], 6) for s in range(0, len(queries), size)]
        tries.append([np.concatenate(arrays) for arrays in zip(*parts, strict=True)])
    for indices, distances in tries:
        np.testing.assert_array_equal(indices, expected[0])
        np.testing.assert_array_equal(distances, expected[1])


def test_points_lifted_again_are_found_with_their_new_weights(reference):
    rng = np.random.default_rng(3)
    points, weights = rng.normal(size=(200, 4)), rng.exponential(size=(200, 4))
    metric = DiagonalMetric(points, weights)
    finder = ExactSearch(metric)
    rows = np.array([5, 100, 199])
    metric.weights[rows] = 1e-3
    finder.update(rows)
    queries = rng.normal(size=(20, 4))
    found = finder.query(queries, 5)
    check_nearest(reference, metric, queries, 5, found=found)
    assert np.isin(rows, found[0]).any()


def test_memory_stays_far_below_all_distances():
    rng = np.random.default_rng(4)
    points, queries = rng.normal(size=(20_000, 8)), rng.normal(size=(5_000, 8))
    finder = ExactSearch(DiagonalMetric(points, np.exp(rng.normal(size=points.shape) * 0.1)))
    tracemalloc.start()
    try:
        indices, _ = finder.query(queries, 5, n_jobs=2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert indices.shape == (5_000, 5)
    assert peak < 0.05 * 20_000 * 5_000 * 8
