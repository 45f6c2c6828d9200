import numpy as np
import pytest

from lann.metrics import DiagonalMetric
from lann.search import ExactSearch, GraphSearch, GrownGraph


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(0).normal(size=(3000, 6))


@pytest.fixture(scope="module")
def graph(points):
    return GraphSearch(DiagonalMetric(points[:2500], np.ones(6)))


def changed(points, graph, gone, n_new):
    """Return a search after points of the graph are gone and others are new, and the exact one."""
    position = np.full(2500, -1)
    remaining = np.setdiff1d(np.arange(2500), gone)
    position[remaining] = np.arange(len(remaining))
    now = np.concatenate([points[remaining], points[2500 : 2500 + n_new]])
    metric = DiagonalMetric(now, np.ones(6))
    return GrownGraph(graph, position, metric), ExactSearch(metric)


@pytest.mark.parametrize("n_new", [0, 1, 300])
@pytest.mark.parametrize("gone", [0, 1, 400])
@pytest.mark.parametrize("k", [1, 50])
def test_nearly_all_neighbors_are_found(points, graph, n_new, gone, k):
    lost = np.random.default_rng(1).permutation(2500)[:gone]
    grown, exact = changed(points, graph, lost, n_new)
    queries = points[::20] + 0.01
    found, distances = grown.query(queries, k)
    expected, _ = exact.query(queries, k)
    assert (found >= 0).all()
    assert np.mean([len(set(a) & set(b)) / k for a, b in zip(found, expected, strict=True)]) > 0.995
    np.testing.assert_array_equal(distances, exact.metric.distances(queries, found))
    for n_jobs in (1, 2):
        np.testing.assert_array_equal(grown.query(queries, k, n_jobs=n_jobs)[0], found)


def test_a_point_is_not_its_own_neighbor(points, graph):
    grown, exact = changed(points, graph, np.arange(100), 200)
    own = np.arange(0, 2600, 13)
    queries = exact.metric.points[own]
    assert (grown.query(queries, 5)[0][:, 0] == own).all()
    found, _ = grown.query(queries, 5, exclude=own)
    assert not (found == own[:, None]).any()
    assert (found == exact.query(queries, 5, exclude=own)[0]).mean() > 0.99


def test_where_all_near_points_are_gone_the_search_is_exact(points, graph):
    query = points[:1]
    near, _ = graph.query(query, 300)
    grown, exact = changed(points, graph, near[0], 0)
    np.testing.assert_array_equal(grown.query(query, 20)[0], exact.query(query, 20)[0])


def test_a_graph_is_used_until_a_quarter_has_changed():
    assert GrownGraph.pays(1000, 1000, 1250)
    assert not GrownGraph.pays(1000, 1000, 1251)
    assert GrownGraph.pays(1000, 900, 1050)
    assert not GrownGraph.pays(1000, 749, 749)
