import numpy as np
import pytest

from lann.metrics import Levels
from lann.search import shortlist as shortlist_module
from lann.training.candidates import candidates_among, find_candidates


@pytest.fixture
def levels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    plain = Levels.plain(X, rng.integers(0, 3, 60), 3)
    return plain.replace(
        class_log_weights=rng.normal(size=(3, 3)), point_log_weights=rng.normal(size=X.shape)
    )


def test_candidates_are_the_nearest_others_by_class_weights(reference, levels):
    rows = np.array([3, 59, 10])
    candidates, distances = find_candidates(levels, rows, 7)
    metric = levels.class_metric()
    truth = reference.distances(metric.points[rows], metric.points, metric.weights)
    expected, expected_distances = reference.nearest(truth, 7, exclude=rows)
    np.testing.assert_array_equal(candidates, expected)
    np.testing.assert_allclose(distances, expected_distances)


def test_candidates_come_from_the_reference_points(reference, levels):
    rows, among = np.array([3, 59, 10, 4]), np.arange(0, 60, 2)  # rows 10 and 4 are among them
    candidates, _ = candidates_among(levels.class_metric(), rows, 7, reference=among)
    metric = levels.class_metric()
    truth = reference.distances(metric.points[rows], metric.points, metric.weights)
    truth[:, 1::2] = np.inf
    expected, _ = reference.nearest(truth, 7, exclude=rows)
    np.testing.assert_array_equal(candidates, expected)


def test_there_may_be_fewer_points_than_candidates(levels):
    candidates, _ = find_candidates(levels, np.arange(60), 100)
    assert candidates.shape == (60, 59)
    assert not np.any(candidates == np.arange(60)[:, None])


def test_many_points_are_searched_by_a_graph(monkeypatch, levels):
    levels = levels.replace(class_log_weights=0.2 * levels.class_log_weights)
    expected, _ = find_candidates(levels, np.arange(60), 10)
    monkeypatch.setattr(shortlist_module, "GRAPH_FROM", 50)
    found, _ = find_candidates(levels, np.arange(60), 10)
    assert np.mean([len(set(a) & set(b)) / 10 for a, b in zip(found, expected, strict=True)]) > 0.95
