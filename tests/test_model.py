import pickle
import threading

import numpy as np
import pytest

from lann.metrics import Levels
from lann.model import LocalModel


@pytest.fixture
def levels(blobs):
    rng = np.random.default_rng(1)
    plain = Levels.plain(*blobs, 3)
    return plain.replace(
        class_log_weights=0.3 * rng.normal(size=(3, 4)), point_log_weights=0.3 * rng.normal(size=(90, 4))
    )


def model_of(levels, **changes):
    options = {"n_candidates": None, "weights": "distance", "n_neighbors": 5, "power": 1.0} | changes
    return LocalModel(levels, **options)


def test_nearest_are_those_of_the_local_metrics(reference, levels):
    model = model_of(levels)
    queries = levels.X[:10] + 0.1
    indices, distances = model.nearest(model.place(queries), 6)
    expected = reference.nearest(reference.distances(queries, levels.X, levels.weights), 6)
    np.testing.assert_array_equal(indices, expected[0])
    np.testing.assert_allclose(distances, expected[1], rtol=1e-12)


@pytest.mark.parametrize("n_candidates", [8, 20])
def test_a_shortlist_is_taken_under_the_class_weights(reference, levels, n_candidates):
    model = model_of(levels, n_candidates=n_candidates)
    queries = levels.X[:10] + 0.1
    indices, _ = model.nearest(queries, 5)
    coarse = reference.distances(queries, levels.X, np.exp(levels.class_log_weights)[levels.labels])
    own = reference.distances(queries, levels.X, levels.weights)
    np.testing.assert_array_equal(indices, reference.shortlisted(coarse, own, n_candidates, 5)[0])


def test_votes_are_shares_of_the_support(levels):
    model = model_of(levels, power=2.0)
    indices, distances = model.nearest(levels.X[:10] + 0.1, 5)
    shares = model.shares(indices, distances)
    support = (distances + model.epsilon) ** -2.0
    np.testing.assert_allclose(shares, support / support.sum(axis=1, keepdims=True), rtol=1e-12)
    votes = model.votes(shares, indices)
    assert votes.shape == (10, 3)
    np.testing.assert_allclose(votes.sum(axis=1), 1)


def test_classes_with_more_votes(levels):
    plain, weighted = model_of(levels), model_of(levels, class_votes=np.array([1.0, 4.0, 1.0]))
    indices, distances = plain.nearest(levels.X[:10] + 0.1, 5)
    support = plain.shares(indices, distances) * np.array([1.0, 4.0, 1.0])[levels.labels[indices]]
    expected = support / support.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(weighted.shares(indices, distances), expected, rtol=1e-12)


def test_auto_chooses_one_of_what_is_offered(levels):
    model = model_of(levels, n_neighbors="auto")
    assert model.n_neighbors in (5, 10, 20)
    assert model.power == 1.0


def test_auto_asks_the_kind_of_vote_that_is_used():
    """Five sites of nine pairs around four points of another class.

    Nearest to a point of a pair is its twin, then come the four, then the other pairs. By 1/d the twin
    decides, whatever k is; by uniform votes five neighbors are wrong and ten or twenty right.
    """
    rng = np.random.default_rng(0)
    pairs = np.repeat(np.eye(9), 2, axis=0)
    site = np.concatenate([pairs, np.zeros((4, 9))])
    X = np.concatenate([site + 100.0 * place for place in range(5)])
    X += 1e-3 * rng.normal(size=X.shape)
    levels = Levels.plain(X, np.tile([0] * 18 + [1] * 4, 5), 2)
    assert model_of(levels, n_neighbors="auto", weights="distance").n_neighbors == 5
    assert model_of(levels, n_neighbors="auto", weights="uniform").n_neighbors > 5


def test_there_are_at_most_as_many_voters_as_points(blobs):
    X, y = blobs
    assert model_of(Levels.plain(X[:3], y[:3], 3)).n_voters == 3
    assert model_of(Levels.plain(X[:1], y[:1], 3)).n_voters == 1


def test_relevances_without_curves_are_the_weights(levels):
    np.testing.assert_array_equal(model_of(levels).relevances(), levels.weights)


def test_the_search_is_not_saved_and_comes_back(levels):
    model = model_of(levels, n_candidates=20)
    queries = levels.X[:10] + 0.1
    expected = model.nearest(queries, 5)
    assert not any("search" in name for name in model.__getstate__())
    again = pickle.loads(pickle.dumps(model))
    for one, other in zip(again.nearest(queries, 5), expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_several_threads_may_ask_an_unpickled_model_first(levels):
    model = model_of(levels, n_candidates=20)
    queries = levels.X + 0.1
    expected = model.nearest(queries, 5)
    again = pickle.loads(pickle.dumps(model))
    start, results = threading.Barrier(4, timeout=60), []

    def ask():
        start.wait()
        results.append(again.nearest(queries, 5))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(results) == 4
    for indices, distances in results:
        np.testing.assert_array_equal(indices, expected[0])
        np.testing.assert_array_equal(distances, expected[1])
