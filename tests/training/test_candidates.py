import numpy as np
import pytest

from lann.metrics import Levels
from lann.search import CellSearch, _cell_search
from lann.training._candidates import find_candidates, same_class_candidates, typical_distances


@pytest.fixture
def levels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    plain = Levels.plain(X, rng.integers(0, 3, 60), 3)
    return plain.replace(
        class_log_weights=rng.normal(size=(3, 3)), point_log_weights=rng.normal(size=X.shape)
    )


def test_candidates_are_the_nearest_other_points(reference, levels):
    rows, metric = np.array([3, 59, 10]), levels.class_metric()
    candidates, distances = find_candidates(metric, rows, 7)
    truth = reference.distances(metric.points[rows], metric.points, metric.weights_of(slice(None)))
    expected, expected_distances = reference.nearest(truth, 7, exclude=rows)
    np.testing.assert_array_equal(candidates, expected)
    np.testing.assert_allclose(distances, expected_distances)


def test_candidates_are_among_the_reference_points(reference, levels):
    rows, among = np.array([3, 59, 10, 4]), np.arange(0, 60, 2)  # rows 10 and 4 are among them
    metric = levels.class_metric()
    candidates, _ = find_candidates(metric, rows, 7, reference=among)
    truth = reference.distances(metric.points[rows], metric.points, metric.weights_of(slice(None)))
    truth[:, 1::2] = np.inf
    expected, _ = reference.nearest(truth, 7, exclude=rows)
    np.testing.assert_array_equal(candidates, expected)


def test_fewer_points_than_candidates(levels):
    candidates, _ = find_candidates(levels.class_metric(), np.arange(60), 100)
    assert candidates.shape == (60, 59)
    assert not np.any(candidates == np.arange(60)[:, None])


def test_many_points_are_searched_by_cells(monkeypatch, levels):
    metric = levels.replace(class_log_weights=0.2 * levels.class_log_weights).class_metric()
    expected, _ = find_candidates(metric, np.arange(60), 10)
    monkeypatch.setattr(_cell_search, "FEWEST_POINTS", 50)
    monkeypatch.setattr(_cell_search, "FEWEST_QUERIES", 50)
    built = []
    build = CellSearch.__init__
    monkeypatch.setattr(
        CellSearch, "__init__", lambda self, m, index: built.append(m) or build(self, m, index)
    )
    found, _ = find_candidates(metric, np.arange(60), 10)
    assert len(built) == 1
    assert np.mean([len(set(a) & set(b)) / 10 for a, b in zip(found, expected, strict=True)]) > 0.95


def test_same_class_candidates_are_the_nearest_with_the_same_label():
    labels = np.array([0, 1, 0, 0, 1, 0, 0, 0, 0])
    candidates = np.array([[1, 2, 3, 4, 5, 6, 7, 8], [4, 0, 2, 3, -1, -1, -1, -1]])
    found = same_class_candidates(labels, np.array([0, 1]), candidates, 5)
    np.testing.assert_array_equal(found, [[2, 3, 5, 6, 7], [4, -1, -1, -1, -1]])


def test_a_missing_candidate_is_no_same_class_candidate():
    # The last point has the label of the row; -1 must not be read as its index.
    found = same_class_candidates(np.array([0, 1, 0]), np.array([0]), np.array([[-1, 1]]), 5)
    np.testing.assert_array_equal(found, [[-1] * 5])


def test_typical_distances_are_those_to_the_nearest_others(reference, levels):
    metric = levels.class_metric()
    truth = reference.distances(metric.points, metric.points, metric.weights_of(slice(None)))
    _, expected = reference.nearest(truth, 5, exclude=np.arange(60))
    np.testing.assert_allclose(typical_distances(levels), expected)
