import hashlib

import numpy as np
import pytest

from lann.metrics import DiagonalMetric
from lann.search import ExactSearch, GraphSearch

PROGRAM = """
import hashlib, json
import numpy as np
from lann.metrics import DiagonalMetric
from lann.search import GraphSearch
rng = np.random.default_rng(0)
points = rng.normal(size=(2000, 6))
found = GraphSearch(DiagonalMetric(points, np.ones(6))).query(points[:300], 10, n_jobs={n_jobs})
print(json.dumps(hashlib.sha256(b"".join(array.tobytes() for array in found)).hexdigest()))
"""


def digest(found):
    return hashlib.sha256(b"".join(array.tobytes() for array in found)).hexdigest()


def recall(found, truth):
    return np.mean([len(set(a) & set(b)) / len(b) for a, b in zip(found, truth, strict=True)])


def metric_of(seed, spread, n_points=3000, n_features=8):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n_points, n_features)) * np.exp(rng.normal(size=n_features))
    if spread is None:
        return DiagonalMetric(points, rng.exponential(size=n_features)), rng.normal(size=(200, n_features))
    weights = np.exp(rng.normal(size=(2, n_features)) * spread)[rng.integers(0, 2, n_points)]
    return DiagonalMetric(points, weights), points[:200] + 0.1 * rng.normal(size=(200, n_features))


@pytest.mark.parametrize("spread", [None, 0.0, 0.3])
@pytest.mark.parametrize("k", [1, 5, 50])
def test_nearly_all_neighbors_are_found(spread, k):
    metric, queries = metric_of(0, spread)
    indices, distances = GraphSearch(metric).query(queries, k)
    truth, _ = ExactSearch(metric).query(queries, k)
    assert recall(indices, truth) >= 0.95
    np.testing.assert_array_equal(distances, metric.distances(queries, indices))
    assert np.all(np.diff(distances, axis=1) >= 0)


def test_a_point_can_be_left_out():
    metric, _ = metric_of(1, None)
    own = np.arange(100)
    indices, _ = GraphSearch(metric).query(metric.points[:100], 10, exclude=own)
    assert not np.any(indices == own[:, None])
    assert recall(indices, ExactSearch(metric).query(metric.points[:100], 10, exclude=own)[0]) >= 0.95


def test_the_same_bits_in_every_build_thread_and_process(in_new_process):
    points = np.random.default_rng(0).normal(size=(2000, 6))
    first, second = (GraphSearch(DiagonalMetric(points, np.ones(6))) for _ in range(2))
    expected = digest(first.query(points[:300], 10, n_jobs=1))
    assert digest(second.query(points[:300], 10, n_jobs=2)) == expected
    assert {in_new_process(PROGRAM.format(n_jobs=n)) for n in (1, 2)} == {expected}


def test_no_queries():
    metric, queries = metric_of(2, None, n_points=50)
    indices, distances = GraphSearch(metric).query(queries[:0], 3)
    assert indices.shape == distances.shape == (0, 3)


def test_all_points_as_neighbors():
    metric, queries = metric_of(3, None, n_points=40)
    indices, _ = GraphSearch(metric).query(queries[:10], 40)
    np.testing.assert_array_equal(np.sort(indices, axis=1), np.tile(np.arange(40), (10, 1)))


@pytest.mark.parametrize("n_distinct", [1, 10, 100])
def test_duplicates_do_not_use_up_the_neighbors(n_distinct):
    rng = np.random.default_rng(4)
    points = np.repeat(rng.normal(size=(n_distinct, 4)), 2000 // n_distinct, axis=0)
    metric = DiagonalMetric(points, np.ones(4))
    queries = points[::40]
    indices, distances = GraphSearch(metric).query(queries, 10)
    assert indices.min() >= 0
    assert all(len(set(row)) == 10 for row in indices)
    assert np.mean(distances == 0) >= 0.95


@pytest.mark.parametrize("scale", [1e-25, 1e-8, 1e8, 1e25])
def test_any_scale(scale):
    metric, queries = metric_of(5, None, n_points=1000)
    scaled = DiagonalMetric(metric.points * scale, metric.weights)
    indices, _ = GraphSearch(scaled).query(queries * scale, 10)
    assert indices.min() >= 0
    assert recall(indices, ExactSearch(scaled).query(queries * scale, 10)[0]) >= 0.95


def test_far_from_the_origin():
    metric, queries = metric_of(6, None, n_points=1000)
    moved = DiagonalMetric(metric.points + 1e6, metric.weights)
    indices, _ = GraphSearch(moved).query(queries + 1e6, 10)
    assert recall(indices, ExactSearch(moved).query(queries + 1e6, 10)[0]) >= 0.95


def test_the_graph_of_the_same_points_in_other_units_is_kept():
    metric, queries = metric_of(4, 0.3)
    search = GraphSearch(metric)
    moved = DiagonalMetric(4.0 * metric.points + 8.0, metric.weights / 2.0)
    kept = search.with_metric(moved)
    assert kept is not None
    assert kept._index is search._index
    assert search.metric is metric
    queries = 4.0 * queries + 8.0
    for found, expected in zip(kept.query(queries, 7), GraphSearch(moved).query(queries, 7), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("change", ["a point", "a weight", "a copy", "fewer points"])
def test_no_graph_is_kept_if_its_nodes_differ(change):
    metric, _ = metric_of(5, None)
    points, weights = metric.points.copy(), metric.weights.copy()
    if change == "a point":
        points[3, 0] += 1e-3
    elif change == "a weight":
        weights[0] *= 1.01
    elif change == "a copy":
        points[3] = points[4]
    else:
        points = points[:-1]
    assert GraphSearch(metric).with_metric(DiagonalMetric(points, weights)) is None
