import hashlib
from dataclasses import replace

import numpy as np
import pytest

from lann.metric import DiagonalMetric
from lann.search import CellIndex, CellSearch, ExactSearch

PROGRAM = """
import hashlib, json
import numpy as np
from lann.metric import DiagonalMetric
from lann.search import CellIndex, CellSearch
points = np.random.default_rng(0).normal(size=(2000, 6))
metric = DiagonalMetric(points, np.ones(6))
found = CellSearch(metric, CellIndex.build(metric, n_jobs={n_jobs})).query(points[:300], 10, n_jobs={n_jobs})
print(json.dumps(hashlib.sha256(b"".join(array.tobytes() for array in found)).hexdigest()))
"""


def build(metric, **changes):
    return CellSearch(metric, replace(CellIndex.build(metric), **changes))


def recall(found, truth):
    return np.mean([len(set(a) & set(b)) / len(b) for a, b in zip(found, truth, strict=True)])


def metric_of(seed, spread, n_points=3000, n_axes=8):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n_points, n_axes)) * np.exp(rng.normal(size=n_axes))
    queries = points[:200] + 0.1 * rng.normal(size=(200, n_axes))
    if spread is None:
        return DiagonalMetric(points, rng.exponential(size=n_axes)), queries
    weights = np.exp(rng.normal(size=(2, n_axes)) * spread)[rng.integers(0, 2, n_points)]
    return DiagonalMetric(points, weights), queries


def search_slowly(metric, index, queries, k, exclude=None):
    """The slow, obvious reference: all points of the probed cells by the direct formula."""
    probed = index.probed_mask(queries, k)
    distances = metric.distances(queries, np.tile(np.arange(metric.n_points), (len(queries), 1)))
    distances[~probed[:, index.cells]] = np.inf
    if exclude is not None:
        distances[np.arange(len(queries)), exclude] = np.inf
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(distances, order, axis=1)


@pytest.mark.parametrize("spread", [None, 0.0, 0.3])
@pytest.mark.parametrize("k", [1, 5, 50])
def test_nearly_all_neighbors_are_found(spread, k):
    metric, queries = metric_of(0, spread)
    indices, distances = build(metric).query(queries, k)
    truth, _ = ExactSearch(metric).query(queries, k)
    assert recall(indices, truth) >= 0.97
    np.testing.assert_array_equal(distances, metric.distances(queries, indices))
    assert np.all(np.diff(distances, axis=1) >= 0)


@pytest.mark.parametrize("spread", [None, 0.3])
@pytest.mark.parametrize("n_probed", [3, 10, 40])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_search_is_exact_among_the_points_of_the_cells(spread, n_probed, n_jobs):
    metric, queries = metric_of(1, spread)
    search = build(metric, n_probed=n_probed)
    own = np.arange(200)
    for exclude in (None, own):
        found = search.query(queries, 10, exclude=exclude, n_jobs=n_jobs)
        expected = search_slowly(metric, search.index, queries, 10, exclude)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)


def test_the_number_of_cells_is_calibrated():
    metric, _ = metric_of(2, None)
    index = CellIndex.build(metric)
    own = np.arange(metric.n_points)
    truth, _ = ExactSearch(metric).query(metric.points, 50, exclude=own)
    found = [
        CellSearch(metric, replace(index, n_probed=n)).query(metric.points, 50, exclude=own)[0]
        for n in (index.n_probed, index.n_probed // 2)
    ]
    assert recall(found[0], truth) >= 0.98
    assert recall(found[1], truth) < 0.98
    assert index.n_probed < index.partition.n_cells / 2


def test_the_same_bits_for_any_number_of_threads_and_processes(in_new_process):
    points = np.random.default_rng(0).normal(size=(2000, 6))
    metric = DiagonalMetric(points, np.ones(6))
    found = CellSearch(metric, CellIndex.build(metric)).query(points[:300], 10, n_jobs=2)
    digest = hashlib.sha256(b"".join(array.tobytes() for array in found)).hexdigest()
    assert in_new_process(PROGRAM.format(n_jobs=1)) == digest
    assert in_new_process(PROGRAM.format(n_jobs=2)) == digest


def test_all_points_are_searched_where_the_cells_have_too_few():
    metric, queries = metric_of(6, None, n_points=300)
    search = build(metric, n_probed=1)
    found = search.query(queries[:20], 120)
    for one, other in zip(found, ExactSearch(metric).query(queries[:20], 120), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("factor", [300.0, 1e16])
def test_far_queries_are_searched_in_all_cells(factor):
    metric, queries = metric_of(12, 0.3)
    search = build(metric, n_probed=2)
    queries[3] = factor * np.abs(metric.points).max()
    found = search.query(queries, 10)
    exact = ExactSearch(metric).query(queries[3:4], 10)
    usual = search.query(np.delete(queries, 3, axis=0), 10)
    for one, other, rest in zip(found, exact, usual, strict=True):
        np.testing.assert_array_equal(one[3], other[0])
        np.testing.assert_array_equal(np.delete(one, 3, axis=0), rest)
    assert search.index.probed_mask(queries, 10).sum(axis=1).tolist() == [
        search.index.partition.n_cells if row == 3 else 2 for row in range(200)
    ]
