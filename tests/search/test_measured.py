import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lann.metric import DiagonalMetric, MatrixMetric
from lann.search import ExactSearch, _exact
from lann.search._exact import MeasuredSearch, exhaustive_search

SEARCHES = [ExactSearch, MeasuredSearch]


@st.composite
def searches(draw, scales=(1.0,), offsets=(0.0,)):
    """A matrix metric with queries, a k and perhaps points to leave out."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_points = draw(st.one_of(st.integers(1, 12), st.integers(30, 120)))
    n_axes, rank = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    scale, offset = draw(st.sampled_from(scales)), draw(st.sampled_from(offsets))
    points = rng.normal(size=(n_points, n_axes))
    matrices = rng.normal(size=(n_points, n_axes, rank))
    if draw(st.booleans()):  # duplicates, some with the same metric
        same = rng.integers(0, max(n_points // 3, 1), n_points)
        points, matrices = points[same], matrices[same]
    if draw(st.booleans()):  # a constant axis
        points[:, 0] = 1.0
    if draw(st.booleans()):  # metrics that see nothing
        matrices[rng.random(n_points) < 0.3] = 0.0
    points = points * scale + offset
    queries = rng.normal(size=(draw(st.integers(1, 6)), n_axes)) * scale + offset
    queries[0] = points[-1]
    exclude = rng.integers(0, n_points, len(queries)) if n_points > 1 and draw(st.booleans()) else None
    k = draw(st.integers(1, n_points - (exclude is not None)))
    return MatrixMetric(points, matrices), queries, k, exclude


def check_nearest(reference, search, queries, k, exclude):
    """Exactly the k smallest of the distances as the metric measures them, equal ones by index."""
    metric = search.metric
    everyone = np.tile(np.arange(metric.n_points), (len(queries), 1))
    expected = reference.nearest(metric.distances(queries, everyone), k, exclude)
    found = search.query(queries, k, exclude=exclude)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("kind", SEARCHES)
@given(search=searches())
def test_it_equals_the_definition(reference, kind, search):
    metric, *rest = search
    check_nearest(reference, kind(metric), *rest)


@pytest.mark.parametrize("n_axes", [5, 40])
def test_the_same_bits_for_any_threads_pieces_and_search(monkeypatch, n_axes):
    rng = np.random.default_rng(2)
    points = rng.normal(size=(600, n_axes))
    matrices = np.eye(n_axes) + rng.normal(size=(600, n_axes, n_axes)) / n_axes
    queries = np.concatenate([rng.normal(size=(290, n_axes)), points[:10]])
    metric = MatrixMetric(points, matrices)
    expected = ExactSearch(metric).query(queries, 6, n_jobs=1)
    tries = [kind(metric).query(queries, 6, n_jobs=2) for kind in SEARCHES]
    tries.append(ExactSearch(metric, dtype=np.float64).query(queries, 6))
    finder = ExactSearch(metric)
    for size in (1, 77):
        parts = [finder.query(queries[s : s + size], 6) for s in range(0, 300, size)]
        tries.append(tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
    monkeypatch.setattr(_exact, "LIFTED_QUERIES", 5_000)
    monkeypatch.setattr(_exact, "MEASURED_TILE", 100)
    tries += [kind(metric).query(queries, 6) for kind in SEARCHES]
    for indices, distances in tries:
        np.testing.assert_array_equal(indices, expected[0])
        np.testing.assert_array_equal(distances, expected[1])


def test_the_search_suits_the_metric():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(10, 40))
    assert isinstance(exhaustive_search(DiagonalMetric(points, np.ones(40))), ExactSearch)
    wide = exhaustive_search(MatrixMetric(points, rng.normal(size=(10, 40, 40))))
    assert isinstance(wide, ExactSearch)
    assert wide.dtype == np.float64
    assert exhaustive_search(MatrixMetric(points[:, :5], rng.normal(size=(10, 5, 5)))).dtype == np.float32
    assert isinstance(exhaustive_search(MatrixMetric(points, rng.normal(size=(10, 40, 2)))), MeasuredSearch)
